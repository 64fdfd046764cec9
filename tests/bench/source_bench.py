"""make bench: explaining one flag of a host over a real sshd: round trips, files and bytes, cold and warm."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bot.source.cache import SourceCache
from bot.source.ground import of_host
from bot.source.installed import InstalledSource
from tests.lab.sshd import MISSING, SSHD, Lab
from tests.provenance.engines import TEXT, wheel
from tests.provenance.test_real_engines import QWEN
from tools.host import Asks, Output
from tools.hosts.ssh import SshHost
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree

VERSIONS = ("0.5.9", "0.5.11", "0.5.14", "0.5.18", "0.5.23")
LAUNCHES = {
    "dense model": Given.of(gpu="NVIDIA L4", model_config=TEXT, argv=("--model-path", "/m")),
    "vision model that drafts": Given.of(
        gpu="NVIDIA RTX A6000",
        model_config=QWEN,
        argv=("--model-path", "/m", "--speculative-algorithm", "NEXTN", "--tp-size", "2"),
    ),
}


class Counted:
    """A host that counts round trips and the text that came of them."""

    def __init__(self, host: SshHost) -> None:
        self.name, self._host = host.name, host
        self.trips = self.came = 0

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        outputs = self._host.answer(probes)
        self.trips += 1
        self.came += sum(len(output.stdout) for output in outputs)
        return outputs

    def close(self) -> None:
        self._host.close()


def explain(ssh: SshHost, folder: Path, given: Given, cache: Path, state: str) -> None:
    host, started = Counted(ssh), time.perf_counter()
    scope = {"source_path": str(folder)}
    ground = of_host(host, "attention_backend", launch=False, cache=SourceCache(cache), scope=scope)
    here = time.perf_counter() - started
    Explanation(Tree(ground.texts), given).one("attention_backend")
    took, texts = time.perf_counter() - started, ground.texts
    assert isinstance(texts, InstalledSource)
    print(
        f"    {state}: {host.trips} round trips, {texts.brought_files:3d} files of "
        f"{texts.brought_bytes / 1e6:5.2f} MB as {host.came / 1e6:5.2f} MB of answers, "
        f"{here:5.2f} s until the first files are here, {took:5.2f} s in all"
    )


def main() -> None:
    if not SSHD:
        print(f"explain-flag of a host: {MISSING}")
        return
    gc.disable()
    with tempfile.TemporaryDirectory() as place:
        lab = Lab(Path(place) / "lab")
        try:
            with SshHost("lab", config_file=lab.config) as ssh:
                ssh.answer([])
                for version in VERSIONS:
                    folder = wheel(version)
                    if folder is None:
                        print(f"explain-flag of a host: the wheel of {version} cannot be fetched")
                        continue
                    for name, given in LAUNCHES.items():
                        print(f"explain-flag of a host with {version}, {name}")
                        cache = Path(place) / f"{version} {name}"
                        for state in ("cold", "warm"):
                            explain(ssh, folder, given, cache, state)
                            gc.collect()
        finally:
            lab.stop()


main()
