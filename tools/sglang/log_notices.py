"""The sentences in which SGLang refuses, overrides, caps and complains, 0.4.6 to 0.5.23.

Lines of the log carry no severity, so a sentence is known by its words. Exact forms come first,
then families ("overlap schedule ... disabled") that take in the wordings of other versions.
Sources: srt/server_args.py, srt/arg_groups/*, model_executor/*, managers/*, distributed/* and
entrypoints/* of the versions; what was seen in real logs of 0.5.5, 0.5.9, 0.5.14 and 0.5.23.
"""

# ruff: noqa: E501 (one form a line)

from __future__ import annotations

import re

from tools.engine.sentences import Form, alarms, forms
from tools.engine.troubles import COMMON, CUSTOM_ALL_REDUCE, KERNELS, WARNINGS

_N = r"\d{1,15}"

TROUBLE: tuple[Form, ...] = forms(
    ("retraction", rf"#retracted_reqs: (?P<retracted>{_N})(?:, #aborted_retracted_reqs: (?P<aborted>{_N}))?"
                   rf"(?:, #new_tokens_gained: (?P<tokens_gained>{_N}))?(?:, #mamba_num_gained: {_N})?"
                   r"(?:, #new_token_ratio: (?P<ratio_before>[\d.]{1,12}) -> (?P<ratio_after>[\d.]{1,12}))?"),
    ("retraction", r"KV cache pool is full\. Retract|Testing retraction"),
    ("start_failed", r"Loaded weights leave no GPU memory for the KV cache(?:.{0,80}?=(?P<mem_fraction_static>0?\.\d{1,9}))?"),
    ("start_failed", r"Not enough memory\. Please try to increase --mem-fraction-static|memory capacity is unbalanced"),
    ("start_failed", r"Initialization failed|Capture cuda graph failed|User-specified context_length"),
    ("start_failed", r"Speculative decoding for .{1,80} is not compatible with radix cache"),
    ("oom", rf"Try to allocate (?P<tokens>{_N}) tokens|runs out of memory|No available memory for the cache"),
    ("watchdog", r"watchdog thread crashed|GARBAGE COLLECTION DETECTED"),
    ("watchdog", rf"[Ww]atchdog timeout(?:.{{0,60}}watchdog_timeout=(?P<timeout_s>{_N}))?|py-?spy dump|[Pp]yspy dump"),
    ("crash", rf"Subprocess \S{{1,60}} \(pid={_N}\) crashed with exit code (?P<exit_code>-?\d{{1,5}})"),
    ("crash", r"Received sigquit from a child|SIGQUIT received|hit an exception|before crash diagnostics|crash dump|terminated with|before crash to|Rank \d+ scheduler died|py-spy and CUDA coredump"),
    ("health", rf"Health check failed(?:.{{0,80}}for last (?P<seconds>{_N}) seconds)?|Health check request received during shutdown"),
    ("shutdown", r"Gracefully exiting|remaining number of requests"),
    ("shutdown", r"kill_process_tree called|Draining requests|Parent process exited"),
)  # fmt: skip

SAID: tuple[Form, ...] = forms(
    ("cap", rf"max_running_requests is capped to (?P<max_running>{_N}) by the mamba state cache"
            rf"(?: \(max_mamba_cache_size=(?P<mamba_slots>{_N}), (?P<slots_per_request>{_N}) state slots)?"),
    ("cap", rf"max_running_requests was reduced from the requested (?P<requested>{_N}) to (?P<max_running>{_N})"),
    ("cap", rf"[Mm]ax.running.requests is (?:re)?set to (?P<max_running>{_N})"),
    ("cap", r"max_running_requests.{0,80}(?:capped|reduced|limited|lowered|clamped)"),
    ("cap", rf"decode CUDA graph max_bs=(?P<max_bs>{_N}) < max_running_requests=(?P<max_running>{_N})"),
    ("clamp", rf"max_total_tokens=(?P<asked>{_N}) is larger than the profiled value (?P<profiled>{_N})"),
    ("clamp", rf"KV pool holds (?P<tokens>{_N}) tokens, fewer than --context-length (?P<context_length>{_N})"),
    ("numa", r"(?i)larger than numa node number"),
    ("clamp", r"(?i)is larger than .{0,120}(?:use|using|set|clamp|cap)|\bclamp(?:ed|ing)\b|\btruncated to\b"),
    ("overlap_off", r"(?i)overlap schedul.{0,160}(?:disabled|incompatible|not compatible|turned off|not supported)"),
    ("overlap_off", r"(?i)disabl\w{1,4} (?:the )?overlap schedul|incompatible with overlap schedul"),
    ("overlap_off", r"Spec v1 is used|Non-overlap \(synchronous\) spec v2 is used"),
    ("speculation", r"(?i)spec v2 is enabled|beta spec is enabled|speculative_adaptive disabled|overlap schedule is turned on"),
    ("speculation", r"Mixed chunked prefill is disabled"),
    ("graph_off", r"(?i)disabl\w{1,4} (?:auto-selected )?.{0,60}cuda ?graph|cuda ?graphs? (?:is|are|was) (?:disabled|not)"),
    ("graph_off", r"(?i)cuda ?graph.{0,120}(?:disabled|disabling|incompatible|not compatible|not supported|falling back)|disabl\w{1,4} .{0,80}cuda ?graph"),
    ("radix_off", r"(?i)disabl\w{1,4} (?:the )?radix ?cache|radix ?cache.{0,120}(?:disabled|not (?:yet )?supported|incompatible)"),
    ("collective", r"is using nccl==|P2P access|SymmMemCommunicator|PyMscclpp|[Aa]ll-?[Rr]educe|ALLREDUCE|NCCL|symmetric memory|NVLink detection"),
    ("numa", r"NUMA|numa_index|numa node|cpu affinity|CPU affinity"),
    ("kernel", r"(?i)slow implementation|has no SGLang implementation"),
    ("kernel", r"(?i)fallback to other kernel|kernel.{0,60}(?:fall ?back|not available|not supported|slow)|DeepGEMM|deep_gemm|jit.?(?:compil|kernel)"),
    ("override", r"Attention backend not specified\. Use \w{1,40} backend by default|Global server args updated"),
    ("override", r"(?i)will fall ?back to \w{1,40} backend|overrid(?:e|den|ing)|is (?:re)?set to|are set to|set(?:ting)? \S{1,60} (?:to|=)|automatically"),
    ("override", r"(?i)adjust(?:ed|ing)|forc(?:ed|ing) |enabled by default|by default|defaulting|will be (?:set|changed|reduced)|auto-enabling"),
    ("override", r"^Use \S{1,60} (?:as |attention backend|backend)|(?:Down|Up|down|up)?[Cc]asting \S{1,40} to |is turned (?:on|off)|turn off --"),
    ("override", r"(?i)\bchanged (?:from|to)\b|switch(?:ed|ing) to|instead of the requested|in favor of|increas(?:ed|ing) .{0,60} to"),
    ("speculation", r"(?i)speculative|\beagle|\bmtp\b|\bnextn\b|draft model|\bdflash|\bngram"),
    ("refusal", r"(?i)falling back|fall ?back|not (?:yet )?supported|unsupported|incompatible|not compatible|does not support|can ?not be used"),
    ("refusal", r"(?i)\bdisabl(?:ed|ing|e)\b|\bignored\b|\bignoring\b|no effect|not available|not implemented|refus"),
)  # fmt: skip

