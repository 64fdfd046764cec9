"""make bench: explaining one flag and all flags of a 0.5.23 tree, cold and warm, and the memory it takes."""

from __future__ import annotations

import gc
import resource
import time

from bot.source.folder import SourceFolder
from tests.provenance.engines import TEXT, wheel
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree


def main() -> None:
    folder = wheel("0.5.23")
    if folder is None:
        print("provenance: the wheel of sglang 0.5.23 cannot be fetched here")
        return
    gc.disable()
    given = Given.of(gpu="NVIDIA L4", model_config=TEXT, argv=("--model-path", "/m"))
    print("explain-flag on a 0.5.23 tree")
    started = time.perf_counter()
    explanation = Explanation(Tree(SourceFolder(folder)), given)
    explanation.one("attention_backend")
    print(f"  one flag, cold (aim 3 s)       {time.perf_counter() - started:6.2f} s")
    started = time.perf_counter()
    explanation.one("page_size")
    print(f"  another flag, warm (aim 0.3 s) {time.perf_counter() - started:6.2f} s")
    started = time.perf_counter()
    explanation.all()
    print(f"  all flags (aim 10 s)           {time.perf_counter() - started:6.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  memory at its peak (aim 400 MB) {peak:5.0f} MB")


main()
