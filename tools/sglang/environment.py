"""Variables of a server's environment that bear on speed, found in what people paste.

Names are allowed by their beginning and refused again where they may hold a secret. A script of
ours applies the same two patterns on the host, before anything is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.engine import Environment
from tools.engine.manifests import containers, environment_of
from tools.errors import Unreadable
from tools.secrets import scrub
from tools.sglang.command_line import TEXT_CHARS, lines_with_servers, words

# NVIDIA, PyTorch, Triton, OpenMP and the engines document theirs under these beginnings.
NAMES = (
    r"(?:NCCL|SGLANG|SGL|CUDA|CUBLAS|CUDNN|NVIDIA|NVSHMEM|NVTE|VLLM|TORCH|TORCHINDUCTOR|PYTORCH|OMP|MKL"
    r"|KMP|GOMP|OPENBLAS|NUMEXPR|TRITON|UCX|GLOO|FI|MC|MOONCAKE|LMCACHE|RAY|DG|DEEPEP|DEEP_GEMM"
    r"|FLASHINFER|TRTLLM|HIP|ROCR|HSA|AITER|MALLOC|RDMAV|IBV|MLX5)_[A-Z0-9_]+$"
    r"|(?:HF_HUB_OFFLINE|HF_HUB_DISABLE_XET|TRANSFORMERS_OFFLINE|TOKENIZERS_PARALLELISM|LD_PRELOAD"
    r"|LD_LIBRARY_PATH|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|ENABLE_MOE_JOINT_REDUCE)$"
)
SECRET = r"(?i)KEY|TOKEN(?!S|IZER)|SECRET|PASSW|CRED|AUTH|COOKIE|HEADER"  # noqa: S105 - of names
VALUE_CHARS = 1000

_NAMES, _SECRET = re.compile(NAMES), re.compile(SECRET)
_LINE = re.compile(
    r"^\s*(?:export\s+|declare -x\s+|-\s+|-e\s+|--env[ =]|Environment=|ENV\s+)?[\"']?"
    r"([A-Za-z_][A-Za-z0-9_]{0,80})=([^\r\n]*)"
)
_OF_A_UNIT = re.compile(r"^Environment=([^\r\n]{0,32000})$", re.MULTILINE)
_GIVEN = re.compile(r"(?:^|\s)(?:-e|--env)[ =][\"']?([A-Za-z_][A-Za-z0-9_]{0,80})=")


def prelude() -> str:
    """Return Python text that gives a script on a host the same two patterns."""
    return f"ENVIRONMENT_NAMES = {NAMES!r}\nENVIRONMENT_SECRET = {SECRET!r}\n"


def allowed(name: str) -> bool:
    """Say whether a variable bears on speed and can hold no secret."""
    return bool(_NAMES.match(name)) and not _SECRET.search(name)


def kept(values: dict[str, str], dropped: int = 0) -> Environment:
    """Return the facts of a set of variables: the allowed ones, and the count of the others."""
    told = {name: scrub(value[:VALUE_CHARS]) for name, value in values.items() if allowed(name)}
    return Environment(values=told, dropped=dropped + len(values) - len(told))


def _assignments(text: str) -> tuple[dict[str, str], int]:
    """Return the variables of lines that are assignments, and how many lines are something else."""
    found: dict[str, str] = {}
    others = 0
    separated = _apart(text.replace("\0", "\n") if "\0" in text else text)
    for line in separated[:TEXT_CHARS].splitlines():
        match = _LINE.match(line[:8000])
        if match:
            found[match[1]] = match[2].strip().strip("\"'")
        elif line.strip() and not line.lstrip().startswith(("#", "$")):
            others += 1
    return found, others


def _apart(text: str) -> str:
    """Give each variable of a unit's `Environment=A=1 "B=2 3"` a line of its own."""
    return _OF_A_UNIT.sub(
        lambda line: "\n".join(f"Environment={word}" for word in words(line[1])) or line[0], text
    )


def _of_commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield what command lines set: `-e NAME=value` of docker, `NAME=value` before a program."""
    for line, _ in lines_with_servers(text):
        for at, word in enumerate(argv := words(line)):
            name, equals, value = word.removeprefix("--env=").partition("=")
            given = at and argv[at - 1] in ("-e", "--env")
            if equals and (given or word.startswith("--env=") or re.fullmatch(r"[A-Z_0-9]+", name)):
                yield name, value


def variables(text: str) -> dict[str, str]:
    """Return the variables that a pasted text gives a server; none where it gives none."""
    found, others = _assignments(text)
    if any(allowed(name) for name in found) and len(found) > others:
        return found
    for node, _ in containers(text):
        if given := environment_of(node):
            return given
    commands = dict(_of_commands(text))
    return commands if any(allowed(name) for name in commands) else {}


def read_environment(text: str) -> Environment:
    """Read any listing of variables; raise Unreadable where there is none in the text."""
    found = variables(text)
    if not found:
        raise Unreadable("no listing of environment variables")
    return kept(found)


def _closing(line: str, match: re.Match[str]) -> str:
    """Return what follows a quoted assignment, so that JSON and YAML stay whole."""
    quote = line[match.start(1) - 1 : match.start(1)]
    end = line.find(quote, match.start(2)) if quote in ('"', "'") and quote else -1
    return line[end:] if end >= 0 else ""


def clean_environment(text: str) -> str:
    """Return a pasted listing without the values of variables that are not on the allow-list."""
    lines = re.split(r"(\r?\n|\0)", _apart(text))
    for at in range(0, len(lines), 2):
        match = _LINE.match(lines[at][:8000])
        if match and match[1].isupper() and not allowed(match[1]):
            lines[at] = lines[at][: match.start(2)] + "<dropped>" + _closing(lines[at], match)
    return scrub("".join(lines))