# What a healthy server says too; folded by form, the first wording kept.
BENIGN: tuple[Form, ...] = forms(
    ("benign", r"Ignore import error when loading"),
    ("benign", r"TRANSFORMERS_CACHE|Endpoint .{1,60} is deprecated"),
    ("benign", r"Ulysses|tilelang not installed|Triton is (?:not )?(?:installed|supported)|support (?:AWQ|GGUF) quantization currently"),
    ("benign", r"sgl-kernel .{0,60}not available|Cannot detect CUDA architecture|init_cpu_threads_env|init_threads_binding"),
)  # fmt: skip
SORTED = (BENIGN, TROUBLE, COMMON, CUSTOM_ALL_REDUCE, KERNELS, SAID, WARNINGS)

# Plain progress: says nothing that is kept.
QUIET = re.compile(
    r"^(?:Using (?:default HuggingFace chat template|default chat sampling|Transformers backend|model weights format|ModelOpt|\w+ as)"
    r"|Detected |Start of |End of |Cache flushed|Beginning of|Rope|Mamba selective_state_update|MOE_RUNNER_BACKEND|MOE_A2A_BACKEND"
    r"|(?:INFO|DEBUG):\s|Started server process|Waiting for application startup|Application startup complete|Uvicorn running"
    r"|Multimodal |multimodal |Loading |Multi-thread loading|Capturing |Compiling|Warmup|Warming|Found local|No \S+ found in remote|Attention backend"
    r"|Init Unified Radix Cache|Init |Load |Loaded |server_args|Prefill batch size|Endpoint|Chunked prefill|Chunk |Hybrid |Setting up|Config |config "
    r"|Process \S+:|Thread \S|Current thread|Extension modules|Python v\d|usage: |[-=*]{3,}|\s|Possible solutions|\d\. |Open an issue|Last error|Remaining |Registered |HTTP |Received request|GC (?:start|end)|Freezing GC|Start(?:up timing|ing|ed)? |Launch DP|Linear attention kernel|(?:GDN|KDA) kernel dispatcher"
    r"|LoRA adapter|Profiling|Stop profiling|Running |FlashInfer |Watchdog \w|Model is already|Adaptive spec params|Rank \d+: prefetching|Re-registered|Update |Updat"
    r"|Restoring |Fixing |Allocating |Use sliding window|Using (?:hybrid|configuration|MoE kernel config from|CLI-specified|CompressedTensors|FlashInfer)|Applied "
    r"|\w+ is not initialized|Successfully |Attached |Weights are ready|SSL |Enabl\w+ |avg_spec_accept|Created |Shared |Routing experts |Model |New |Freed |Adjust |Sending|Connected|Listening|Dumping)"
    r"|^INFO \d\d-\d\d \d\d:\d\d:\d\d \S{1,80}:\d{1,6}\] "  # of vLLM, imported up to 0.4
)
# Headings of what follows them, and remarks that end a report.
_HEADINGS = ("Last error", "Possible solutions", "Open an issue", "usage: ", "Remaining ")
_BAR = re.compile(r"\d{1,3}%\||\d{1,3}% Completed|\bit/s\]|\bs/it\]|\?it/s|B/s\]|--\.-KB/s")


def is_quiet(message: str) -> bool:
    """Say whether a message is plain progress, a bar or a blank."""
    if (
        not message.strip()
        or message[0].isspace()
        or message.startswith(_HEADINGS)
        or _BAR.search(message, 0, 600)
    ):
        return True
    return bool(QUIET.match(message)) and not alarms(message)
