"""Words for what a person suspects: ids and layers of the catalogue, and whether words are about nothing else."""

from __future__ import annotations

import re

from bot.question.topics import interest

# Finer than the layers of bot/question/topics.py: a word that means certain causes.
_CAUSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"power[ -]?(?:cap|limit)s?|\bcapped\b|watt limit", ("power_cap_low", "power_cap_normal")),
    (r"power[ -]?brake", ("hw_power_brake",)),
    (r"\bclocks?\b|\bsm clock", ("clocks_locked", "mem_clock_low")),
    (r"memory clock", ("mem_clock_low", "mem_clock_p2_by_design")),
    (r"overlap", ("overlap_off_spec_v1",)),
    (r"kv[- ]?(?:cache|pool)|retract", ("kv_pool_small",)),
    (r"mamba|state pool", ("mamba_state_cap",)),
    (r"de-?tokeni[sz]|tokeni[sz]er", ("detokenizer_saturated",)),
    (r"grammar|json schema|structured output", ("grammar_spec_sync", "grammar_compile_cpu_throttle")),
    (r"chunk", ("chunked_prefill_stalls",)),
    (r"persistence", ("persistence_off",)),
    (r"\bxids?\b", ("xid_79_fallen_off_bus", "xid_ecc_uncorrectable", "xid_gsp_timeout", "xid_app_faults")),
    (r"\becc\b", ("ecc_on_gddr6", "xid_ecc_uncorrectable", "sbe_storm")),
    (r"\bmig\b", ("mig_slice",)),
    (r"\bmps\b", ("mps_limits",)),
    (r"\bacs\b", ("acs_redirect",)),
    (r"iommu", ("iommu_translating",)),
    (r"aspm", ("pcie_aspm_link_down",)),
    (r"governor", ("cpu_governor_powersave",)),
    (r"cgroup|cpu quota|cpu limit", ("cpu_cgroup_throttled",)),
    (r"\bswap", ("memory_pressure_swap",)),
    (r"\bshm\b|shared memory", ("shm_too_small",)),
    (r"long context|context length", ("long_context",)),
    (r"attention backend", ("attention_backend_fallback",)),
    (r"\bmoe\b|experts?", ("moe_config_missing",)),
    (r"\btp\b|tensor parallel", ("tp_on_slow_link", "wrong_tp_size")),
    (r"infiniband|\bib\b|rdma", ("nccl_ib_disable_multinode", "nccl_socket_fallback", "rdma_lib_missing")),
    (r"confidential", ("cc_mode_host_sync",)),
    (r"\bdisks?\b|storage", ("storage_load_bound",)),
    (r"accept(?:ance)?(?: len| rate)", ("acceptance_drop", "draft_head_broken")),
    (r"batch|max[- _]running", ("batching_limits", "cuda_graph_bs_exceeded")),
)  # fmt: skip
_WORDS = tuple((re.compile(words, re.IGNORECASE), ids) for words, ids in _CAUSES)

_FILLER = re.compile(
    r"the|a|an|any|some|our|my|your|its|it|this|that|there|of|in|on|for|at|with|by|from|not|just"
    r"|really|maybe|actually|also|or|and|to|be|is"
)
# What may stand beside a suspect without making the words a talk about something else.
_BESIDE = re.compile(
    r"limit|limits|limited|cap|capped|link|links|lane|lanes|width|speed|counter|counters|clock|clocks"
    r"|error|errors|cache|pool|flag|flags|setting|settings|usage|issue|issues|problem|problems|thing"
    r"|stuff|bottleneck|state|status|memory|gpu|gpus|server|host|engine|version|mode|backend|size"
    r"|length|count|rate|low|high|bad|broken|off|on|down|decode|prefill|graph|graphs|throttling"
    r"|throttled|throttle|slow|environment|variable|variables|fault|faults|enabled|disabled|cause"
    r"|culprit|driver|kernel|kernels|log|access|control|full|too|small|queue|schedule|custom"
)
_WORD = re.compile(r"[\w./+-]+")
_FLAG = re.compile(
    r"(?:--)?[a-z][a-z0-9]*(?:[_-][a-z0-9]+){1,9}(?:=\S{1,40})?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
_MOST_WORDS = 7


def suspects(text: str) -> frozenset[str]:
    """Return what a text suspects: layers and cause ids, the finer ones too."""
    finer = {name for words, ids in _WORDS if words.search(text) for name in ids}
    return interest(text).suspects | finer


def named(text: str) -> frozenset[str]:
    """Return the causes that a text means by a word of its own, without the broad layers."""
    return frozenset(name for words, ids in _WORDS if words.search(text) for name in ids)


def flag(text: str) -> str:
    """Return the one flag or variable that a text is: "disable_overlap_schedule"; empty if it is none."""
    words = [
        word
        for word in text.split()
        if not _FILLER.fullmatch(word.lower()) and word not in ("flag", "set")
    ]
    if len(words) != 1 or not _FLAG.fullmatch(words[0]):
        return ""
    return words[0].partition("=")[0].removeprefix("--")


def topical(text: str) -> frozenset[str]:
    """Return what a short text suspects, if every word of it is about that; else nothing."""
    words = _WORD.findall(text.lower())
    if not 0 < len(words) <= _MOST_WORDS:
        return frozenset()
    found = suspects(text)
    rest = [
        one
        for one in words
        if not _FILLER.fullmatch(one) and not _BESIDE.fullmatch(one) and not suspects(one)
    ]
    return found if found and all(_in_a_phrase(one, text) for one in rest) else frozenset()


def _in_a_phrase(word: str, text: str) -> bool:
    """Say whether a word means something only together with its neighbours: the "cuda" of CUDA graphs."""
    without = re.sub(rf"\b{re.escape(word)}\b", " ", text, flags=re.IGNORECASE)
    return suspects(without) != suspects(text)
