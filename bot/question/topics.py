"""What a text is about: aspects of serving, and layers or causes that the person suspects."""

from __future__ import annotations

import re

from bot.question.claims import blamed, faster_elsewhere
from bot.question.plain import plain
from tools.interest import Interest
from tools.rule import Aspect

_ASPECTS: dict[Aspect, str] = {
    "decode": r"decod | tok(en)?s?\s*/\s*s | tok(en)?s?\ per\ sec | (?<![a-z])(tps|t/s)\b | between\ tokens"
    r" | \b(itl|tpot)\b"
    r" | generation\ (speed|is\ slow|crawls) | generat\w+\ (slow|speed)",
    "prefill": r"prefill | long\ prompts? | prompt\ processing | long\ context",
    "ttft": r"ttft | time\ to\ first\ token | first\ token | freeze",
    "tail": r"\bp9[059] | \btail | stall | spike | hiccup | freeze | jitter | \bswings?\b",
    "throughput": r"throughput | concurren | \busers\b | in\ total | \bqueue | \bscal(e|ing)\b"
    r" | parallel | aggregate | \bqps\b"
    r" | requests?\ (wait|in\ flight)",
    "start": r"\bstart(s|ing|up)?\b.*(fail|die|refus|hang|slow|never)"
    r" | (won't|doesn't|does\ not|can't|never|refuses\ to)\ "
    r"(finish(es)?\ )?start | load(ing)?\ (the\ )?models? | dies\ at\ start",
    "crash": r"crash | \bdie[sd]?\b | \bhang(s|ing)?\b | lock(s|ed)?\ up | \bxid\b"
    r" | f(a|e)ll(en|s)?\ off | \breboots\b | \b502\b"
    r" | switch(es|ed)?\ (itself\ )?off | frozen | deadlock | illegal\ memory",
}
_SUSPECTS: dict[str, str] = {
    "pcie": r"pci-?e\b | \bgen\ ?[1-6]\b | \bx(4|8|16)\b | riser | \bslot | lspci | \blanes?\b | link\ speed | GT/s"
    r" | the\ link\b | pcie\ link",
    "p2p": r"\bp2p\b | \bpeer | iommu | \bacs\b",
    "nvlink": r"nvlink | \bbridge",
    "nccl": r"nccl | all[-_\ ]?reduce | collective | infiniband | rdma | roce | \bib\b | network",
    "sglang": r"\bflags? | argument | config | \bsettings? | scheduler | max[-_ ]running | chunked | mem[-_ ]fraction",
    "cuda_graph_disabled": r"cuda[-_ ]?graphs? | \beager\b",
    "piecewise_graph_off": r"piecewise | cuda[-_ ]?graphs?",
    "prefix_cache_off": r"prefix\ cache | radix | cached[-_ ]token | cache\ hit",
    "custom_allreduce_off": r"all[-_\ ]?reduce | nccl",
    "power": r"\bpower | \bwatts?\b | \bpsu\b | \bcap(ped)?\b | throttl",
    "thermal": r"thermal | \bheat | \bhot(ter|test)?\b | temperature | throttl | \bcool",
    "host_cpu": r"\bcpus?\b | \bcores?\b | governor | cgroup | load\ average",
    "numa": r"\bnuma\b | second\ socket",
    "speculative": r"specul | eagle | \bmtp\b | nextn | draft | \baccept",
    "attention": r"attention\ backend | long\ context",
    "kernel": r"\bkernels? | \bmoe\b | \bfp8 | \bfp4 | int4 | marlin | quanti[sz]",
    "compute": r"\bfp8 | int4 | marlin | quanti[sz]",
    "memory": r"\becc\b | memory\ clock | bandwidth",
    "gpu": r"utili[sz]ation | another\ job | mining | \bshared\b | other\ processes | occupied",
    "client": r"\bclients? | \bbenchmark | in\ flight | max-concurrency",
    "measurement": r"log\ shows | \bswings?\b | hit\ rate | \bmetric | \bjump(s|ing)?\b | fluctuat | errati"
    r" | up\ and\ down | input\ throughput | gen\ throughput",
    "host_mem": r"\bswap | /dev/shm | shared\ memory | \bram\b",
    "storage": r"\bdisks?\b | nvme | \bssds? | \braid | loading\ (the\ )?models?",
    "driver": r"\bdriver | \bxid\b",
    "engine": r"\bversion | upgrad | \bupdat | regress | \bpulled\b",
    "virtualization": r"\bvms?\b | virtual | vgpu | \bguest | \blxc\b | container",
}
_CLAUSES = re.compile(r"[.;()!?]+(?:\s|$)|[()]")
_MEANT = re.compile(
    r"on purpose|\bintended\b|intentional|deliberate|\bI know that\b", re.IGNORECASE
)
_ASPECT_WORDS = {
    name: re.compile(words, re.IGNORECASE | re.VERBOSE) for name, words in _ASPECTS.items()
}
_SUSPECT_WORDS = {
    name: re.compile(words, re.IGNORECASE | re.VERBOSE) for name, words in _SUSPECTS.items()
}


def interest(text: str) -> Interest:
    """Return what the person wants to know and suspects; suspects are layers and ids of the catalogue."""
    text = plain(text)
    return Interest(
        aspects=frozenset(name for name, words in _ASPECT_WORDS.items() if words.search(text)),
        suspects=_suspects(text),
        intended=frozenset(
            name
            for clause in _CLAUSES.split(text)
            if _MEANT.search(clause)
            for name in _suspects(clause)
        ),
        blamed=blamed(text, _suspects),
        elsewhere=faster_elsewhere(text),
    )


def _suspects(text: str) -> frozenset[str]:
    return frozenset(name for name, words in _SUSPECT_WORDS.items() if words.search(text))
