"""From the words of the command line to what the step model is asked."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from bot.given import text_of
from tools.engine import ModelConfig
from tools.errors import ToolsError
from tools.knowledge.gpus import Gpu, all_gpus, gpu_named
from tools.physics.precision import WEIGHT_BYTES
from tools.sglang.model_config import read_model_config

_NEAR = 4  # names that are offered instead of one that is not known


def gpu_called(name: str) -> Gpu:
    """Return the card that is meant; raise ToolsError with the nearest names."""
    exact = {gpu.name.lower(): gpu for gpu in all_gpus()}
    if name.lower() in exact:
        return exact[name.lower()]
    if printed := gpu_named(name):
        return printed
    wanted = name.lower().strip()
    holding = [gpu for gpu in all_gpus() if wanted in gpu.name.lower()]
    ending = [gpu for gpu in holding if gpu.name.lower().endswith(f" {wanted}")]
    if wanted and (len(holding) == 1 or len(ending) == 1):
        return (ending or holding)[0]
    near = [gpu.name for gpu in holding[:_NEAR]] or [
        exact[one].name for one in get_close_matches(name.lower(), exact, _NEAR, 0.3)
    ]
    offered = f" Near it: {', '.join(near)}." if near else ""
    raise ToolsError(f"No GPU called {name!r} is known.{offered}")


def config_of(path: Path) -> ModelConfig:
    """Read a model's config.json; raise ToolsError where it is none."""
    where = path / "config.json" if path.is_dir() else path
    try:
        return read_model_config(text_of(where))
    except ToolsError as why:
        raise ToolsError(f"{where} is no model's config: {str(why).rstrip('.')}.") from None


def known_format(dtype: str | None) -> str | None:
    """Return the format of weights as the model knows it; raise ToolsError with those it knows."""
    if dtype is None or dtype in WEIGHT_BYTES or dtype == "auto":
        return dtype
    raise ToolsError(f"--dtype takes auto or one of {', '.join(sorted(WEIGHT_BYTES))}.")


def switch(name: str, told: str | None) -> bool | None:
    """Read on or off."""
    if told is None:
        return None
    if told.lower() not in ("on", "off"):
        raise ToolsError(f"{name} takes on or off, not {told!r}.")
    return told.lower() == "on"
