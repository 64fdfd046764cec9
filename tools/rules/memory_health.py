"""Memory of a GPU that fails: uncorrectable errors, row remaps, a storm of corrected ones."""

from __future__ import annotations

from tools.engine import ServerLog
from tools.errors import Undecided
from tools.linux.kernel import KernelLog, XidLine
from tools.nvidia.gpus import Gpus, GpuSample
from tools.rule import Cleared, Finding, Outcome, rule

_ECC_XIDS = frozenset((48, 94, 95, 140))
_REMAP_XIDS = frozenset((63, 64))
STORM = 10_000  # corrected errors in a card's life: healthy cards count tens
STORM_NOW = 100  # since driver load

_SETTLE = "nvidia-smi -q -d ECC,ROW_REMAPPER of every card, twice, under load between"


def _card(sample: GpuSample) -> str:
    if sample.index is not None:
        return f"GPU {sample.index}"
    return f"GPU {sample.bdf}" if sample.bdf else "The GPU"


def _line(line: XidLine) -> str:
    return f"{line.at or ''} {line.bdf}: Xid {line.code}, {line.text}".strip()[:220]


@rule(cause="xid_ecc_uncorrectable")
def memory_errors_in_the_log(kernel: KernelLog, gpus: Gpus | None) -> Outcome:
    """A GPU's memory fails: the driver reports uncorrectable errors."""
    ours = [line for line in kernel.xids if line.code in _ECC_XIDS]
    if not ours:
        return Cleared("the kernel log holds no Xid 48, 94, 95 or 140")
    remaps = [line for line in kernel.xids if line.code in _REMAP_XIDS]
    pending = [one for one in gpus.samples if one.remap_pending or one.remap_failed] if gpus else []
    counted = [one for one in gpus.samples if one.remapped_uncorrectable] if gpus else []
    cards = sorted({line.bdf for line in ours})
    more = [f"{_card(one)}: {one.remapped_uncorrectable} rows remapped" for one in counted]
    return Finding(
        statement=(
            f"The memory of GPU {', '.join(cards)} fails (Xid"
            f" {', '.join(str(code) for code in sorted({line.code for line in (*ours, *remaps)}))})."
        ),
        confidence=0.95 if remaps or pending else 0.88,
        slows=frozenset(("crash", "start")),
        quotes=(*(_line(line) for line in (*ours, *remaps)[:4]), *more),
    )


@rule(cause="xid_ecc_uncorrectable")
def cuda_reports_bad_memory(log: ServerLog, kernel: KernelLog | None) -> Outcome:
    """CUDA itself ends the server with an uncorrectable memory error."""
    said = [one.text for one in log.notices if "uncorrectable ecc error" in one.text.lower()]
    if not said:
        return None
    if kernel and any(line.code in _ECC_XIDS for line in kernel.xids):
        return None  # memory_errors_in_the_log names the card
    return Finding(
        statement="CUDA reports an uncorrectable error of a GPU's memory; which card, the kernel log tells.",
        confidence=0.9,
        slows=frozenset(("crash", "start")),
        quotes=(said[-1][:200],),
    )


@rule(cause="xid_ecc_uncorrectable")
def memory_errors_counted(gpus: Gpus, kernel: KernelLog | None) -> Outcome:
    """A GPU counts uncorrectable memory errors since the driver was loaded."""
    if kernel and any(line.code in _ECC_XIDS for line in kernel.xids):
        return None  # memory_errors_in_the_log says more
    told = [one for one in gpus.samples if one.ecc_uncorrected is not None]
    bad = [one for one in told if one.ecc_uncorrected]
    if bad:
        return Finding(
            statement=(
                f"{_card(bad[-1])} counts {bad[-1].ecc_uncorrected} uncorrectable memory errors since"
                " the driver was loaded."
            ),
            confidence=0.85,
            slows=frozenset(("crash",)),
            remedy=(
                "Take the GPU out of service and reset it (nvidia-smi -r, or a reboot): pending rows"
                " are replaced then.",
                "Run the vendor's field diagnostics; replace the card if errors return or a remap fails.",
            ),
            risk="every job on that GPU ends",
            verify="volatile uncorrectable errors stay 0 over a day of load, no remap is pending",
            quotes=(f"{_card(bad[-1])}: volatile uncorrected {bad[-1].ecc_uncorrected}",),
        )
    if told:
        return Cleared("no GPU counts uncorrectable errors since the driver was loaded")
    raise Undecided("no look tells ECC counters", settle=_SETTLE, suspicion=0.02)


