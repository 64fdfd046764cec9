"""Which questions a text answers: decided by what is in it, never by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.errors import ProbeError, Unreadable
from tools.host import Host, Output
from tools.hosts.files.bounded import Bounded, bounded, read_bounded
from tools.hosts.files.forms import known_form
from tools.hosts.files.large import filtered
from tools.hosts.files.text import as_text
from tools.linux.wrappers import unwrap
from tools.probe import Probe

Given = Path | str | tuple[str, bytes]
UNKNOWN = "no probe recognises this text"
_SPLIT_BYTES = 4 << 20  # nobody copies more than that out of a terminal
_PROGRAMS = (
    "nvidia-smi|lspci|dmesg|journalctl|cat|curl|ps|numactl|lscpu|free|df|du|ls|ll|grep|egrep|docker|podman|kubectl|uname|"
    "uptime|top|htop|nvcc|python3?|sglang|vllm|ethtool|ibstat|ibv_devinfo|sudo|tail|head|cd|echo|env|printenv|lsmod|"
    "modinfo|setpci|nvtop|dcgmi|mpstat|iostat|vmstat|pidstat|perf|turbostat|cpupower|systemctl|pct|qm|pveversion|lsblk|"
    "mount|mdadm|ip|ss|netstat|time|find|zcat|zgrep|awk|sed|sysctl|ulimit|taskset|chrt|lstopo|nvbandwidth|p2pBandwidthLatencyTest"
)
# A prompt with user, host and folder, or a bare "$ "; a bare "# " is a comment unless a program is named.
_PROMPT = re.compile(
    r"^(?:(?:\([\w.-]{1,64}\) )?\[?[\w.-]{1,64}@[\w.-]{1,64}[: ][^\n$#]{0,128}\]?[$#] (?P<full>\S[^\n]*)"
    rf"|\$ (?P<user>\S[^\n]*)|# (?P<root>(?:{_PROGRAMS})(?: [^\n]*)?)|==> (?P<file>\S[^\n]*) <==)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Found:
    """One text as an answer: to which question, and where it stood.

    `probe` is None for a text that answers none; `trouble` says why in one sentence, or what of the
    text was not read.
    """

    source: str
    probe: Probe[Any] | None
    output: Output
    trouble: str = ""


def read_texts(
    given: Iterable[Given], probes: Mapping[str, type[Probe[Any]]], here: Host | None = None
) -> list[Found]:
    """Read files, or texts with a name, and say of each what it answers, in the order of `probes`.

    One text may answer several questions. A transcript of a shell is split at its prompts for those
    that do not read it as a whole. `here` is the machine where the files lie: it filters the large
    ones. Raises ToolsError where a file cannot be read at all.
    """
    questions = [kind() for kind in probes.values()]
    found: list[Found] = []
    for one in given:
        if isinstance(one, tuple):
            found += _recognise(one[0], bounded([one[1]]), questions)
        elif here and (large := filtered(Path(one), questions, here)):
            found.append(Found(str(one), *large))
        else:
            found += _recognise(str(one), read_bounded(Path(one)), questions)
    return found


def _recognise(name: str, content: Bounded, questions: list[Probe[Any]]) -> list[Found]:
    try:
        text = unwrap(as_text(content.data))
    except Unreadable as why:
        return [Found(name, None, Output(status=None, lost=str(why)), str(why))]
    cut = bool(content.note)
    if not text.strip():
        return [
            Found(
                name,
                None,
                Output(stdout=text, cut=cut),
                f"it is empty. {content.note}" if cut else "it is empty",
            )
        ]
    parts = _sections(text) if len(text) <= _SPLIT_BYTES else []
    found = [one for probe in questions for one in _answers(name, text, parts, probe, cut=cut)]
    if found:
        return [Found(one.source, one.probe, one.output, content.note) for one in found]
    said = known_form(text) or UNKNOWN
    trouble = f"{said.rstrip('.')}. {content.note}" if cut else said
    return [Found(name, None, Output(stdout=text, cut=cut), trouble)]


def _answers(
    name: str, text: str, parts: list[tuple[str, str, str]], probe: Probe[Any], *, cut: bool
) -> Iterator[Found]:
    """Take the whole where it can be read; else the sections of a transcript that can."""
    whole = probe.recognises(text)
    if not parts or (whole and _reads(probe, text)):
        if whole:
            yield Found(name, probe, Output(stdout=text, cut=cut))
        return
    taken = False
    for title, prompt, body in parts:
        for part in (prompt + body, body):
            if probe.recognises(part) and _reads(probe, part):
                yield Found(
                    f"{name}: {title}" if title else name, probe, Output(stdout=part, cut=cut)
                )
                taken = True
                break
    if whole and not taken:
        yield Found(name, probe, Output(stdout=text, cut=cut))


def _reads(probe: Probe[Any], text: str) -> bool:
    try:
        probe.read(Output(stdout=probe.clean(text)))
    except ProbeError:
        return False
    return True


def _sections(text: str) -> list[tuple[str, str, str]]:
    """Return (command, prompt line, what it printed) for each prompt; nothing without a prompt."""
    prompts = list(_PROMPT.finditer(text))
    if not prompts:
        return []
    edges = [*(prompt.start() for prompt in prompts[1:]), len(text)]
    found = [("", "", text[: prompts[0].start()])] if text[: prompts[0].start()].strip() else []
    for prompt, end in zip(prompts, edges, strict=True):
        title = next((part for part in prompt.groups() if part), "").strip()[:120]
        body = text[prompt.end() : end].removeprefix("\n")
        if body.strip():
            found.append((title, prompt[0] + "\n", body))
    return found
