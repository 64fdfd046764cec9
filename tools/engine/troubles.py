"""Sentences of the layers below every engine: Python, PyTorch, CUDA, NCCL, uvicorn, the C library.

Sources: torch 2.6 to 2.14, NCCL 2.21 to 2.28, transformers' tokenizer warning; seen in real logs.
"""

# ruff: noqa: E501 (one form a line)

from __future__ import annotations

from tools.engine.sentences import Form, forms

_N = r"\d{1,15}"

COMMON: tuple[Form, ...] = forms(
    ("benign", r"\bNCCL (?:INFO|TRACE)\b|nanobind: |refleaks|resource_tracker: |leaked \w{1,20} objects"),
    ("slow_tokenizer", r"(?i)(?:using a|is a) slow tokenizer|fast tokenizer instead"),
    ("start_failed", r"error: (?:unrecognized arguments|argument |the following arguments are required|ambiguous option)"),
    ("start_failed", r"\[Errno 98\]|[Aa]ddress already in use|[Pp]ort (?:\d{1,5} )?is already in use"),
    ("start_failed", r"Repo id must be in the form|is not installed\. Please|PackageNotFoundError|No module named|ImportError"),
    ("oom", r"out of memory|OutOfMemoryError|can't allocate memory|Cannot allocate memory|std::bad_alloc|MemoryError"),
    ("nccl_error", rf"Error while creating shared memory segment(?:.{{0,120}}\(size (?P<bytes>{_N})\))?|/dev/shm\b.{{0,120}}(?:fail|error|space|size)"),
    ("nccl_error", r"NCCL error|NCCL WARN|nccl(?:System|Internal|Remote|UnhandledCuda|InvalidUsage)Error|unhandled (?:system|cuda) error"),
    ("nccl_error", r"ProcessGroupNCCL.{0,200}(?:[Tt]imeout|[Tt]imed out|[Ee]xception|abort)|collective operation timeout|No space left on device"),
    ("watchdog", rf"No available (?:shared memory broadcast )?block found(?: in (?P<seconds>{_N}))?"),
    ("crash", r"CUDA error|illegal memory access|device-side assert|[Ss]egmentation fault|Fatal Python error|core dumped|uncorrectable"),
    ("crash", r"^free\(\): |^malloc\(\)|double free|terminate called|AcceleratorError|cudaError"),
    ("health", r"\"GET /health\S{0,40} HTTP/1\.\d\" (?P<status>5\d\d)"),
    ("shutdown", r"^(?:INFO:\s+)?(?:Shutting down|Finished server process|Waiting for application shutdown|Application shutdown complete)"),
    ("shutdown", r"SIGTERM received|SIGINT received|received signal=SIG"),
)  # fmt: skip

# Shared by engines: what is compiled in slowly, or not at all.
KERNELS: tuple[Form, ...] = forms(
    ("kernel", r"(?i)using default (?:moe|w8a8|.{0,40}kernel) .{0,40}config|performance might be sub-?optimal|config file not found at"),
    ("kernel", r"(?i)not have native support|not natively supported|unoptimized|weight-only|not fully optimized|speed can be slower"),
    ("kernel", r"(?i)however you specified quantization="),
    ("kernel", r"(?i)suboptimal|^You are running Marlin|Marlin kernel can achieve|may degrade performance"),
)  # fmt: skip

CUSTOM_ALL_REDUCE: tuple[Form, ...] = forms(
    ("custom_ar_off", r"(?i)custom ?all-?reduce(?:v2)? is disabled|custom AR disabled|Setup Custom allreduce failed"),
    ("custom_ar_off", r"(?i)custom all-?reduce.{0,80}(?:disabl|not supported|unsupported|fall)|lacks GPU P2P capability"),
    ("nccl_error", r"Failed to load NCCL library"),
)  # fmt: skip

WARNINGS: tuple[Form, ...] = forms(
    ("benign", r"\b[A-Z]\w{2,40}Warning: |^\[[WIE]\d{3,4} |is deprecated|Fail(?:ed)? to set RLIMIT|Found ulimit of"),
    ("benign", r"Max retries exceeded|Connection refused|NewConnectionError"),
)  # fmt: skip
