"""MIG mode that was left on: a GPU that nvidia-smi lists and that CUDA does not give whole."""

from __future__ import annotations

import re

from tools.engine import Launch, ServerInfo, ServerLog
from tools.engine.parallel import tp_size
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.rule import Cleared, Finding, Outcome, rule

_ORDINAL = re.compile(r"invalid device ordinal|No CUDA GPUs are available")


@rule(cause="mig_slice")
def start_lacks_a_gpu_in_mig_mode(
    gpus: Gpus, log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """The start asks for more GPUs than are left whole, since MIG mode is on for some."""
    said = [one.text for one in log.said("start_failed", "crash") if _ORDINAL.search(one.text)]
    cards = gpus.cards()
    on = [one for one in cards if one.mig]
    if not said:
        return None
    if not on:
        return Cleared("MIG is off on every GPU", (gpus,))
    whole, ranks = len(cards) - len(on), tp_size(launch, log, info)
    if ranks is None or not whole < ranks <= len(cards):
        raise Undecided(
            f"MIG is on for {len(on)} of {len(cards)} GPUs; how many the server asks for is not told",
            settle="the server's arguments, and nvidia-smi -L in its container",
            suspicion=0.4,
        )
    names = ", ".join(str(one.index) for one in on if one.index is not None)
    return Finding(
        statement=(
            f"GPU {names} is in MIG mode, which leaves {whole} whole GPUs of {len(cards)} for"
            f" {ranks} ranks: CUDA has no device for the last ones."
        ),
        confidence=0.9,
        slows=frozenset(("start",)),
        remedy=(
            f"As root, with nothing on the GPU: nvidia-smi -i {names} -mig 0; where it stays pending,"
            " nvidia-smi -r or a reboot.",
        ),
        verify="nvidia-smi -L lists every GPU without MIG devices, and the server starts",
        quotes=("mig.mode.current Enabled", said[0][:200]),
    )


RULES = (start_lacks_a_gpu_in_mig_mode,)
