"""The words by which a sentence blames, clears, guesses, or says what kind of fault it is."""

# ruff: noqa: E501, SIM905 (patterns and lists of words)

from __future__ import annotations

import re

from bot.agent.checking.stems import stem

# Words that name no cause by themselves.
GENERIC = frozenset(map(stem, (
    "gpu gpus card server host machine model engine request requests run system node problem issue cause reason blame slow limit"
    " limited bound big main real root actual everything something thing speed performance latency throughput decode prefill"
    " token rate fine healthy ok okay normal work works wrong good nothing sign trouble problems responsible culprit bottleneck"
    " explain explains due because doubt beyond opinion verdict answer guilty behind result lead leads come comes from fault"
    " problem hurt hurts lose loses losing lost cost costs stuck this that all here there much very simply clearly"
).split()))  # fmt: skip
MEANT = re.compile(
    r"\bverdict (?:is|was) not (?!decided)|\bverdict (?:is|was|seems|looks) (?:wrong|incorrect|mistaken|false|nonsense)|\bignore (?:the|this|that)\b"
    r"|\bnot (?:trust|believe)\b",
    re.IGNORECASE,
)
LIKEWISE = re.compile(  # what is said of one thing stretches to another, of which no figure stands there
    r"\btoo(?=\W*$|[.,;])|\b(?:as well|likewise)(?=\W*$|[.,;])|\bso (?:do|does|is|are|has|have) (?!far|many|much)"
    r"|\bthe same (?:goes|holds|is true|applies)\b",
    re.IGNORECASE,
)
IDLE = re.compile(
    r"\bno (?:action|change|fix|repair|remedy) (?:is |are )?(?:needed|required|necessary)|\bnothing (?:needs|to do|to be done|has to)",
    re.IGNORECASE,
)
BROAD = frozenset({"sglang", "measurement", "client"})  # layers whose words are everywhere
CAUSAL = re.compile(
    r"\bcaus(?:e|ed|es|ing|al)\b|\bbecause\b|\bdue to\b|\bculprit|\bblame\b|\breason\b|\broot\b|\bresponsible\b"
    r"|\bstems? from\b|\bexplains?\b|\bbottleneck|\blimits?\b|\bslows?\b|\bthrottles?\b|\bholds? (?:it |this |everything )?back\b|\bresults? (?:of|from|in)\b|\b(?:problem|issue|fault|answer|trouble) (?:is|lies|here)\b"
    r"|\bthanks to\b|\bcomes? from\b|\bdriven by\b|\b(?:limited|bound|held back|slowed|throttled) by\b|\btraced? (?:back )?to\b"
    r"|\bowing to\b|\bleads? to\b|\bbehind (?:it|this|the)\b|\bguilty\b|\bsince the\b|\bfrom the\b.*\bslow",
    re.IGNORECASE,
)
BLAMES = re.compile(
    r"\b(?:slow\w*|throttl\w+|broken|fault\w*|fail\w*|bad|degraded|problem\w*|issues?|wrong|hurts?|hamper\w*|saturat\w*"
    r"|starv\w*|overheat\w*|costs?|losing|loses|bugs?|buggy|misconfigured|stuck|exhausted|leak\w*|corrupt\w*|defect\w*"
    r"|dead|dying|out of memory|runs? out|ran out|running out|insufficient|too (?:low|small|few|hot|slow|high))\b",
    re.IGNORECASE,
)
CLEARS = re.compile(
    r"\b(?:fine|healthy|ok|okay|normal\w*|works?|working|irrelevant|harmless|optimal\w*|perfect\w*|excluded|exclude|good"
    r"|ruled out|innocent|unaffected|unrelated|in order|excellent|great|correct(?:ly)?|full speed|as it should|no issue"
    r"|ignored?|nothing to do)\b",
    re.IGNORECASE,
)
EXCLUDES = re.compile(
    r"\b(?:excluded?|ruled out|not the (?:case|cause)|not so|dismissed)\b", re.IGNORECASE
)
HEDGED = re.compile(
    r"\b(?:whether|may|might|perhaps|possibly|unknown|unclear|open|undecided|inconclusive|could not|couldn't|cannot|can't"
    r"|not (?:yet )?(?:been )?(?:seen|checked|decided|known|read)|unchecked|not decided|to check|would settle|would decide)\b",
    re.IGNORECASE,
)
GUESSES = re.compile(  # an idea has a place of its own, with the test that would prove it
    r"\b(?:may|might|perhaps|possibly|maybe|could (?:well )?be|likely|probably|presumably|seems?|appears?|suspect(?:ed|s)?"
    r"|i (?:think|believe|guess|assume))\b",
    re.IGNORECASE,
)
CERTAIN = re.compile(
    r"\b(?:certain(?:ly)?|definite(?:ly)?|undoubtedly|no doubt|proven|proves?|guaranteed?|absolutely|obviously|clearly"
    r"|without question|sure(?:ly)?|always|never|impossible)\b",
    re.IGNORECASE,
)
TRUST = re.compile(
    r"\b(high|medium|low)\s+confidence\b|\bconfidence\s+(?:is\s+)?(high|medium|low)\b", re.I
)
KINDS: dict[str, re.Pattern[str]] = {
    "hardware": re.compile(r"\bhardware\b", re.IGNORECASE),
    "config": re.compile(r"\b(?:mis)?config(?:ur\w+)?\b", re.IGNORECASE),
    "software_bug": re.compile(r"\bsoftware(?:_bug)?\b|\bbugs?\b", re.IGNORECASE),
    "workload": re.compile(r"\bworkload\b", re.IGNORECASE),
    "at_ceiling": re.compile(r"\bat (?:the|its) (?:ceiling|limit|maximum)\b|\bat_ceiling\b|\bno headroom\b", re.I),
    "no_fault": re.compile(r"\bnothing is wrong\b|\bno[ _](?:fault|problem|issue)\b|\ball(?: is)? (?:fine|well)\b", re.I),
    "inconclusive": re.compile(r"\binconclusive\b|\bcannot be decided\b|\bnot decided\b|\bundecided\b", re.I),
}  # fmt: skip
DENIED_KIND = re.compile(
    r"\b(?:not?|never|isn't|without)\s+(?:(?:a|an|the|any)\s+)?(?:\w+\s+)?(?:hardware|(?:mis)?config|settings?|software|bugs?|workload|at)\b",
    re.IGNORECASE,
)
ASSERTS = re.compile(
    r"\b(?:is|are|was|it's|this|problem|issue|fault|verdict|a|an|the)\b|^\W*\w+\s*:", re.IGNORECASE
)
