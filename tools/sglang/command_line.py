"""A server's command line, found in what people paste: a shell line, `ps`, `docker run`, a unit.

Forms in YAML and JSON (compose, Kubernetes, `docker inspect`) are in manifests.py.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tools.engine import EngineName, Launch
from tools.secrets import scrub
from tools.sglang.flags import read_flags

TEXT_CHARS = 1 << 19  # of one paste; a listing of 4,000 processes
_SIGN = re.compile(
    r"sglang\.launch_server|sglang\.srt\.|sglang[/ ]serve\b|sglang/launch_server\.py|vllm[/ ]serve\b"
    r"|vllm\.entrypoints|vllm/entrypoints|vllm/vllm-openai|sglang[^\n]{0,9}\bserve\b"
)
_MODULES: tuple[tuple[str, EngineName], ...] = (
    ("sglang.launch_server", "sglang"),
    ("sglang.srt.", "sglang"),
    ("vllm.entrypoints", "vllm"),
)
_SCRIPTS: tuple[tuple[str, EngineName], ...] = (
    ("sglang/launch_server.py", "sglang"),
    ("vllm/entrypoints/openai/api_server.py", "vllm"),
)
_IMAGE = re.compile(
    r"(?:[\w.-]+(?::\d+)?/)*+[\w.-]*(?:sglang|vllm)[\w.-]*(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?"
)
_PROSE = re.compile(r"[`'\"]|.*(?<![|\d]):$")  # "Example: sglang serve", "`python -m ...`"
_STOP = re.compile(r"\d?(?!<dropped>)[<>].*|&>?.*|\|.*|;|\(|\)|#.*")
_STAMPED = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]\n]{0,40}\] ", re.MULTILINE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_SHELLS = {"sh", "bash", "zsh", "dash", "ash"}
_PREFIX = re.compile(
    r"^\s*(?:[\w./~@-]{0,60}[$#>]\s+|\+{1,3}\s|ExecStart=(?:\{ path=\S{1,400} ; argv\[\]=)?[-@:+!]*"
    r"|Process:\s\d+\sExecStart=|[├└─│ ]{2,40}\d+\s|CMD\s|ENTRYPOINT\s|RUN\s)"
)


@dataclass(frozen=True)
class Started:
    """A command line in which a server was found; `argv` is what follows the program."""

    engine: EngineName
    program: str
    argv: tuple[str, ...]
    image: str | None = None
    log_path: str | None = None


def words(line: str) -> list[str]:
    """Split a line as a shell does; where quotes do not close, at white space."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def started(argv: Sequence[str]) -> Started | None:
    """Find the server in the words of a command line; None if they start none."""
    for at in range(min(len(argv), 400)):
        word, following = argv[at], argv[at + 1] if at + 1 < len(argv) else ""
        if PurePosixPath(word).name in _SHELLS and "-c" in argv[at + 1 : at + 4]:
            inner = argv[argv.index("-c", at + 1) + 1 :]
            found = started(words(inner[0])) if inner else None
            return _with_image(found, argv[:at]) if found else None
        engine, used = _engine_at(word, following)
        if engine:
            if any(_PROSE.match(said) for said in argv[max(at - 2, 0) : at]):
                return None
            before = argv[max(at - 1, 0) : at]
            python = [w for w in before if PurePosixPath(w).name.startswith("python")]
            program = " ".join([*python, *argv[at : at + used]])
            return _with_image(_cut(engine, program, argv[at + used :]), argv[:at])
    return _by_image(argv)


def _engine_at(word: str, following: str) -> tuple[EngineName | None, int]:
    if word == "-m":
        return next(
            (engine for module, engine in _MODULES if following.startswith(module)), None
        ), 2
    name = PurePosixPath(word).name
    if following == "serve" and name in ("sglang", "vllm"):
        return ("vllm" if name == "vllm" else "sglang"), 2
    return next((engine for tail, engine in _SCRIPTS if word.endswith(tail)), None), 1


def _by_image(argv: Sequence[str]) -> Started | None:
    """The image of vLLM has the server as its entry point: what follows are its flags."""
    for at, word in enumerate(argv[:400]):
        if at and "vllm-openai" in word and _IMAGE.fullmatch(word):
            return _with_image(_cut("vllm", "vllm serve", argv[at + 1 :]), argv[: at + 1])
    return None


def _cut(engine: EngineName, program: str, rest: Sequence[str]) -> Started:
    for at, word in enumerate(rest):
        if _STOP.fullmatch(word):
            return Started(engine, program, tuple(rest[:at]), log_path=_log(rest[at:]))
    return Started(engine, program, tuple(rest))


