"""Run nvidia-smi with a time limit: a prelude of the scripts that fall back to it."""

import os
import shutil
import subprocess
import time

BEAT_S = 0.25
HANGS = (
    "nvidia-smi did not answer within %d s: it hangs while the driver waits for a GPU (Xid 119, 79);"
    " see the kernel log"
)
_FOLDERS = ("/usr/bin", "/usr/local/nvidia/bin", "/opt/bin", "/usr/lib/wsl/lib")


def smi_path():
    """Return where nvidia-smi is, None where it is not installed."""
    beside = (os.path.join(folder, "nvidia-smi") for folder in _FOLDERS)
    return shutil.which("nvidia-smi") or next(
        (path for path in beside if os.access(path, os.X_OK)), None
    )


def _ended(process):
    """End it and return what it had printed; stuck in the driver, no signal reaches it."""
    for end in (process.terminate, process.kill):
        end()
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            continue
    return b""


def run_smi(arguments, seconds, going=None):
    """Return (text, trouble) of one run; the text is what came before the limit, too.

    It is ended as well once `going` says no.
    """
    path = smi_path()
    if path is None:
        return "", "nvidia-smi is not installed there"
    process = subprocess.Popen(
        [path, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ, LC_ALL="C"),
    )
    ends = time.monotonic() + seconds
    said, trouble = None, ""
    while said is None:
        left = ends - time.monotonic()
        try:
            said = process.communicate(timeout=max(0, min(left, BEAT_S) if going else left))[0]
        except subprocess.TimeoutExpired:
            if time.monotonic() >= ends:
                said, trouble = _ended(process), HANGS % seconds
            elif going and not going():
                said = _ended(process)
    return (said or b"").decode("utf-8", "replace"), trouble
