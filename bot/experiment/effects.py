"""Whether a change took effect: by what the server resolves, and by its log; never by its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.experiment.proofs import Line, proven
from bot.experiment.record import Proof, Record
from tools.engine import ServerInfo
from tools.engine.launch import Value
from tools.sglang.args import read_dump
from tools.sglang.flags import read_flags

SERVER_INFO, LOG = "/server_info", "the arguments in its log"
LINE = "its log"  # the very line that proves it
_ROUNDED = 0.01  # the engine rounds a pool down to whole pages


def effects(record: Record, info: ServerInfo | None, log: Sequence[str] = ()) -> Iterator[Proof]:
    """Yield a proof for each flag and variable; of the old server it only tells what is in effect.

    A line of its log that is known to prove a flag goes before what the server answers, except where the
    answer contradicts what was asked for.
    """
    proposal, change = record.proposal, record.proposal.change
    dumped = read_dump("\n".join(log)) if log else {}
    old, new = (read_flags(one, "sglang", proposal.version) for one in (proposal.old, proposal.new))
    known = record.proofs if record.phase == "verifying" else ()
    before = {one.flag: one.found for one in known if one.found}
    for flag, asked in (*change.set.items(), *((name, None) for name in change.unset)):
        was = before.get(flag) or _shown(old.get(flag))
        answer = _told(_of(flag, info), flag, info.resolved) if info else ""
        line = None if _against(asked, answer) else _line_of(record, flag, asked, log, _ranks(new))
        found, source = (line.text, LINE) if line else _answered(flag, answer, dumped)
        yield Proof(
            flag=flag,
            asked=_shown(asked) or "the engine's default",
            found=found,
            source=source,
            effective=_by_line(asked, line, was) if line else _effective(asked, found, was),
        )
    for name in (*change.env, *change.unset_env):
        text = _line(proposal.proofs.get(name, ""), log)
        yield Proof(flag=name, asked="set" if name in change.env else "not set", found=text,
                    source=LINE if text else "", effective=True if text else None)  # fmt: skip


def firmer(first: Sequence[Proof], second: Sequence[Proof]) -> tuple[Proof, ...]:
    """Return proofs with what a later look at the log has shown: some lines come with requests alone."""
    shown = {one.flag: one for one in second if one.source == LINE and one.effective is not None}
    return tuple(shown.get(one.flag, one) for one in first)


def void(proofs: Sequence[Proof]) -> str:
    """Say of the first flag that did not take effect what is in effect instead; empty: each did, or may have."""
    for one in proofs:
        if one.effective is False:
            says = f"“{one.found}”" if one.source == LINE else one.found
            said = f", {one.source} says {says}" if one.found else ""
            return f"{one.flag} did not take effect: {one.asked} was asked for{said}."
    return ""


def told(proof: Proof) -> str:
    """Say what is in effect, and who says so."""
    if proof.source == LINE:
        return f"{proof.flag}: its log says “{proof.found}”"
    return f"{proof.flag} is {proof.found} by {proof.source}"


def _against(asked: Value, answer: str) -> bool:
    return bool(answer) and asked is not None and not _same(_shown(asked), answer)


def _line_of(
    record: Record, flag: str, asked: Value, log: Sequence[str], ranks: int
) -> Line | None:
    """Return the line that the proposal names, else one that is known to prove this flag."""
    named = record.proposal.proofs.get(flag, "")
    if text := "" if named.startswith(SERVER_INFO) else _line(named, log):
        return Line(text)
    return proven(flag, asked, record.proposal.version, log, ranks=ranks)


def _ranks(flags: Mapping[str, Value]) -> int:
    told = flags.get("dp_size")
    return int(told) if isinstance(told, (int, str)) and str(told).isdigit() else 1


def _answered(flag: str, answer: str, dumped: Mapping[str, Value]) -> tuple[str, str]:
    """Return what is in effect by the server's answer, else by the arguments that it wrote down."""
    if answer:
        return answer, SERVER_INFO
    said = _told(dumped.get(flag), flag, dumped)
    return (said, LOG) if said else ("", "")


def _told(value: Value, flag: str, table: Mapping[str, Value]) -> str:
    """Return a value as it is shown; a flag that is there and has none says so."""
    return "not set" if value is None and flag in table else _shown(value)


def _of(flag: str, info: ServerInfo) -> Value:
    """Return what the schedulers run with, else what the main process has resolved.

    What was asked may stand in one field, and what came of it in another (SGLang 0.5.23, scheduler.py,
    get_internal_state: an oversized --max-total-tokens is clamped, and only max_total_num_tokens
    tells). The most requests at once are told for each DP rank, and compare only where there is one.
    """
    if flag == "max_total_tokens" and info.max_total_tokens:
        return info.max_total_tokens
    if flag == "max_running_requests" and len(info.effective) < 2 and info.max_running_effective:
        return info.max_running_effective
    tables: list[Mapping[str, Value]] = [*info.effective, info.resolved]
    return next((table[flag] for table in tables if table.get(flag) is not None), None)


def _line(needle: str, log: Sequence[str]) -> str:
    return next((line.strip()[:300] for line in log if needle and needle in line), "")


def _by_line(asked: Value, line: Line, was: str) -> bool | None:
    return _effective(asked, line.value, was) if line.value else line.on


def _effective(asked: Value, found: str, was: str) -> bool | None:
    if not found:
        return None
    if asked is not None:
        return _same(_shown(asked), found)
    return True if was and not _same(was, found) else None  # the default may be what was set


def _same(asked: str, found: str) -> bool:
    try:
        return abs(float(asked) - float(found)) <= _ROUNDED * abs(float(asked))
    except ValueError:
        return asked.strip().lower() == found.strip().lower()


def _shown(value: Value) -> str:
    if value is None:
        return ""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
