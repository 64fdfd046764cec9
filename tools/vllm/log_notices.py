"""The sentences in which vLLM refuses, overrides and complains, V0 (0.5) to V1 (0.32).

Unlike SGLang's its lines carry a level, so what is INFO and unknown is progress.
Sources: vllm/config, vllm/v1/engine, vllm/v1/worker, vllm/distributed; seen in real logs of 0.32.0.
"""

# ruff: noqa: E501 (one form a line)

from __future__ import annotations

from tools.engine.sentences import Form, forms
from tools.engine.troubles import COMMON, CUSTOM_ALL_REDUCE, KERNELS, WARNINGS

_N = r"\d{1,15}"

OWN: tuple[Form, ...] = forms(
    ("crash", r"RPC call to \S{1,60} timed out|EngineCore encountered a fatal error|EngineDeadError|Engine core (?:proc|initialization)"),
    ("crash", r"hit an exception|Worker(?:Proc)? .{0,60}(?:failed|died)|Worker failed with error|died unexpectedly|AsyncEngineDeadError"),
    ("watchdog", r"timed out after|[Ww]atchdog|Engine process failed|heartbeat"),
    ("start_failed", r"No available memory for the cache blocks|To serve at least one request with the model's max seq len"),
    ("start_failed", r"Free memory on device .{0,120}less than desired GPU memory utilization|Failed core proc"),
    ("retraction", rf"[Pp]reempt(?:ed|ion).{{0,120}}(?:by |mode|KV cache|total_num_cumulative_preemption=(?P<preempted>{_N}))"),
    ("graph_off", r"(?i)enforce.eager (?:is )?set|disabling .{0,40}cuda ?graphs?|cuda ?graphs? (?:is|are) (?:disabled|not supported)|cudagraph_mode=NONE"),
    ("graph_off", r"(?i)cuda ?graphs?.{0,120}(?:not supported|disabl|falling back|incompatible)|cudagraph_mode .{0,120}(?:overrid|fall|not supported|set)"),
    ("kernel", r"(?i)Inductor compilation was disabled|not .{0,40}best performance|libtcmalloc|libiomp|slow(?:er)? (?:fallback|path|implementation)"),
    ("radix_off", r"(?i)prefix caching .{0,80}(?:disabl|not supported|incompatible|turned off)|disabl\w{1,4} prefix caching"),
    ("cap", r"(?i)max_num_seqs.{0,80}(?:reduc|cap|limit|lower)|max_num_batched_tokens.{0,80}(?:reduc|cap|limit|lower|small)"),
    ("shutdown", r"\[shutdown\]|Parent process exited|Gracefully stopping|Waiting for connections to close"),
    ("numa", r"NUMA|numa node|CPU affinity"),
    ("collective", r"is using nccl==|all-reduce backends|[Aa]ll-?[Rr]educe|SymmMem|P2P access|symmetric memory|\bnccl\b"),
    ("speculation", r"(?i)speculative|\bspec decode|\bdraft model|\bngram|\beagle\b|\bmtp\b"),
)  # fmt: skip

LOUD: tuple[Form, ...] = forms(  # for warnings and errors alone
    ("override", r"(?i)overrid|is (?:re)?set to|are set to|[Ss]etting |automatically|by default|\bReset |will be (?:set|used)|using the \S{1,20} .{0,40} instead"),
    ("override", r"(?i)switch(?:ed|ing) to|forc(?:ed|ing)|changed to|adjust|default(?:ed|ing) to|[Cc]asting \S{1,40} to "),
    ("refusal", r"(?i)falling back|fall ?back|not (?:yet )?supported|unsupported|incompatible|does not support|disabl|ignored|not (?:available|installed)"),
)  # fmt: skip

QUIET_FORMS = (COMMON, CUSTOM_ALL_REDUCE, KERNELS, OWN)
LOUD_FORMS = (COMMON, CUSTOM_ALL_REDUCE, KERNELS, OWN, WARNINGS, LOUD)
