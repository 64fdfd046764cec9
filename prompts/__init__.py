"""prompts holds the words that a model is given."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from string import Template


def load(name: str, **fields: object) -> str:
    """Return the prompt of a name ("planner") with its $fields filled in.

    Raises KeyError where a field has no value, and ValueError where a value has no field: words and
    code must not part unnoticed.
    """
    template = Template(_text(name))
    unknown = fields.keys() - set(template.get_identifiers())
    if unknown:
        raise ValueError(f"prompt {name} has no field {', '.join(sorted(unknown))}")
    return template.substitute(fields).strip()


def names() -> tuple[str, ...]:
    """Return the names of all prompts."""
    folder = files(__package__).iterdir()
    return tuple(sorted(one.name.removesuffix(".md") for one in folder if one.name.endswith(".md")))


def version(name: str) -> str:
    """Return which words a prompt holds: 8 characters that change with any of them."""
    return sha256(_text(name).encode()).hexdigest()[:8]


def _text(name: str) -> str:
    return (files(__package__) / f"{name}.md").read_text(encoding="utf-8")
