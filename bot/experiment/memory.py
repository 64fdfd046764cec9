"""What was tried before, on which host, model and version, and what came of it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from bot.experiment.record import Record
from bot.experiment.result import changed
from bot.narrator import Line
from tools.change import Change

_MOST = 3
_ENDS = {"kept": "kept", "restored": "taken back"}


def tried(
    results: Iterable[Record],
    *,
    host: str,
    model: str | None = None,
    version: str | None = None,
    change: Change | None = None,
) -> Iterator[Line]:
    """Yield a line for each of the newest experiments that bear on a host, or on one change there.

    Of another host only the same model counts. What differs is said: a result holds for the version
    and the model that it was measured with.
    """
    wanted = _names(change) if change else None
    shown = 0
    for record in results:
        proposal = record.proposal
        here = proposal.host.lower() == host.lower()
        other_model = model is not None and proposal.model != model
        if record.phase not in _ENDS or (not here and (other_model or model is None)):
            continue
        if wanted is not None and not wanted & _names(proposal.change):
            continue
        if shown == _MOST:
            return
        shown += 1
        where = "" if here else f" on {proposal.host}"
        other = ", ".join(_other(record, model, version))
        end, why = _ENDS[record.phase], (record.reason or _why(record)).rstrip(".")
        yield Line(
            "text",
            f"Tried before{where} ({_when(record)}{f', with {other}' if other else ''}):"
            f" {changed(proposal.change)} was {end}: {why}.",
        )


def _names(change: Change) -> set[str]:
    return {*change.set, *change.unset, *change.env, *change.unset_env}


def _other(record: Record, model: str | None, version: str | None) -> Iterator[str]:
    proposal = record.proposal
    if model and proposal.model and proposal.model != model:
        yield proposal.model
    if version and proposal.version and proposal.version != version:
        yield f"version {proposal.version}"


def _why(record: Record) -> str:
    return record.judged.why if record.judged else "not measured"


def _when(record: Record) -> str:
    at = datetime.fromtimestamp(record.ended_at or record.began_at, UTC)
    return f"{at:%Y-%m-%d}"
