"""What torch, the driver and the operating system would answer on the machine that is described."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.provenance.given import Given
from tools.provenance.values import Class, Extern, Instance, Native, Record, Unknown, Value

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

# The CUDA that a torch wheel of PyPI is built for (pytorch.org, previous versions).
_CUDA_OF_TORCH = (((2, 11), "13.0"), ((2, 8), "12.8"), ((2, 7), "12.6"), ((2, 0), "12.4"))
_NO_OTHER = ("hip", "xpu", "npu", "hpu", "musa", "mps", "mlu")
_NUMBER = re.compile(r"(\d+)\.(\d+)")


def _cuda(torch: str) -> Value:
    found = _NUMBER.search(torch)
    if found is None:
        return Unknown(("the CUDA version of torch",))
    version = (int(found[1]), int(found[2]))
    return next((cuda for least, cuda in _CUDA_OF_TORCH if version >= least), "12.1")


def _giving(name: str, value: object) -> Native:
    return Native(name, lambda _machine, _args, _named: value, lenient=True)


def _or_unknown(value: Value, what: str) -> Value:
    return Unknown((what,)) if value is None else value


def machine_facts(given: Given, packages: dict[str, str]) -> dict[str, Value]:
    """Return facts by dotted name for an NVIDIA machine under Linux; packages as required."""
    there = _giving("is_available", value=True)
    absent = _giving("is_available", value=False)
    capability = _or_unknown(given.capability, "the GPU's compute capability")
    torch = packages.get("torch", "").lstrip("=~> ")
    facts: dict[str, Value] = {
        "torch.cuda.is_available": there,
        "torch.cuda.device_count": _giving(
            "device_count", _or_unknown(given.gpus, "the number of GPUs")
        ),
        "torch.cuda.current_device": _giving("current_device", 0),
        "torch.cuda.get_device_capability": _giving("get_device_capability", capability),
        "torch.cuda.get_device_name": _giving("name", _or_unknown(given.gpu, "the GPU's name")),
        "torch.cuda.get_device_properties": Native("properties", _properties(given), lenient=True),
        "torch.cuda.mem_get_info": _giving("mem_get_info", _memory_info(given)),
        "torch.version.cuda": _cuda(torch),
        "torch.__version__": torch or Unknown(("the version of torch",)),
        "torch.version.hip": None,
        "torch.cuda?": True,
        "sys.platform": "linux",
        "sys.version_info": (3, 12, 0, "final", 0),
        "sys.modules": Record(),
        "sys.maxsize": (1 << 63) - 1,
        "sys.argv": [],
        "platform.system": _giving("system", "Linux"),
        "platform.machine": _giving("machine", "x86_64"),
        "os.name": "posix",
        "os.sep": "/",
        "typing.TYPE_CHECKING": False,
        "pynvml.nvmlDeviceGetCount": _giving(
            "count", _or_unknown(given.gpus, "the number of GPUs")
        ),
        "pynvml.nvmlDeviceGetCudaComputeCapability": _giving("capability", capability),
        "pynvml.nvmlDeviceGetName": _giving("name", _or_unknown(given.gpu, "the GPU's name")),
        "transformers.utils.cached_file": _giving("cached_file", None),
        "subprocess.run": Native("subprocess.run", _ran(given), lenient=True),
        "os.environ": Record(given.environment),
        "huggingface_hub.constants.HF_HUB_OFFLINE": False,
        "dataclasses.MISSING": Extern("dataclasses.MISSING"),
        "msgspec.NODEFAULT": Extern("msgspec.NODEFAULT"),
    }
    for other in _NO_OTHER:
        facts[f"torch.{other}.is_available"] = absent
        facts[f"torch.backends.{other}.is_available"] = absent
        facts[f"torch.version.{other}"] = None
        facts[f"torch.version.{other}?"] = False
        facts[f"torch.{other}?"] = other in ("xpu", "mps")
    return facts


def _memory_info(given: Given) -> Value:
    if given.memory_mib is None:
        return Unknown(("the GPU's memory",))
    return (given.memory_mib << 20, given.memory_mib << 20)


_PROPERTIES = Class("_CudaDeviceProperties", (), {})


def _properties(given: Given) -> Value:
    def call(_machine: Machine, _args: list[Value], _named: Record) -> Value:
        made = Instance(_PROPERTIES)
        memory = given.memory_mib
        major, minor = given.capability or (None, None)
        made.attrs.update(
            total_memory=memory << 20 if memory else Unknown(("the GPU's memory",)),
            major=_or_unknown(major, "the GPU's compute capability"),
            minor=_or_unknown(minor, "the GPU's compute capability"),
            name=_or_unknown(given.gpu, "the GPU's name"),
            multi_processor_count=Unknown(("the number of SMs",)),
            gcnArchName="",
        )
        return made

    return call


_COMPLETED = Class("CompletedProcess", (), {})


def _ran(given: Given) -> Value:
    """Answer what a resolver asks of nvidia-smi: total memory and the driver's version."""
    told = {"memory.total": given.memory_mib, "driver_version": given.driver}

    def call(_machine: Machine, args: list[Value], _named: Record) -> Value:
        words = args[0] if args and isinstance(args[0], list) else []
        if words[:1] != ["nvidia-smi"]:
            return Unknown(("what a command answers",))
        found = [value for name, value in told.items() if any(name in str(word) for word in words)]
        if not found or found[0] is None:
            return Unknown(("what nvidia-smi answers",))
        made = Instance(_COMPLETED)
        made.attrs.update(returncode=0, stdout=f"{found[0]}\n" * (given.gpus or 1), stderr="")
        return made

    return call
