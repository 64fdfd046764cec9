"""Values that SGLang sets by itself, with the source line that does it: "who set this flag?".

Only what a user may take for his own choice is here, for the versions whose sources were read:
each line number was looked up in the wheel of that release. Elsewhere ask the installed source
(ReadSourceLines); nightly and editable trees match no release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.engine.launch import Value

ARGS = "srt/server_args.py"


@dataclass(frozen=True)
class Override:
    """One decision of the engine: which field, where, on what terms, and whether it says so.

    `said` is the sentence that the log prints at the decision, None if it is silent. `later` is a
    sentence that another process prints because of it. `trap` is the known wrong remedy.
    """

    field: str
    value: Value
    condition: str
    lines: tuple[tuple[str, str], ...]  # (version, path:line)
    said: str | None = None
    later: str | None = None
    trap: str | None = None

    def where(self, version: str) -> str | None:
        """Return path:line in a release, None if that release was not read."""
        return dict(self.lines).get(_number(version))


_LIE = (
    "Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set"
    " (srt/model_executor/model_runner.py:2807 in 0.5.11), though nobody passed that flag"
)
_DEAD = (
    "--enforce-piecewise-cuda-graph captures graphs that EAGLE, NEXTN and MTP never replay in 0.5.11"
    " to 0.5.13: captured with CaptureHiddenMode.NULL (srt/model_executor/piecewise_cuda_graph_runner.py:217),"
    " the target's prefill asks for FULL (srt/speculative/eagle_worker_v2.py:707), and can_run refuses"
    " the mismatch (:454). It costs start-up time and 0.7 to 0.8 GB and gains nothing"
)


def _piecewise(condition: str, **lines: int) -> Override:
    return Override(
        field="disable_piecewise_cuda_graph",
        value=True,
        condition=condition,
        lines=tuple(
            (version[1:].replace("_", "."), f"{ARGS}:{line}") for version, line in lines.items()
        ),
        later=_LIE,
        trap=_DEAD,
    )


OVERRIDES: tuple[Override, ...] = (
    _piecewise("the model is multimodal", v0_5_10=1111, v0_5_11=1230, v0_5_12=1337, v0_5_13=1376),
    _piecewise(
        "the model is on the list of those that cannot",
        v0_5_10=1087,
        v0_5_11=1203,
        v0_5_12=1310,
        v0_5_13=1351,
    ),
    _piecewise("speculative decoding", v0_5_10=1090),
    _piecewise("data-parallel attention", v0_5_10=1093, v0_5_11=1206, v0_5_12=1313, v0_5_13=1354),
    _piecewise("torch.compile", v0_5_10=1096, v0_5_11=1209, v0_5_12=1316, v0_5_13=1357),
    _piecewise("pipeline parallelism", v0_5_10=1099, v0_5_11=1212, v0_5_12=1319, v0_5_13=1360),
    _piecewise("no CUDA device", v0_5_11=1215, v0_5_12=1322, v0_5_13=1363),
    _piecewise("an all-to-all backend for experts", v0_5_11=1224),
    _piecewise("LoRA", v0_5_11=1227, v0_5_12=1334, v0_5_13=1373),
    _piecewise("GGUF weights", v0_5_11=1237, v0_5_12=1344, v0_5_13=1383),
    _piecewise("CPU offload or hierarchical cache", v0_5_11=1243),
    _piecewise("deterministic inference", v0_5_11=1246),
    _piecewise("prefill and decode on different servers", v0_5_11=1249),
    _piecewise("symmetric memory", v0_5_11=1252),
    _piecewise("expert load balancing or recording", v0_5_11=1255),
    _piecewise("context parallelism", v0_5_11=1258),
    _piecewise("debug mode of CUDA graphs", v0_5_11=1261),
    Override(
        field="cuda_graph_config.prefill.backend",
        value="disabled",
        condition="the model is multimodal and not on the list of those supported",
        lines=(("0.5.14", f"{ARGS}:3057"),),
    ),
    Override(
        field="max_running_requests",
        value=48,
        condition="speculative decoding, and --max-running-requests not given",
        lines=(
            ("0.5.10", f"{ARGS}:2994"),
            ("0.5.11", f"{ARGS}:3455"),
            ("0.5.12", f"{ARGS}:3743"),
            ("0.5.13", "srt/arg_groups/speculative_hook.py:283"),
        ),
        said="Max running requests is reset to 48 for speculative decoding.",
        trap="48 exceeds cuda_graph_max_bs 32 of cards below 60 GB: batches of 33 to 48 decode without a graph",
    ),
    Override(
        field="cuda_graph_max_bs",
        value=32,
        condition="GPU memory between 35 and 60 GB and tp_size below 4",
        lines=(
            ("0.5.9", f"{ARGS}:963"),
            ("0.5.10", f"{ARGS}:1193"),
            ("0.5.11", f"{ARGS}:1346"),
            ("0.5.12", f"{ARGS}:1453"),
            ("0.5.13", f"{ARGS}:1496"),
        ),
    ),
    Override(
        field="speculative_algorithm",
        value="EAGLE",
        condition="NEXTN was given, which is another name of it",
        lines=(("0.5.10", f"{ARGS}:2984"), ("0.5.11", f"{ARGS}:3311")),
    ),
    Override(
        field="mem_fraction_static",
        value=None,
        condition="the model is multimodal: the vision part gets a share (adjust_mem_fraction_for_vlm)",
        lines=(
            ("0.5.10", f"{ARGS}:6430"),
            ("0.5.11", f"{ARGS}:7171"),
            ("0.5.12", f"{ARGS}:7629"),
            ("0.5.13", f"{ARGS}:7808"),
        ),
    ),
    Override(
        field="mamba_scheduler_strategy",
        value="no_buffer",
        condition="'auto' in a hybrid model",
        lines=(
            ("0.5.10", f"{ARGS}:967"),
            ("0.5.11", f"{ARGS}:1082"),
            ("0.5.12", f"{ARGS}:1187"),
            ("0.5.13", f"{ARGS}:1228"),
        ),
        trap="no_buffer with the radix cache ends the overlap schedule, and refuses speculation at launch",
    ),
    Override(
        field="disable_overlap_schedule",
        value=True,
        condition="no_buffer with the radix cache of a hybrid model, without speculation",
        lines=(("0.5.11", f"{ARGS}:2433"),),
        said="Disabling overlap schedule since mamba no_buffer is not compatible with overlap schedule",
    ),
    Override(
        field="custom_all_reduce",
        value=False,
        condition="two GPUs without NVLink between them: version 2 of the kernel gives up, with no fallback",
        lines=(("0.5.12", "srt/distributed/device_communicators/custom_all_reduce_v2.py:50"),),
        trap="SGLANG_OPT_USE_CUSTOM_ALL_REDUCE_V2=0 brings version 1 back in 0.5.12; 0.5.13 falls back by itself",
    ),
)

# Whether speculation overlaps with the scheduler unless told: srt/environ.py, SGLANG_ENABLE_SPEC_V2
# (0.5.9:414 False, 0.5.11:459 True); the variable is gone since 0.5.14.
SPEC_V2_DEFAULT: dict[str, bool] = {"0.5.7": False, "0.5.8": False, "0.5.9": False, "0.5.10": False,
                                    "0.5.11": True, "0.5.12": True, "0.5.13": True}  # fmt: skip


def _number(version: str) -> str:
    found = re.match(r"v?(\d+\.\d+\.\d+)", version)
    return found[1] if found else version


def override_of(field: str, version: str | None) -> tuple[Override, ...]:
    """Return what can have set a field in a release, or, where none is told, in any that was read."""
    return tuple(
        known
        for known in OVERRIDES
        if known.field == field and (version is None or known.where(version) is not None)
    )
