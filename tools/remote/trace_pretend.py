"""Answer for the devices that a dry run of the argument resolution must not touch; a part of trace_run.py.

It gives `Pretence`. What is known of the GPUs is answered, what is not is refused, and both are written down.
"""

import builtins
import io
import os
import subprocess
import sys
import tempfile
import types

CORES = "lscpu -p=CPU,Core,Socket,Node"
_QUERIES = {
    "memory.total": "memory_mib",
    "compute_cap": "capability",
    "driver_version": "driver",
    "=name": "gpu",
}
_SAFE = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_NULL = 2  # the descriptor of /dev/null that the process was given: its standard error
_MOST = 40  # of what is told


class Refused(RuntimeError):
    """The device was asked for something that nobody here knows."""


class Pretence:
    """Stands where the devices are. `place` says which line of the engine asks."""

    def __init__(self, facts, place):
        self.facts, self.place = facts, place
        self.pretended, self.refused, self.counts = [], [], False
        self.written, self.sound = (
            list,
            None,
        )  # the writes so far; how many before the first refusal

    def _note(self, table, what):
        text = what if not self.counts else what + ", asked at " + self.place()
        if self.counts and text not in table and len(table) < _MOST:
            table.append(text)

    def answer(self, what, name):
        """Return a known fact, or refuse."""
        value = self.facts.get(name)
        if value is None:
            self.refuse(what)
        self._note(self.pretended, what)
        return value

    def refuse(self, what, kind=Refused):
        """Write a question down that has no answer, and say so to whoever asks."""
        if self.counts and self.sound is None:
            self.sound = len(self.written())
        self._note(self.refused, what)
        raise kind("perfsleuth: the dry run has no " + what)

    def watch(self):
        """Have Python itself say what is opened, started and connected; the kernel refuses it besides."""
        sys.addaudithook(self._heard)

    def _heard(self, event, args):
        if event == "open" and isinstance(args[0], str) and args[0].startswith("/dev/"):
            if args[0] not in _SAFE:
                self.refuse("device file " + args[0], PermissionError)
        elif event == "subprocess.Popen":
            self.refuse("program " + os.path.basename(str(args[0])), FileNotFoundError)
        elif event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
            self.refuse("network", PermissionError)

    def writes_to_nothing(self):
        """Let what is opened to be written go nowhere, so that a library with a log of its own still loads."""
        real, low = builtins.open, os.open

        def opened(file, mode="r", *args, **named):
            if isinstance(mode, str) and set(mode) & set("wax+") and not isinstance(file, int):
                if file == os.devnull:
                    return real(os.dup(_NULL), mode, *args, **named)
                return io.BytesIO() if "b" in mode else io.StringIO()
            return real(file, mode, *args, **named)

        def low_opened(path, flags, *args, **named):
            null = path == os.devnull and flags & (os.O_WRONLY | os.O_RDWR)
            return os.dup(_NULL) if null else low(path, flags, *args, **named)

        tempfile.tempdir = "/tmp"  # else Python looks for a folder by writing to it
        builtins.open, io.open, os.open = opened, opened, low_opened

    def programs(self):
        """Answer nvidia-smi and lscpu, which resolvers ask for memory and cores; no program is started."""

        def ran(words, *_, **named):
            text = words if isinstance(words, str) else " ".join(map(str, words))
            out = self._printed(text)
            if not (named.get("text") or named.get("universal_newlines") or named.get("encoding")):
                out = out.encode()
            return subprocess.CompletedProcess(words, 0, out, out[:0])

        subprocess.run = ran
        subprocess.check_output = lambda *args, **named: ran(*args, **named).stdout

    def _printed(self, text):
        if text == CORES and self.facts.get("cores"):
            return self.answer("lscpu", "cores")
        asked = next((name for name in _QUERIES if "nvidia-smi" in text and name in text), None)
        if asked is None:
            program = os.path.basename((text.split() or ["?"])[0])
            self.refuse("program " + program, FileNotFoundError)
        value = self.answer("nvidia-smi's " + asked, _QUERIES[asked])
        line = "{}.{}".format(*value) if isinstance(value, list) else str(value)
        return (line + "\n") * (self.facts.get("gpus") or 1)

    def nvml(self):
        """Put a module in the place of pynvml."""
        made = types.ModuleType("pynvml")
        made.NVMLError = type("NVMLError", (Exception,), {})
        made.NVMLError_NotSupported = type("NVMLError_NotSupported", (made.NVMLError,), {})
        made.nvmlInit = made.nvmlShutdown = lambda *_: None
        made.nvmlDeviceGetHandleByIndex = int
        made.nvmlDeviceGetCount = lambda: self.answer("the count of GPUs", "gpus")
        made.nvmlDeviceGetName = lambda _: self.answer("the GPU's name", "gpu")
        made.nvmlDeviceGetCudaComputeCapability = lambda _: tuple(
            self.answer("the compute capability", "capability")
        )

        def unknown(name):
            if name.startswith("__"):
                raise AttributeError(name)
            if name.startswith("NVMLError"):
                return made.NVMLError_NotSupported
            return lambda *_: self.refuse("pynvml." + name, made.NVMLError_NotSupported)

        made.__getattr__ = unknown
        sys.modules["pynvml"] = made

    def torch(self, torch):
        """Answer for torch.cuda where torch is built for GPUs; it never starts the driver."""
        cuda = torch.cuda

        def never(*_, **__):
            self.refuse("GPU (torch.cuda was to be started)")

        cuda._lazy_init = cuda.init = never
        if not (torch.version.cuda or torch.version.hip) or not self.facts.get("gpu"):
            return
        cuda.is_available = lambda: True
        cuda.is_initialized = lambda: False
        cuda.current_device = lambda: 0
        cuda.set_device = lambda *_: None
        cuda._get_nvml_device_index = lambda device=0: int(device)
        cuda.device_count = lambda: self.answer("the count of GPUs", "gpus")
        cuda.get_device_name = lambda *_: self.answer("the GPU's name", "gpu")
        cuda.get_device_capability = lambda *_: tuple(
            self.answer("the compute capability", "capability")
        )
        cuda.mem_get_info = lambda *_: (self._bytes(), self._bytes())
        cuda.get_device_properties = lambda *_: _Properties(self)

    def _bytes(self):
        return self.answer("the GPU's memory", "memory_mib") << 20


class _Properties:
    """What torch.cuda.get_device_properties tells, as far as it is known."""

    def __init__(self, pretence):
        self._pretence = pretence

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "total_memory":
            return self._pretence._bytes()
        if name in ("major", "minor"):
            both = self._pretence.answer("the compute capability", "capability")
            return both[name == "minor"]
        if name == "name":
            return self._pretence.answer("the GPU's name", "gpu")
        return self._pretence.refuse("the GPU's " + name)
