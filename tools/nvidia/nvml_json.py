"""What our own scripts on the host print: NVML's answers as one JSON object.

`tools/remote/nvml.py` gives each GPU under the names of GpuSample, with the reasons as bits;
`tools/remote/nvml_sample.py` adds a row for each GPU and tick. Nothing but those names is taken.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from tools.errors import Failed, Unreadable
from tools.nvidia.gpus import GpuProcess, Gpus, GpuSample
from tools.nvidia.refusal import refuse
from tools.nvidia.smi_csv import read_csv
from tools.nvidia.values import bdf, process_name, reasons
from tools.probe import told

_NAMES = frozenset(GpuSample.model_fields) - {"reasons", "bdf", "at"}


def is_nvml(text: str) -> bool:
    """Say whether a text is the answer of our script that looks once."""
    return text.lstrip().startswith('{"nvml"')


def is_watch(text: str) -> bool:
    """Say whether a text is the answer of our script that samples for seconds."""
    return text.lstrip().startswith('{"watched_s"')


def read_nvml(text: str) -> Gpus:
    """Return GPUs and processes of one look; raise Unreadable where the object is not ours."""
    said = told(text)
    try:
        return _facts(said)
    except (ValidationError, TypeError, ValueError, KeyError, AttributeError) as why:
        raise Unreadable(f"the script's answer is not in its form: {type(why).__name__}") from None


def _facts(said: dict[str, Any]) -> Gpus:
    held = said.get("processes")
    return Gpus(
        driver=said.get("driver"),
        cuda=said.get("cuda"),
        attached=said.get("attached"),
        samples=tuple(_sample(each) for each in said["gpus"]),
        processes=None if held is None else tuple(_process(each) for each in held),
        cc_on=said.get("cc_on"),
    )


def _sample(each: dict[str, Any], *, at: str | None = None) -> GpuSample:
    known = {name: value for name, value in each.items() if name in _NAMES and value is not None}
    active = each.get("reason_bits")
    return GpuSample(
        **known,
        at=at,
        bdf=bdf(str(each.get("bdf", ""))),
        reasons=None if active is None else reasons(int(active)),
    )


def _process(each: dict[str, Any]) -> GpuProcess:
    name = process_name(str(each.get("name") or ""))
    return GpuProcess(
        gpu=each.get("gpu"), pid=each["pid"], name=name, used_mib=each.get("used_mib")
    )


def read_watch(text: str) -> Gpus:
    """Return a sample for each GPU and tick; `at` is seconds since the first.

    Raises Absent or Failed where the driver says why there is none.
    """
    try:
        said = told(text)
    except Failed as why:
        refuse(str(why))
        raise
    try:
        return _watched(said)
    except (ValidationError, TypeError, ValueError, KeyError, AttributeError) as why:
        raise Unreadable(f"the sampler's answer is not in its form: {type(why).__name__}") from None


def _watched(said: dict[str, Any]) -> Gpus:
    window = {"window_s": float(said["watched_s"])}
    if "csv" in said:
        seen = read_csv(str(said["csv"]))
        if not seen.samples:  # the driver's words stand where the table would
            refuse(str(said["csv"]))
            raise Unreadable("nvidia-smi printed no row of a GPU")
        return seen.model_copy(update=window)
    still, columns = said["gpus"], said["columns"]
    samples = []
    for row in said["rows"]:
        tick = dict(zip(columns, row, strict=True))
        samples.append(_sample(still[str(tick["index"])] | tick, at=f"{tick['at']:.2f}"))
    return Gpus(
        driver=said.get("driver"), cuda=said.get("cuda"), samples=tuple(samples)
    ).model_copy(update=window)
