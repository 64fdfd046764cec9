"""How GPUs reach each other: the topology and peer-access matrices, NVLink by link."""

from __future__ import annotations

from tools.probe import Facts


class Pair(Facts):
    """One cell above the diagonal of a matrix: two devices and a word (PHB, SYS, NV4; OK, CNS)."""

    a: str
    b: str
    word: str


class Topology(Facts):
    """`nvidia-smi topo`: the kind of link of each pair, peer access, and each GPU's NUMA node."""

    gpus: tuple[str, ...] = ()
    links: tuple[Pair, ...] = ()  # between GPUs
    nics: tuple[Pair, ...] = ()  # GPU to NIC
    p2p: tuple[Pair, ...] = ()  # peer access, read capability; empty if it was not asked
    numa: dict[str, str] = {}  # GPU -> NUMA affinity as printed
    cpus: dict[str, str] = {}  # GPU -> CPU affinity as printed

    def words(self) -> frozenset[str]:
        """Return the kinds of link between GPUs."""
        return frozenset(pair.word for pair in self.links)


class Nvlink(Facts):
    """One NVLink of one GPU. `gb_s` is the raw signalling rate of that link."""

    gpu: int
    link: int
    active: bool | None = None
    gb_s: float | None = None
    replay_errors: int | None = None
    recovery_errors: int | None = None
    crc_errors: int | None = None
    tx_kib: int | None = None
    rx_kib: int | None = None
    reading: int = 0  # 0 the first look at this link, 1 the second, ...


class Nvlinks(Facts):
    """All NVLinks that `nvidia-smi nvlink` tells of."""

    gpu_names: dict[str, str] = {}  # "0" -> product name
    links: tuple[Nvlink, ...] = ()
