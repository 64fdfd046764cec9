"""Secrets never survive: the second net by itself, and each probe's own cleaning."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile_texts import HALF_SECRETS
from tools.evidence import AnyProbe, learn
from tools.host import Output
from tools.probes.environment import ReadEnvironment
from tools.probes.launch import ReadLaunch
from tools.probes.metrics import ReadMetrics
from tools.probes.model_config import ReadModelConfig
from tools.probes.server_info import ReadServerInfo
from tools.probes.server_log import ReadServerLog
from tools.probes.source_lines import ReadSourceLines
from tools.secrets import _NETS, DROPPED, _lowered, _words, scrub
from tools.sglang.args import clean_dumps, read_dump

SECRETS = st.text(
    "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+/=", min_size=12, max_size=60
).filter(
    lambda s: s[0].isalnum() and s[-1].isalnum() and "<" not in s and any(c.isdigit() for c in s)
)
FORMS = (
    "--api-key {}",
    "--api-key={} --tp 2",
    "'--admin-api-key', '{}', '--tp'",
    '"Args": ["--api-key", "{}"]',
    "  - --api-key\n  - {}\n",
    "--api-key\0{}\0--tp\0",
    "api_key='{}', admin_api_key=None",
    '{{"api_key": "{}", "tp_size": 2}}',
    '{{\\"ssl_keyfile_password\\": \\"{}\\"}}',
    "HF_TOKEN={}",
    "export OPENAI_API_KEY={}",
    "AWS_SECRET_ACCESS_KEY={}",
    "-e HUGGING_FACE_HUB_TOKEN={} image",
    "  - name: HF_TOKEN\n    value: {}\n",
    '{{"name": "HF_TOKEN", "value": "{}"}}',
    "Authorization: Bearer {}",
    "-H 'authorization: Basic {}'",
    "x-api-key: {}",
    "password: {}",
    "--hf-token {}",
    "--api-k {} --port 1",
    "--api={} --port 1",
    "--adm {} --port 1",
    '"--ssl-keyfile-p", "{}", "--port"',
    "'api_key': ['{}'], 'port': 1",
    '{{"auth": "{}"}}',
    "MYSQL_PWD={}",
    "db_pass: {}",
    "NCCL INFO http x token={}",
    "mysql -uroot -p{} db",
    "sshpass -p {} ssh h",
    "redis-cli -h x -a {}",
    "curl -s -u me:{} http://h/",
    "docker login -u me -p {} registry",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
)
# Programs are called by small letters, and a key begins with its large ones.
CASED = ("mysql", "sshpass", "redis", "curl", "docker", "-----BEGIN")
SAME = str.maketrans("iks", "\u0131\u212a\u017f")  # to who reads without case
PIECES = st.sampled_from((
    "api", "key", "_key", "apikey", "access", "secret", "passwd", "passphrase", "credential", "webhook", "private",
    "watermark_key", "auth", "encryption", "_token", "-token", "hf_token", "eos_token", "pass", "_pass", "pwd",
    "MYSQL_PWD", "header", "--header", "none", "true", "<dropped>", "name", "value", "bearer", "basic",
    "authorization", "cookie", "x-api-key", "mysql", "sshpass", "redis-cli", "curl", "docker", "login", "-p", "-a",
    "-u", "--user", "hooks.slack.com/services/", "sig=", "code=", "hf_", "npm_", "glpat-", "nvapi-", "sk-", "sk_",
    "xoxb-", "xapp-", "ghp_", "AKIA", "AIza", "ya29.", "eyJ", "-----BEGIN", "RSA", "PRIVATE", "KEY-----", "--api",
    "--ap", "--adm", "--ssl-keyfile-p", "://", "@", "?", "&", "?token=", "[0;32m", "{", "}", "[", "]", "-", "--",
    "=", ":", ",", "'", "\"", "\\\"", "\\", "_", ".", "/", "|", "%20", ";", "a7b8c9d0e1f2", "A7B8C9D0E1F2G3H4I5",
    "\u0130", "\u0131", "\u017f", "\u212a",
))  # fmt: skip
BETWEEN = st.sampled_from(("", "", "", " ", "\n", "\t", "\0", "=", ": "))
PROBES = (
    ReadLaunch,
    ReadServerInfo,
    ReadMetrics,
    ReadModelConfig,
    ReadSourceLines,
    ReadEnvironment,
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40, deadline=None)
@given(secret=SECRETS)
def test_a_secret_does_not_survive_where_such_things_stand(form: str, secret: str) -> None:
    text = form.format(secret)
    assert secret not in scrub(text)
    for probe in PROBES:
        assert secret not in probe().clean(text)


@pytest.mark.parametrize("form", [one for one in FORMS if not one.startswith(CASED)])
@pytest.mark.parametrize("odd", [str.upper, str.title, lambda form: form.translate(SAME)])
def test_the_case_of_its_name_hides_no_secret(form: str, odd: Callable[[str], str]) -> None:
    assert "S3cr3tValue-9x8abc" not in scrub(odd(form).format("S3cr3tValue-9x8abc"))


@settings(max_examples=400, deadline=None)
@given(parts=st.lists(st.tuples(PIECES, st.booleans(), BETWEEN), max_size=12))
def test_looking_where_its_words_stand_finds_what_looking_everywhere_finds(
    parts: list[tuple[str, bool, str]],
) -> None:
    text = "".join((piece.upper() if loud else piece) + after for piece, loud, after in parts)
    low = _lowered(text)
    for net in _NETS:
        said = text if net.cased else low
        everywhere = [found.span() for found in net.pattern.finditer(said)]
        assert [found.span() for found in net.finds(said, _words(text, low))] == everywhere


@settings(max_examples=60, deadline=None)
@given(
    secret=SECRETS,
    name=st.sampled_from(
        ["api_key", "a_field_of_tomorrow", "model_loader_extra_config", "watermark_key"]
    ),
    form=st.sampled_from(
        ["ServerArgs(tp_size=2, {}='{}', port=1)", "{{'tp_size': 2, '{}': '{}', 'port': 1}}"]
    ),
)
def test_a_field_off_the_list_loses_its_value_in_a_dump(secret: str, name: str, form: str) -> None:
    text = "[2026-01-01 00:00:00] server_args=" + form.format(name, secret) + "\n"
    assert secret not in clean_dumps(text)
    read = read_dump(text)
    assert read == {"tp_size": 2, name: DROPPED, "port": 1}


@pytest.mark.parametrize("probe", [ReadServerLog(), ReadMetrics()])
def test_a_look_holds_no_field_off_the_list_whoever_reads_it(probe: AnyProbe) -> None:
    text = (
        "[2026-01-01 00:00:00] server_args=ServerArgs(tp_size=2, a_field_of_tomorrow='Zq7XkP2m')\n"
    )
    kept = learn(1, probe, "h", Output(stdout=text)).output
    assert kept is not None
    assert "tp_size=2" in kept.stdout
    assert "Zq7XkP2m" not in kept.stdout


@settings(max_examples=60, deadline=None)
@given(secret=SECRETS, name=st.sampled_from(["api_key", "admin_api_key", "a_field_of_tomorrow"]))
def test_a_field_off_the_list_never_leaves_server_info(secret: str, name: str) -> None:
    inner = {"model_path": "m", "tp_size": 1, "port": 1, name: secret}
    text = json.dumps(
        inner | {"internal_states": [inner], "launch_command": f"--api-key {secret} --tp 2"}
    )
    probe = ReadServerInfo()
    assert secret not in probe.clean(text)
    facts = probe.parse(text)
    assert secret not in facts.model_dump_json()
    assert facts.launch_command == f"--api-key {DROPPED} --tp 2"


@pytest.mark.parametrize(
    "text",
    [
        "token usage: 0.5, #token: 123, gen throughput (token/s): 5.0",
        "num_tokens=5 max_total_tokens=100 tokenizer_mode='auto' speculative_token_map=None",
        "--max-total-tokens 100 --tokenizer-mode auto --speculative-token-map x --skip-tokenizer-init",
        "api_key=None, admin_api_key=None, enable_ssl_refresh=False",
        '"image_token_id": 248056, "boi_token_index": 200080',
        "secretKeyRef: {name: s, key: k}",
        "--api-server-count 4 --admission-queue 3 --ssl-keyfile /etc/k.pem",
        "two_pass=True, token=34, pwd=/root, first-pass 2",
        "ps -u root -p 123; kill -p 3; ssh -p 22 h; numastat -p 1234",
        "PWD=/root/sglang OLDPWD=/",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("form", FORMS)
def test_scrubbing_twice_changes_nothing_more(form: str) -> None:
    once = scrub(form.format("S3cr3tValue-9x8abc"))
    assert scrub(once) == once


def test_bare_tokens_are_known_by_their_beginning() -> None:
    for beginning in (
        "hf_", "api_org_", "npm_", "dckr_pat_", "github_pat_", "glpat-", "nvapi-", "pypi-", "gsk_", "lsv2_",
        "sk-", "sk_", "xoxb-", "xapp-", "ghp_", "gho_", "AKIA", "ASIA", "AIza", "ya29.", "eyJ0eXAiOiJKV1Qi.",
    ):  # fmt: skip
        token = beginning + "A1B2C3D4E5F6G7H8" * (1 if beginning in ("AKIA", "ASIA") else 3)
        assert scrub(f"x {token} y") == f"x {DROPPED} y"
        assert scrub(f"\x1b[1;32m{token}\n") == f"\x1b[1;32m{DROPPED}\n"


@pytest.mark.parametrize(
    "name",
    [
        "api_key", "apikey", "access-key", "secret", "passwd", "password", "passphrase", "credential",
        "webhook", "private_key", "watermark_key", "auth_key", "encryption-key", "my_token", "my-pwd", "my_pass",
    ],
)  # fmt: skip
def test_each_name_of_a_secret_is_known(name: str) -> None:
    for said in (name, name.upper(), f"MY_{name}"):
        assert scrub(f"a {said}: S3cr3t, b") == f"a {said}: {DROPPED}, b"
        assert scrub(f'"{said}": "S3cr3t"') == f'"{said}": "{DROPPED}"'


def test_a_password_in_an_address_is_dropped() -> None:
    assert scrub("http://me:hunter2@host:1/x") == f"http://{DROPPED}@host:1/x"
    assert scrub("https://h/x?token=abcdef&b=2") == f"https://h/x?token={DROPPED}&b=2"


@pytest.mark.parametrize("name", HALF_SECRETS)
def test_a_secret_behind_halves_of_others_is_dropped(name: str) -> None:
    scrubbed = scrub(HALF_SECRETS[name].text() + "\napi_key=sk-0123456789abcdef\n")
    assert "0123456789abcdef" not in scrubbed
