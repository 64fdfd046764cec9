"""Resolve a server's arguments once more, for the record: shut in, and by the server's own Python.

`perfsleuth explain-flag --deep` sends it, once a person approved. What it prints is read by trace_arguments.py, which
keeps what may be told. Nothing is served: the arguments are parsed and resolved, and that is all.
"""

# Goes after fence.py
# Goes after trace_pretend.py
# Goes after trace_record.py
# ruff: noqa: F821

import contextlib
import importlib
import json
import os
import sys

_RESTORED = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def _why(error):
    """Name an exception without its words, which may hold what must not be told."""
    name = getattr(error, "name", None) if isinstance(error, ImportError) else None
    if isinstance(error, SystemExit):
        return "its own parser refuses the command line"
    return type(error).__name__ + (" (" + str(name)[:80] + ")" if name else "")


def _where(error):
    """Return the engine's nearest line to where an exception came from."""
    found, step = None, error.__traceback__
    while step is not None:
        file = _below(step.tb_frame.f_code.co_filename)
        if file.startswith("sglang/"):
            found = f"{file}:{step.tb_lineno}"
        step = step.tb_next
    return found


def _prepared(pretence):
    """Import the engine's arguments with the devices answered for."""
    pretence.watch()
    pretence.writes_to_nothing()
    pretence.programs()
    pretence.nvml()
    with contextlib.suppress(
        ImportError
    ):  # an engine of another kind, or a broken one: importing it tells
        pretence.torch(importlib.import_module("torch"))
    module = importlib.import_module("sglang.srt.server_args")
    with contextlib.suppress(ImportError):  # launch_server loads them first since 0.5.11
        importlib.import_module("sglang.srt.plugins").load_plugins()
    return module


def _resolve(module, recorder, words):
    made = module.prepare_server_args(list(words))
    if not recorder.asked:
        recorder.asked = {name: plain(getattr(made, name, None)) for name in recorder.fields}
    recorder.subject = recorder.subject or made
    if hasattr(made, "resolve_once"):  # since 0.5.19 a record is resolved when it is told to be
        made.resolve_once()


def _reader(recorder):
    """Return the engine's function for a field's final value, which knows of fallbacks (0.5.19 and later)."""
    try:
        read = importlib.import_module("sglang.srt.arg_groups.overrides").resolution_result
        read(recorder.subject, "model_path")
    except Exception:
        return None
    return read


def run(told):
    """Return what was written, and what stopped it if anything did."""
    pretence = Pretence(told["facts"], place)
    answer = {"stopped": None, "writes": [], "asked": {}, "resolved": {}}
    recorder, stage = None, "while the engine was imported"
    try:
        module = _prepared(pretence)
        recorder = Recorder(module.ServerArgs)
        pretence.written = lambda: recorder.writes
        os.environ.update(told["restored"])
        sys.argv = ["sglang", *told["words"]]
        stage, pretence.counts = "while the arguments were resolved", True
        _resolve(module, recorder, told["words"])
    except BaseException as error:
        answer["stopped"] = {"why": _why(error), "at": _where(error), "stage": stage}
    if recorder is not None and recorder.subject is not None:
        answer.update(
            writes=recorder.writes,
            asked=recorder.asked,
            resolved=recorder.resolved(_reader(recorder)),
        )
    answer.update(pretended=pretence.pretended, refused=pretence.refused, sound=pretence.sound)
    return answer


if __name__ == "__main__":
    _told = json.loads(sys.stdin.read())
    _out = os.dup(1)
    os.dup2(2, 1)
    sealed()
    _answer = json.dumps(run(_told)).encode()
    while _answer:
        _answer = _answer[os.write(_out, _answer) :]
    os._exit(0)
