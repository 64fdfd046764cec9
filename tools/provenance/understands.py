"""Everything outside the source that is understood, in one import."""

from tools.provenance import (
    commandline,
    configs,
    declarations,
    functions,
    library,
    paths,
    patterns,
)

__all__ = [
    "commandline",
    "configs",
    "declarations",
    "functions",
    "library",
    "paths",
    "patterns",
]