def _log(rest: Sequence[str]) -> str | None:
    """Return the file into which the output goes: `> FILE`, `>>FILE`, `| tee -a FILE`."""
    for at, word in enumerate(rest[:12]):
        into = re.fullmatch(r"(?:1|&)?>{1,2}&?(.*)", word)
        if into and into[1] != "1":
            return into[1] or (rest[at + 1] if at + 1 < len(rest) else None)
        if word == "tee":
            return next((name for name in rest[at + 1 :] if not name.startswith("-")), None)
    return None


def _with_image(found: Started, before: Sequence[str]) -> Started:
    named = (w for w in reversed(before) if len(w) < 300 and _IMAGE.fullmatch(w))
    image = next((w for w in named if ":" in w or w.startswith(("lmsysorg/", "vllm/vllm"))), None)
    return Started(found.engine, found.program, found.argv, image or found.image, found.log_path)


def version_of_image(image: str | None) -> str | None:
    """Return the engine's version from an image's tag: lmsysorg/sglang:v0.5.11-cu129."""
    tag = re.search(r":v?(\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)", image or "")
    return tag[1] if tag else None


def launch(found: Started) -> Launch:
    """Return what a command line tells of a launch."""
    version = version_of_image(found.image)
    flags = read_flags(found.argv, found.engine, version)
    port, config = flags.get("port"), flags.get("config")
    if config is not None:
        config = next((w for w in _after(found.argv, "--config")), None)
        flags.pop("config")
    return Launch(
        engine=found.engine,
        program=scrub(found.program)[:200],
        flags=flags,
        port=port if isinstance(port, int) else None,
        image=found.image,
        version=version,
        container="docker" if found.image else None,
        log_path=found.log_path,
        config_file=config if isinstance(config, str) else None,
    )


def _after(argv: Sequence[str], flag: str) -> Iterator[str]:
    for at, word in enumerate(argv):
        if word == flag and at + 1 < len(argv):
            yield argv[at + 1]
        elif word.startswith(flag + "="):
            yield word.partition("=")[2]


def lines_with_servers(text: str) -> Iterator[tuple[str, str]]:
    """Yield (line, nearest header of a `ps` table) for the logical lines that may start a server."""
    header = ""
    for line in re.sub(r"\\\r?\n", " ", text[:TEXT_CHARS]).splitlines():
        if re.match(r"\s*(?:USER|UID|PID|PPID|F\s+S)\s", line):
            header = line
        if _SIGN.search(line):
            yield line[:32_000], header


def read_lines(text: str) -> Launch | None:
    """Return the first server that a text of lines starts; None if there is none."""
    if "\0" in text:
        found = started(text.strip("\0\n").split("\0"))
        return launch(found) if found else None
    lengths = Counter(len(line) for line in text[:TEXT_CHARS].splitlines())
    for line, header in lines_with_servers(text):
        bare = _PREFIX.sub("", line)
        quoted = bare.lstrip().startswith('["')  # the exec form of a Dockerfile
        argv = _QUOTED.findall(bare) if quoted else words(bare)
        found = started(_whole(argv) if wide(line, lengths) else argv)
        if found and (found.argv or found.image):
            return _placed(launch(found), line, header, text)
    return None


def wide(line: str, lengths: Mapping[int, int]) -> bool:
    """Say whether `ps` cut a line at the width of its terminal: several lines end right there."""
    return len(line) >= 80 and len(line) == max(lengths) and lengths[len(line)] > 1


def _whole(argv: Sequence[str]) -> Sequence[str]:
    """Leave out the word that was cut, and the flag whose value it was."""
    flag = len(argv) > 1 and not argv[-1].startswith("-") and argv[-2].startswith("--")
    return argv[: -2 if flag and "=" not in argv[-2] else -1]


def _placed(seen: Launch, line: str, header: str, text: str) -> Launch:
    """Add what the surroundings tell: columns of `ps`, the name of a systemd unit."""
    update: dict[str, object] = {}
    cells, names = line.split(), header.split()
    for name, field in (("PID", "pid"), ("USER", "user")):
        cell = cells[names.index(name)] if name in names and names.index(name) < len(cells) else ""
        if (field == "user" and cell) or cell.isdecimal():
            update[field] = int(cell) if field == "pid" else cell
    main = re.search(
        r"^(?:MainPID=|\s{2,12}Main PID: )(\d{2,8})\b", text[:TEXT_CHARS], re.MULTILINE
    )
    if main and "pid" not in update:
        update["pid"] = int(main[1])
    unit = re.search(
        r"(?:^#\s*/\S*/|^[●×○↻*]\s+|^Id=)([\w@.-]+\.service)", text[:TEXT_CHARS], re.MULTILINE
    )
    if unit:
        update["unit"] = unit[1]
    return seen.model_copy(update=update)


def is_log(text: str) -> bool:
    """Say whether a text is a serve log, which may quote a command line but is none."""
    signs = ("server_args=", "Decode batch", "Prefill batch", "non-default args", "LLM engine (v")
    return any(sign in text for sign in signs) or bool(_STAMPED.search(text[:TEXT_CHARS]))
