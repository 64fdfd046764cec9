"""Whether a text is about serving a model at all; in doubt it is."""

from __future__ import annotations

import re

from bot.question.plain import plain
from bot.question.topics import interest


def any_of(words: str) -> str:
    """Return the form of any of these words; `*` stands for the rest of a word."""
    forms = (word.replace("*", r"\w*") for word in words.split())
    return rf"\b(?:{'|'.join(forms)})\b"


# One of these is enough: nobody says it who does not run servers, or has no trouble with one.
_SERVING = """
    slow* sluggish lag laggy lagging lags crawl* latenc* throughput bottleneck* degrad* regress* perf
    performance decod* prefill* pre-fill* ttft tpot itl tokens? toks? tps prompts? batch batches batching
    inferenc* serving context kv cache servers? hosts? nodes? box boxes machines? cluster instance pod
    container endpoint deployment replicas? backend api gpus? cuda nvidia* vram hbm nccl nvlink pcie? numa
    iommu p2p xid rdma infiniband roce tensor* driver kernels? cpus? sglang vllm tgi trt* triton ollama
    llama* qwen* deepseek* glm* kimi* gemma* gpt* queue* queuing reqs? retract* schedul* warm-?up mistral*
    mixtral* models? moe fp8 fp4 awq gptq eagle mtp speculati* quanti* flags? logs? oom crash* hangs?
    hanging hung stuck freez* stall* timeouts? segfault* traceback throttl* dmesg lspci tuning tuned?
    optimis* optimiz* utili[sz]ation bandwidth concurren* qps requests benchmark* p9[059] 50[0234] nics?
    nvme iostat nvtop htop dcgm* bios firmware motherboard riser
"""
_ALSO_SERVING = (
    r"\b(?:time[sd]? out|out of memory|memory leak)\b|(?:^|\s)(?:--|#)[a-z]|\w\.\w*Error\b|\b[a-z]+(?:_[a-z]+)+\b"
    r"|\b(?:[abh]\d{2,3}|l\d{1,2}s?|rtx|\d0[5-9]0|mi\d{3}x?|gb\d{3}|[av]\d{3,4}|t4)s?\b|\b\d{4}s?\s?(?:ti|super)\b"
    r"|\d\s?(?:[kmgt]i?b(?:/s)?|gt/s|ms)\b"
)  # flags, errors, cards, sizes
# Suspects whose words are of machines alone; "hot", "cool", "power" and "version" are said of much else.
_PARTS = frozenset({
    "pcie", "p2p", "nvlink", "nccl", "cuda_graph_disabled", "piecewise_graph_off", "prefix_cache_off", "numa",
    "speculative", "attention", "compute", "storage", "host_mem", "memory", "driver",
})  # fmt: skip
# These are said of anything: they count where little else is spoken of ("it is broken again").
_MAYBE = """
    check look inspect diagnos* investigat* debug analy[sz]* fix repair broken? wrong weird odd strange bad
    worse worst terrible horrible problems? issues? trouble errors? fail* down dead died faster? quick*
    speed health* status up off lost drop* memory load network update[ds]? upgrade[ds]? restart* reboot*
    starts? version hot heat power clocks? cold noisy waits? waiting takes? took seconds? secs? minutes? why
    again compare same different change[ds]? happen* works? working respon* answers? request users unusable ok okay
    fine
"""
_FILLER = """
    it its it's this that these those there here the an? is are was were be been has have had do does did doing
    done not no isn't doesn't don't won't can't so very really too all everything something anything nothing
    things? stuff what what's whats how when where which who please pls plz can could would will you u
    someone somebody anyone i we me us my our they he she to of on in at for with since after before from by
    as than and or but if just still now today yesterday morning tonight night week last monday tuesday
    wednesday thursday friday saturday sunday hey hi hello also gets? got getting go goes going went gone
    see take feels? seems? looks? much more less many few times? bit lot every always sometimes ago shit
    shitty fuck* damn hell wtf crap into over like need want help let let's one both first second other try
    run keeps? suddenly
"""
_SURELY = re.compile(f"{any_of(_SERVING)}|{_ALSO_SERVING}", re.IGNORECASE)
_PERHAPS = re.compile(any_of(_MAYBE), re.IGNORECASE)
_SAYS_NOTHING = re.compile(rf"[^\w*+/=]*|\d+|{any_of(_FILLER)}", re.IGNORECASE)


def surely_about_serving(text: str) -> bool:
    """Say whether a text holds a word that is of servers and models alone."""
    text = plain(text)
    return bool(_SURELY.search(text) or interest(text).suspects & _PARTS)


def about_serving(text: str) -> bool:
    """Say whether a text is, or may be, about serving a model."""
    if surely_about_serving(text):
        return True
    text = plain(text)
    words = (word.strip(".,!?:;\"'()") for word in _PERHAPS.sub(" ", text).split())
    strange = [word for word in words if not _SAYS_NOTHING.fullmatch(word)]
    return len(set(_PERHAPS.findall(text.lower()))) >= len(strange)
