"""What a text claims to know already: who is to blame, and that another version or machine is faster."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from tools.interest import Other

_SENTENCE = re.compile(r"[^.;!?\n]+(?:\.(?=\S)[^.;!?\n]+)*[.;!?]*")
_OPEN = re.compile(
    r"^\W*(?:and |so |but )?(?:what|which|how|where|who|when|why|please|can you|could you|should)\b",
    re.IGNORECASE,
)
_BLAMES = re.compile(
    r"\b(?:must|has to|have to) be\b|\bis (?:the |my |our )?(?:problem|reason|cause|bottleneck|culprit"
    r"|limit|suspect|issue|fault)\b"
    r"|\bbecause of\b|\bdue to\b|\b(?:i|we|they|he|she|somebody|people) (?:think|guess|suspect|bet|believe"
    r"|say|says)\b"
    r"|\b(?:looks|smells|seems|sounds) (?:like|to be)\b|\bprobably\b|\bblame|\bmy (?:guess|suspect)\b"
    r"|\b(?:is|are) (?:broken|degraded|too slow|strangling)\b",
    re.IGNORECASE,
)
_OTHERS: tuple[tuple[Other, re.Pattern[str]], ...] = (
    (
        "version",
        re.compile(
            r"\b(?:upgrad|updat|downgrad)\w+|\b(?:new|newer|old|older|previous|last|latest) (?:version"
            r"|build|image|release|wheel)\b"
            r"|\bpulled\b|\bsince (?:v|sglang |vllm )?\d+\.\d+|\bregress",
            re.IGNORECASE,
        ),
    ),
    (
        "host",
        re.compile(
            r"\b(?:another|other|neighbou?r(?:ing)?|sister|my old|our old) (?:box|host|machine|server|node"
            r"|rig|pod|instance|user|card)e?s?\b"
            r"|\bcolleagues?\b|\b(?:others?|somebody|someone|everyone"
            r"|everybody)(?: else)? (?:\w+ ){0,3}(?:gets?|reports?|makes?|publish\w*|shows?|does|do"
            r"|measures?|has|reaches)\b"
            r"|\b(?:vendor|official|project's|published) (?:\w+ )?(?:demo|table|numbers?|figures?|benchmark)\b",
            re.IGNORECASE,
        ),
    ),
)


def blamed(text: str, suspects: Callable[[str], Collection[str]]) -> frozenset[str]:
    """Return the suspects of those sentences that blame them, or ask whether they are to blame."""
    found: set[str] = set()
    for match in _SENTENCE.finditer(text):
        sentence = match[0]
        asks = sentence.rstrip().endswith("?") and not _OPEN.match(sentence)
        if asks or _BLAMES.search(sentence):
            found |= set(suspects(sentence))
    return frozenset(found)


def faster_elsewhere(text: str) -> Other:
    """Say what is said to be faster: another version, another machine, or nothing of the kind."""
    return next((kind for kind, words in _OTHERS if words.search(text)), "")
