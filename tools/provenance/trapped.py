"""Which known traps a launch is in: the table of tools/knowledge/traps.py, held against what the launch is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.knowledge.traps import traps_for
from tools.provenance.given import Given
from tools.provenance.values import Unknown, Value

_EAGLE = ("EAGLE", "EAGLE3", "NEXTN", "MTP")
_SENSES = ("vision_config", "audio_config", "thinker_config")  # parts of models that see or hear
_STATES = ("linear_attention", "mamba")  # kinds of layers that keep a state
_CARDS = ((9, 0), (10, 0), (10, 3))  # compute capabilities that torch's symmetric memory is for
MOST = 2  # traps told of one flag

_WORDS = {
    "eagle": "it speculates with EAGLE or MTP",
    "speculation": "it speculates",
    "multimodal": "the model sees images",
    "hybrid": "the model has mamba or linear attention layers",
    "pcie_pair": "two GPUs have no NVLink between them",
    "several_gpus": "it runs on several GPUs",
    "radix_cache": "the radix cache is on",
    "torch_native": "the attention backend is torch_native",
    "not_sm90_sm100": "the card is of another compute capability than 9.0 and 10.x",
}


def conditions_of(given: Given, resolved: Mapping[str, Value]) -> dict[str, bool]:
    """Say which conditions of traps hold in a launch; what cannot be told is left out."""
    found: dict[str, bool] = {}
    told = {**resolved, **(given.resolved or {})}
    algorithm = told.get("speculative_algorithm")
    if not isinstance(algorithm, Unknown):
        found["speculation"] = algorithm is not None
        found["eagle"] = isinstance(algorithm, str) and algorithm.upper() in _EAGLE
    backend = told.get("attention_backend")
    if not isinstance(backend, Unknown):
        found["torch_native"] = backend == "torch_native"
    cache_off = told.get("disable_radix_cache")
    if isinstance(cache_off, bool):
        found["radix_cache"] = not cache_off
    if given.capability is not None:
        found["not_sm90_sm100"] = given.capability not in _CARDS
    split = told.get("tp_size")
    if isinstance(split, int):
        found["several_gpus"] = split > 1
        if split != 2:
            found["pcie_pair"] = False
    return found | _of_model(given.model_config)


def _of_model(config: Mapping[str, Any] | None) -> dict[str, bool]:
    if config is None:
        return {}
    inner = config.get("text_config")
    kinds = [part.get("layer_types") for part in (config, inner) if isinstance(part, Mapping)]
    named = {str(kind) for each in kinds if isinstance(each, list) for kind in each}
    found = {"multimodal": any(part in config for part in _SENSES)}
    if named:
        found["hybrid"] = any(state in name for name in named for state in _STATES)
    return found


def trapped(flag: str, version: str, conditions: Mapping[str, bool]) -> str:
    """Return what is to be known of a flag here: its traps, each with what helps; "" where none is known."""
    text = ""
    for trap in traps_for((flag,), version, conditions)[:MOST]:
        doubts = " and ".join(_WORDS[need] for need in trap.open(conditions))
        text += f" Known trap{', if ' + doubts if doubts else ''}: {trap.happens}. {trap.remedy}"
    return text
