"""Make an environment in which SGLang serves on the CPU: python3 install.py FOLDER. Status 3: it cannot be had, and why."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from pathlib import Path

TORCH = "torch==2.13.0"
ALONE = ("sglang==0.5.23", "torchvision==0.28.0", "compressed-tensors==0.18.0", "xgrammar==0.2.7", "apache-tvm-ffi==0.1.11",
         "gguf==0.19.0")  # fmt: skip  # without what they ask for, which is for GPUs
WITH = ("aiohttp", "einops", "fastapi", "uvicorn", "uvloop", "pyzmq", "orjson", "msgspec", "psutil", "setproctitle",
        "prometheus-client", "transformers==5.19.0", "tokenizers==0.23.2", "numpy", "pillow", "requests", "tqdm", "pydantic",
        "python-multipart", "partial_json_parser", "interegular", "pybase64", "xxhash", "zstandard", "packaging",
        "sentencepiece==0.2.1", "tiktoken", "openai==2.8.0", "watchfiles", "scipy", "regex", "nvidia-ml-py", "distro", "IPython",
        "jsonschema", "soundfile", "cffi", "datasets", "loguru", "dill", "llguidance", "openai-harmony==0.0.4")  # fmt: skip
NMS = '@torch.library.register_fake("torchvision::nms")'
# The CUDA part of torchvision does not load beside a CPU build of torch, so two operators have no definition.
DEFINED = """if not torchvision.extension._has_ops():
    _own = torch.library.Library("torchvision", "FRAGMENT")
    for _name in ("nms", "qnms"):
        _own.define(_name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def pip(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "pip", *arguments], capture_output=True, text=True, check=False
    )


def refuse(why: str) -> None:
    sys.stderr.write(why + "\n")
    raise SystemExit(3)


def insist(done: subprocess.CompletedProcess[str], what: str) -> None:
    if done.returncode:
        refuse(
            f"{what} cannot be had: {(done.stderr.strip() or 'pip said nothing').splitlines()[-1]}"
        )


def main(folder: Path) -> None:
    if platform.machine() != "x86_64":
        refuse(f"there is no CPU build of the engine's kernels for {platform.machine()}")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    planned = pip(python, "install", "--quiet", "--dry-run", "--report", "-", TORCH)
    insist(planned, TORCH)
    names = [one["metadata"]["name"] for one in json.loads(planned.stdout)["install"]]
    if any(name.startswith("nvidia") or name == "triton" for name in names):
        refuse(f"only a CUDA build of {TORCH} is at hand, some gigabytes that a CPU has no use for")
    insist(pip(python, "install", "--quiet", TORCH), TORCH)
    insist(pip(python, "install", "--quiet", "--no-deps", *ALONE), "the engine")
    insist(pip(python, "install", "--quiet", TORCH, *WITH), "what the engine needs")
    (file,) = folder.glob("lib/python3*/site-packages/torchvision/_meta_registrations.py")
    text = file.read_text()
    file.write_text(re.sub(re.escape(NMS), lambda found: DEFINED + found[0], text, count=1))
    (folder / ".complete").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
