"""Properties of every parser: whatever becomes of an answer, it is read or refused, and never falls.

Each probe of the table is searched by itself, from its own golden answers, so a new probe is
covered with its first golden. How much memory 20 MB take is measured by `make bench`.
"""

from __future__ import annotations

import contextlib
import json
import random
import tracemalloc
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile_texts import MOST_TIMES, answers, big_line, big_lines
from tests.test_hostile import NUMBER, NUMBERS, PIECES
from tools.errors import Absent, Failed, Unreadable
from tools.host import Output
from tools.probe import Facts, Probe
from tools.probes import PROBES

MANY = 20_000  # characters; longer goldens are cut, so that a search stays short
SIZE = 1 << 19
UNICODE_DIGITS = ("٣", "௫", "५", "９", "²", "½", "一", "𝟗")

Text = st.SearchStrategy[str]
PER_PROBE = pytest.mark.parametrize("name", PROBES)
SEARCH = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,  # one search, the same everywhere; HOSTILE_S of test_hostile.py searches on
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def goldens(name: str) -> tuple[str, ...]:
    return tuple(text[:MANY] for text in answers(name))


def shuffled(text: str, seed: int) -> str:
    lines = text.splitlines(keepends=True)
    random.Random(seed).shuffle(lines)
    return "".join(lines)


def renumbered(text: str, seed: int) -> str:
    """Return it with some numbers huge, negative, none at all, or in other digits."""
    chance = random.Random(seed)
    other = (*NUMBERS, *UNICODE_DIGITS)
    share = chance.choice((0.02, 0.2, 1.0))
    return NUMBER.sub(lambda one: chance.choice(other) if chance.random() < share else one[0], text)


def torn(text: str, seed: int) -> str:
    chance = random.Random(seed)
    first, last = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
    return chance.choice((text[:first], text[last:], text[first:last], text[:first] + text[last:]))


def repeated(text: str, seed: int) -> str:
    chance = random.Random(seed)
    lines = text.splitlines(keepends=True) or [""]
    at = chance.randrange(len(lines))
    twice = lines[: at + 1] + [lines[at]] * chance.choice((1, 3, 40)) + lines[at + 1 :]
    return chance.choice((text * 2, text + "\n" + text, "".join(twice)))


def nested(text: str, seed: int) -> str:
    """Return it inside, before or after JSON, XML and YAML, closed or not."""
    depth = random.Random(seed).choice((1, 5, 60))
    told = json.dumps(text)
    return random.Random(seed + 1).choice(
        (
            '{"a": ' * depth + told + "}" * depth,
            "[" * depth + told + "]" * depth,
            '{"log": ' + told + ', "stream": "stderr"}',
            "<gpu>" * depth + text + "</gpu>" * depth,
            f"<nvidia_smi_log>{text}",
            "a: &a\n" + "".join(f"{' ' * level}- *a\n" for level in range(depth)) + text,
            "".join(f"{'  ' * level}k{level}:\n" for level in range(depth)) + text,
            text + '{"a": [' * depth,
        )
    )


def pierced(text: str, seed: int) -> str:
    chance = random.Random(seed)
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(PIECES) + text[at:]


def miscoded(text: str, seed: int) -> str:
    """Return what is left of it when one program wrote and another read the bytes."""
    data = text.encode("utf-8", "replace")
    half = len(data) // 2
    mixed = (
        data + text.encode("utf-16", "replace"),
        text.encode("utf-16", "replace"),
        data[:half] + b"\xff\xfe\x80" + data[half:],
        b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        text.encode("latin-1", "replace") + b"\xe9\n" + data,
    )
    return random.Random(seed).choice(mixed).decode("utf-8", "replace")


CHANGES = (shuffled, renumbered, torn, repeated, nested, pierced, miscoded)


@st.composite
def spoiled(draw: st.DrawFn, name: str) -> str:
    """A golden answer after one to three accidents."""
    text = draw(st.sampled_from(goldens(name)))
    for change in draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3)):
        text = change(text, draw(st.integers(0, 1 << 16)))[: 3 * MANY]
    return text


def anything(name: str) -> Text:
    bytes_of_any = st.binary(max_size=2000).map(lambda data: data.decode("utf-8", "replace"))
    return st.one_of(spoiled(name), spoiled(name), st.text(max_size=2000), bytes_of_any)


def read(probe: Probe[Any], text: str) -> Facts | None:
    """Read a text as it comes from a host; None where it is refused in one of the three ways."""
    try:
        facts = probe.read(Output(stdout=probe.clean(text)))
    except (Absent, Failed, Unreadable):
        return None
    assert isinstance(facts, Facts)
    return facts


def kept(facts: Facts) -> str:
    """Return them as JSON, which knows no NaN and no Infinity."""
    return json.dumps(facts.model_dump(mode="json"), allow_nan=False, sort_keys=True)


@cache
def read_first(name: str) -> Facts:
    """Return the facts of the first golden answer that holds some."""
    every = (read(PROBES[name](), text) for text in goldens(name))
    return next(facts for facts in every if facts is not None)


@PER_PROBE
def test_every_probe_has_answers_to_start_from(name: str) -> None:
    assert goldens(name), "a probe needs golden answers"
    assert read_first(name)


@PER_PROBE
@SEARCH
@given(data=st.data())
def test_it_is_read_or_refused_and_the_facts_are_finite_json(
    name: str, data: st.DataObject
) -> None:
    text = data.draw(anything(name))
    for kind in PROBES.values():  # a pasted text is shown to all of them
        assert isinstance(kind().recognises(text), bool)
    facts = read(PROBES[name](), text)
    if facts is not None:
        told = kept(facts)
        again = read(PROBES[name](), text)
        assert again is not None
        assert kept(again) == told


@PER_PROBE
@SEARCH
@given(data=st.data())
def test_facts_of_two_answers_merge_the_same_each_time_and_stay_as_they_are(
    name: str, data: st.DataObject
) -> None:
    one, other = (
        read(PROBES[name](), data.draw(anything(name))) or read_first(name) for _ in range(2)
    )
    before = kept(one), kept(other)
    both = one.merged(other)
    assert type(both) is type(one)
    assert kept(both) == kept(one.merged(other))
    assert (kept(one), kept(other)) == before
    kept(other.merged(one).merged(both))


@PER_PROBE
@pytest.mark.parametrize("made", [big_line, big_lines])
def test_memory_stays_within_a_few_times_the_text(name: str, made: Any) -> None:
    text = made(name, SIZE)
    probe = PROBES[name]()
    tracemalloc.start()
    try:
        with contextlib.suppress(Absent, Failed, Unreadable):
            probe.read(Output(stdout=probe.clean(text)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= MOST_TIMES * len(text)
