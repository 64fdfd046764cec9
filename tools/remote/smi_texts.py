"""Print what nvidia-smi says of how GPUs are joined, each answer below its command.

Argument: topology or nvlink.
"""

# ruff: noqa: F821
# What has no definition here is that of run_smi.py, whose text goes before this one.

import json
import sys

LIMIT_S = 7
ASKED = {
    "topology": (["topo", "-m"], ["topo", "-p2p", "r"]),
    "nvlink": (["nvlink", "-s"], ["nvlink", "-e"]),
}


def main(what):
    """Return the texts; the first that hangs ends it, for the next would hang as well."""
    texts = []
    for arguments in ASKED[what]:
        said, trouble = run_smi(arguments, LIMIT_S)
        if trouble and not texts:
            return json.dumps({"absent" if "not installed" in trouble else "failed": trouble})
        texts.append(
            "$ nvidia-smi " + " ".join(arguments) + "\n" + (trouble or said.rstrip()) + "\n"
        )
        if trouble:
            break
    return "\n".join(texts)


sys.stdout.write(main(sys.argv[1]))