@rule(cause="row_remap_pending")
def row_waits_for_a_reset(gpus: Gpus) -> Outcome:
    """A bad row waits for a reset of the GPU to be replaced."""
    told = [one for one in gpus.samples if one.remap_pending is not None]
    waiting = [one for one in told if one.remap_pending]
    if not told:
        raise Undecided("no look tells row remaps", settle=_SETTLE, suspicion=0.02)
    if not waiting:
        return Cleared("no row remap is pending")
    one = waiting[-1]
    return Finding(
        statement=f"{_card(one)} waits for a reset to replace a bad row of memory.",
        confidence=0.9,
        slows=frozenset(("crash",)),
        quotes=(f"{_card(one)}: remap pending, {one.remapped_uncorrectable or 0} uncorrectable",),
    )


@rule(cause="row_remap_failure")
def no_rows_left(gpus: Gpus, kernel: KernelLog | None) -> Outcome:
    """A GPU can replace no more rows of memory."""
    failed = [one for one in gpus.samples if one.remap_failed]
    lines = [line for line in kernel.xids if line.code == 64] if kernel else []
    if failed or lines:
        where = _card(failed[-1]) if failed else lines[-1].bdf
        return Finding(
            statement=f"{where} could not replace a bad row of memory: the card must be replaced.",
            confidence=0.95 if failed else 0.85,
            slows=frozenset(("crash", "start")),
            quotes=(f"{where}: remapping failure",),
        )
    if any(one.remap_failed is False for one in gpus.samples):
        return Cleared("no row remap failed")
    raise Undecided("no look tells row remaps", settle=_SETTLE, suspicion=0.02)


@rule(cause="sbe_storm")
def corrected_errors_keep_coming(gpus: Gpus, kernel: KernelLog | None) -> Outcome:
    """One GPU corrects memory errors all the time, others do not."""
    lines = [line for line in kernel.xids if line.code == 92] if kernel else []
    rising = _rising(gpus)
    if lines or rising:
        words = _line(lines[-1]) if lines else rising
        return _storm(words, 0.8)
    last = gpus.cards()
    told = [one for one in last if one.ecc_corrected is not None]
    if not told:
        raise Undecided("no look tells corrected errors", settle=_SETTLE, suspicion=0.02)
    worst = max(told, key=lambda one: (one.ecc_corrected_life or 0, one.ecc_corrected or 0))
    now, life = worst.ecc_corrected or 0, worst.ecc_corrected_life or 0
    words = f"{_card(worst)}: {now} corrected since driver load, {life} in its life"
    if (life >= STORM and now) or now >= STORM_NOW:
        return _storm(words, 0.7)
    if now or life >= STORM:
        raise Undecided(words, settle=_SETTLE, suspicion=0.15)
    return Cleared("no GPU counts corrected errors since the driver was loaded")


def _rising(gpus: Gpus) -> str:
    for gpu, group in gpus.by_gpu().items():
        seen = [one.ecc_corrected for one in group if one.ecc_corrected is not None]
        if len(seen) > 1 and seen[-1] > seen[0]:
            return f"GPU {gpu}: corrected errors {seen[0]} -> {seen[-1]}"
    return ""


def _storm(words: str, confidence: float) -> Finding:
    return Finding(
        statement=f"A GPU's memory needs correction again and again: {words}.",
        confidence=confidence,
        slows=frozenset(("crash", "start")),
        quotes=(words,),
    )


RULES = (
    memory_errors_in_the_log,
    cuda_reports_bad_memory,
    memory_errors_counted,
    row_waits_for_a_reset,
    no_rows_left,
    corrected_errors_keep_coming,
)
