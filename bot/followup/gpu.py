"""All that is known of one GPU, beside its neighbours, and how it differs from them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.followup.card import ROWS, Row
from bot.followup.intent import Intent
from bot.followup.shown import ids
from bot.investigate import Judged
from bot.narrator import Line, Part, Table
from bot.narrator.wording import spaced
from tools.known import Known
from tools.linux.kernel import KernelLog
from tools.linux.pci import PciLinks
from tools.nvidia.gpus import Gpus, GpuSample

_NEIGHBOURS = 3  # that get a column of their own; more stand together in one
_XIDS_SHOWN = 4


def gpu(intent: Intent, end: Judged) -> Iterator[Part]:
    """Tell what the looks hold of a GPU; one that is not there is said."""
    known = Known(end.evidence)
    gpus = known.get(Gpus)
    cited = ids(end.evidence, Gpus)
    if gpus is None:
        yield Line("text", f"No GPU was seen: {known.trouble(Gpus) or 'no look tells of one'}.")
        return
    groups, name = gpus.by_gpu(), str(intent.gpu)
    mine = next((key for key in groups if key.split(" ")[0] == name), None)
    if mine is None:
        there = ", ".join(groups)
        count = f"{len(groups)} GPUs, {there}" if len(groups) > 1 else f"one GPU, {there}"
        yield Line("text", f"There is no GPU {name}: I saw {count}.", cited)
        return
    samples = groups[mine]
    others = {key: group for key, group in groups.items() if key != mine}
    yield Line("text", _lead(mine, samples, gpus), cited)
    yield _table(mine, samples, others)
    yield from _differences(mine, samples, others, cited)
    yield from _own_lines(samples, end, known)
    yield from _findings(mine, samples, end)


def _lead(mine: str, samples: tuple[GpuSample, ...], gpus: Gpus) -> str:
    names = [one.name for one in samples if one.name]
    bdf = next((one.bdf for one in samples if one.bdf), "")
    busy = sum(bool(one.busy) for one in samples)
    held = [row.name for row in gpus.processes or () if str(row.gpu) == mine and row.name]
    parts = [
        f"GPU {mine}",
        (names[0].removeprefix("NVIDIA ") if names else ""),
        bdf,
        f"{busy} of {len(samples)} samples at work",
        f"held by {', '.join(dict.fromkeys(held))}" if held else "",
    ]
    return f"{' · '.join(part for part in parts if part)}."


def _table(
    mine: str, samples: tuple[GpuSample, ...], others: dict[str, tuple[GpuSample, ...]]
) -> Table:
    columns = {f"GPU {mine}": [samples]}
    if len(others) <= _NEIGHBOURS:
        columns |= {f"GPU {key}": [group] for key, group in others.items()}
    else:
        columns[f"the {len(others)} others"] = list(others.values())
    rows = []
    for row in ROWS:
        cells = tuple(row.cell(groups) for groups in columns.values())
        if any(cells):
            rows.append((row.name, *(cell or "-" for cell in cells)))
    return Table(("", *columns), tuple(rows))


def _differences(
    mine: str,
    samples: tuple[GpuSample, ...],
    others: dict[str, tuple[GpuSample, ...]],
    cited: tuple[str, ...],
) -> Iterator[Line]:
    if not others:
        yield Line("text", "It is the only one, so there is nothing to compare it with.")
        return
    apart = [told for row in ROWS if (told := _apart(row, samples, others))]
    if apart:
        yield Line("text", f"GPU {mine} differs from the others: {'; '.join(apart)}.", cited)
    else:
        many = "the other" if len(others) == 1 else f"the {len(others)} others"
        yield Line(
            "text", f"GPU {mine} does not differ from {many} in anything that counts.", cited
        )


def _apart(
    row: Row, samples: tuple[GpuSample, ...], others: dict[str, tuple[GpuSample, ...]]
) -> str:
    mine, theirs = row.value(samples), [row.value(group) for group in others.values()]
    told = [value for value in theirs if value is not None]
    if mine is None or not told or not all(row.differs(mine, value) for value in told):
        return ""
    return f"{row.name} {row.cell([samples])} against {row.cell(list(others.values()))}"


def _own_lines(samples: tuple[GpuSample, ...], end: Judged, known: Known) -> Iterator[Line]:
    """Tell the kernel's lines about it, or why there are none."""
    bdf = next((one.bdf for one in samples if one.bdf), None)
    kernel = known.get(KernelLog)
    cited = ids(end.evidence, KernelLog)
    if kernel is None:
        if why := known.trouble(KernelLog):
            look = tuple(one.id for one in end.evidence if one.title == "ReadKernelLog")
            text = why.split(": ", 1)[-1].split(" (")[0].rstrip(".")
            yield Line("text", f"Xid errors are not known. {text}.", look)
        return
    mine = [one for one in kernel.xids if bdf and one.bdf == bdf]
    if not mine:
        yield Line("text", "The kernel log holds no Xid of it.", cited)
    for one in mine[:_XIDS_SHOWN]:
        yield Line("said", f"Xid {one.code}: {one.text}", cited)
    yield from _hops(bdf, end, known)


def _hops(bdf: str | None, end: Judged, known: Known) -> Iterator[Line]:
    links = known.get(PciLinks)
    device = next((one for one in links.gpus() if one.bdf == bdf), None) if links else None
    if device is not None and device.aer_correctable:
        text = f"Its link corrected {device.aer_correctable} errors since boot."
        yield Line("text", text, ids(end.evidence, PciLinks))


def _findings(mine: str, samples: tuple[GpuSample, ...], end: Judged) -> Iterator[Line]:
    bdf = next((one.bdf for one in samples if one.bdf), None)
    number = mine.split(" ")[0]
    names = re.compile(rf"\bGPUs? (?:\d+(?:, | and |\+))*{re.escape(number)}\b")
    for one in (*end.verdict.findings, *end.verdict.asides):
        said = " ".join((one.finding.statement, *one.finding.quotes))
        if names.search(said) or (bdf and bdf in said):
            what = "" if one.rule.cause.id != end.verdict.cause else "The verdict names it: "
            yield Line("item", f"{what}{spaced(one.finding.statement.rstrip('.'))}.", one.evidence)
