"""The model's configuration as transformers hands it out: attributes of config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tools.provenance.understood import base, inherits, known
from tools.provenance.values import (
    MISSING,
    Bound,
    Class,
    Extern,
    Function,
    Instance,
    Native,
    Record,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tools.provenance.machine import Machine

CONFIG = Class("PretrainedConfig", (), {}, "PretrainedConfig")
_DTYPES = ("dtype", "torch_dtype")
# What every configuration of transformers has, whether config.json states it or not.
_ALWAYS: dict[str, Value] = {
    "architectures": None, "model_type": "", "tie_word_embeddings": True, "is_encoder_decoder": False,
    "pad_token_id": None, "bos_token_id": None, "eos_token_id": None, "dtype": None, "torch_dtype": None,
    "_name_or_path": "", "rope_scaling": None,
}  # fmt: skip


def config_object(data: Mapping[str, Any], cls: Class = CONFIG) -> Instance:
    """Return a configuration; parts that name a model type are configurations themselves."""
    made = Instance(cls)
    made.attrs.update(_ALWAYS)
    fill(made, data)
    return made


def fill(made: Instance, data: Mapping[str, Any]) -> None:
    """Give a configuration the entries of config.json."""
    for name, value in data.items():
        made.attrs[name] = _part(name, value)
    for one, other in (_DTYPES, _DTYPES[::-1]):
        if made.attrs.get(one) is None and made.attrs.get(other) is not None:
            made.attrs[one] = made.attrs[other]
    rope = data.get("rope_parameters")
    if isinstance(rope, Mapping) and made.attrs.get("rope_scaling") is None:
        made.attrs["rope_scaling"] = Record(rope)
        if "rope_theta" in rope:
            made.attrs.setdefault("rope_theta", rope["rope_theta"])


def _part(name: str, value: Any) -> Value:
    if name in _DTYPES and isinstance(value, str):
        return Extern(f"torch.{value}")
    if isinstance(value, Mapping) and (name.endswith("_config") and "model_type" in value):
        return config_object(value)
    if isinstance(value, Mapping):
        return Record({key: _plain(inner) for key, inner in value.items()})
    return _plain(value)


def _plain(value: Any) -> Value:
    if isinstance(value, Mapping):
        return Record({key: _plain(inner) for key, inner in value.items()})
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _asked(machine: Machine, path: Value) -> Mapping[str, Any] | None:
    configs = machine.outside.facts["model configs"]
    found = configs.get(path) if isinstance(path, str) else None
    return found if isinstance(found, Mapping) else None


@known("transformers.AutoConfig.from_pretrained", "modelscope.AutoConfig.from_pretrained")
def _from_pretrained(machine: Machine, args: list[Value], named: Record) -> Value:
    path = args[0] if args else named.get("pretrained_model_name_or_path")
    data = _asked(machine, path)
    return config_object(data) if data is not None else Unknown(("the model's config.json",))


@known("transformers.PretrainedConfig.get_config_dict")
def _config_dict(machine: Machine, args: list[Value], _named: Record) -> Value:
    data = _asked(machine, args[0] if args else None)
    return (_plain(data), Record()) if data is not None else Unknown(("the model's config.json",))


@known("transformers.PretrainedConfig", "transformers.PretrainedConfig.from_dict")
def _from_keywords(_machine: Machine, args: list[Value], named: Record) -> Value:
    return config_object(args[0] if args and isinstance(args[0], dict) else named)


@known("transformers.GenerationConfig.from_pretrained")
def _generation(_machine: Machine, _args: list[Value], _named: Record) -> Value:
    return Unknown(("generation_config.json",))


for _silent in ("transformers.AutoConfig.register", "transformers.AutoTokenizer.register"):
    known(_silent)(lambda _m, _a, _n: None)


@base("transformers.PretrainedConfig")
@base("transformers.configuration_utils.PretrainedConfig")
def _init(_machine: Machine, args: list[Value], named: Record) -> None:
    made = args[0]
    for name, value in _ALWAYS.items():
        made.attrs.setdefault(name, value)
    fill(made, named)


def from_pretrained_of(machine: Machine, cls: Class, args: list[Value]) -> Value:
    """Return Cls.from_pretrained(path) of a configuration class of the engine's own."""
    data = _asked(machine, args[0] if args else None)
    if data is None:
        return Unknown(("the model's config.json",))
    plain = Record({key: _plain(value) for key, value in data.items()})
    hook = cls.find("__init__")
    made = Instance(cls)
    if isinstance(hook, Function):
        machine.call(hook, [made], plain)
    else:
        _init(machine, [made], plain)
    return made


@inherits("transformers")
def inherited_method(cls: Class, name: str) -> Value:
    """Return what a configuration class of the engine inherits from transformers, or MISSING."""
    if name in ("from_pretrained", "from_dict"):
        call = Native(
            name,
            lambda machine, args, _named: (
                from_pretrained_of(machine, args[0], args[1:])
                if name == "from_pretrained"
                else config_object(args[1], args[0])
            ),
            lenient=True,
        )
        return Bound(call, cls)
    return MISSING
