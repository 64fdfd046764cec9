"""[[models]] and [budget] of hosts.toml: what cannot be used is named, and a key is never repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import SettingsError, load

KEY = "sk-proj-0123456789abcdefghijklmnop"


def read(folder: Path, text: str) -> str:
    path = folder / "hosts.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as why:
        load({"PERFSLEUTH_HOSTS": str(path)})
    said = str(why.value)
    assert len(said.splitlines()) == 1
    assert "0123456789" not in said
    return said


def test_a_chain_of_models_and_a_budget_are_read(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text(
        '[[models]]\nname = "openai:qwen3"\nbase_url = "http://10.0.0.5:30000/v1"\n\n[[models]]\nname = "anthropic:claude-x"\n'
        'key = "OUR_KEY"\nusd_per_m_in = 3\nusd_per_m_out = 15\n\n[budget]\ntokens_per_day = 1000\ntool_calls = 5\n'
    )
    known = load({"PERFSLEUTH_HOSTS": str(path)})
    assert [one.name for one in known.models] == ["openai:qwen3", "anthropic:claude-x"]
    assert (
        known.models[0].timeout_s,
        known.models[0].max_output_tokens,
        known.models[0].context_tokens,
    ) == (60, 1500, 32768)
    assert known.models[1].usd(1_000_000, 100_000) == pytest.approx(4.5)
    assert (known.budget.tokens_per_day, known.budget.tool_calls, known.budget.turns) == (
        1000,
        5,
        8,
    )
    assert known.budget.tokens_per_investigation == 40_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "qwen3"', "[[models]] no. 1: name: must be provider:model"),
        ('name = "openai:"', "[[models]] no. 1: name: must be provider:model"),
        (
            f'name = "openai:x"\nkey = "{KEY}"',
            "[[models]] no. 1: key: must be the NAME of an environment variable",
        ),
        (
            'name = "openai:x"\nkey = "0123456789abcdef0123456789abcdef"',
            "must be the NAME of an environment variable",
        ),
        (
            'name = "openai:x"\nbase_url = "ct129:30000"',
            "[[models]] no. 1: base_url: must be an address as http://host:port/v1",
        ),
        ('name = "openai:x"\nbase_url = "file:///etc"', "must be an address as"),
        (
            f'name = "openai:x"\nbase_url = "http://u:{KEY}@h/v1"',
            "must hold no user, password or query",
        ),
        (
            f'name = "openai:x"\nbase_url = "http://h/v1?key={KEY}"',
            "must hold no user, password or query",
        ),
        (
            'name = "openai:x"\nbase_url = "http://h:99999/v1"',
            "[[models]] no. 1: base_url: is no address",
        ),
        ('name = "openai:x"\ntimeout_s = 0', "[[models]] no. 1: timeout_s: "),
        ('name = "openai:x"\nusd_per_m_in = -1', "[[models]] no. 1: usd_per_m_in: "),
        ('name = "openai:x"\nusd_per_m_in = nan', "[[models]] no. 1: usd_per_m_in: "),
        (f'name = "openai:x"\napi_key = "{KEY}"', "[[models]] no. 1: api_key is unknown here"),
        ('name = "anthropic:x"\nextra = {a = 1}', "extra is for an openai: model alone"),
        (
            'name = "openai:x"\n[budget]\nusd_per_day = 5',
            "so openai:x needs usd_per_m_in and usd_per_m_out",
        ),
        ('base_url = "http://h/v1"', "[[models]] no. 1: name is missing."),
        (
            'name = "openai:x"\n[[models]]\nname = "b"',
            "[[models]] no. 2: name: must be provider:model",
        ),
        ('name = "openai:x"\n[budget]\ntokens = 5', "[budget]: tokens is unknown here"),
        ('name = "openai:x"\n[[budget]]\nturns = 5', "[budget] must be a table."),
        ('name = "openai:x"\n[budget]\nturns = -1', "[budget]: turns: should be"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    assert says in read(tmp_path, f"[[models]]\n{text}\n")


def test_one_model_in_single_brackets_is_told_of_the_double_ones(tmp_path: Path) -> None:
    said = read(tmp_path, '[models]\nname = "openai:x"\n')
    assert said.endswith("each model is a table [[models]] of its own, in double brackets.")
