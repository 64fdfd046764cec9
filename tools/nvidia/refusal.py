"""What nvidia-smi and NVML say instead of an answer, and what that means.

Sentences of drivers 418 to 595; NVML's error names as pynvml spells them.
"""

from __future__ import annotations

import re

from tools.errors import Absent, Failed

_ABSENT = (
    (r"No devices were found", "the driver runs, but finds no GPU that it may use"),
    (
        r"nvidia-smi: (?:command )?not found|command not found: nvidia-smi",
        "nvidia-smi is not installed there",
    ),
    (r"No devices found\.", "the driver runs, but finds no GPU that it may use"),
)
_FAILED = (
    (
        r"couldn't communicate with the NVIDIA driver|NVMLError_DriverNotLoaded|Driver Not Loaded",
        "the NVIDIA driver is not loaded in the running kernel: see the kernel log, or load the module",
    ),
    (
        r"Driver/library version mismatch|NVMLError_LibRmVersionMismatch|RM has detected an NVML/RM version mismatch",
        "the driver's libraries were updated while the old kernel module still runs: reboot, or reload the module",
    ),
    (
        r"GPU is lost|NVMLError_GpuIsLost",
        "the driver has lost a GPU (it fell off the bus): see the kernel log for Xid 79; a reboot is needed",
    ),
    (
        r"Unable to determine the device handle for GPU *(?P<bdf>[0-9A-Fa-f:.]{7,16})?",
        "the driver cannot open a GPU: see the kernel log for its Xid",
    ),
    (r"Insufficient Permissions|NVMLError_NoPermission", "this user may not ask the driver"),
    (
        r"Field \"(?P<field>[\w.]{1,80})\" is not a valid field to query",
        "this driver's nvidia-smi does not know one of the fields that were asked for",
    ),
    (
        r"Failed to initialize NVML: (?P<why>[^\n]{1,80})",
        "NVML cannot be started: in a container, the devices or libraries may not be passed in",
    ),
)
_FOREIGN = re.compile(
    r"(?P<amd>ROCm System Management Interface|\bAMD-SMI \d|\bAMD Instinct\b)|(?P<gaudi>\bHL-SMI Version)"
    r"|(?P<ascend>\bnpu-smi \d)"
)
_MAKERS = {
    "amd": "AMD GPUs (rocm-smi or amd-smi)",
    "gaudi": "Gaudi cards (hl-smi)",
    "ascend": "Ascend cards (npu-smi)",
}
_LOOKED_AT = 4000  # a refusal is short, and stands first
_LINES = 8


def refuse(text: str) -> None:
    """Raise Absent or Failed where a text is one of these sentences; return where it is none."""
    told = text[:_LOOKED_AT]
    if maker := _FOREIGN.search(told):
        raise Absent(
            f"this is of {_MAKERS[str(maker.lastgroup)]}; what is known here is of NVIDIA GPUs alone, so"
            " nothing of it is judged"
        )
    for sentence, meaning in _ABSENT:
        if re.search(sentence, told):
            raise Absent(meaning)
    for sentence, meaning in _FAILED:
        if found := re.search(sentence, told):
            said = [part for part in found.groupdict().values() if part]
            raise Failed(f"{meaning} ({said[0]})" if said else meaning)


def is_foreign(text: str) -> bool:
    """Say whether a text is the report of another maker's cards."""
    return _FOREIGN.search(text[:_LOOKED_AT]) is not None


def is_refusal(text: str) -> bool:
    """Say whether a short text is nothing but such a sentence."""
    if len(text) > _LOOKED_AT or len(text.strip().splitlines()) > _LINES or "NVRM:" in text:
        return False
    try:
        refuse(text)
    except (Absent, Failed):
        return True
    return False
