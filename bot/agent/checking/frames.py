"""The ways in which people say what a verdict says: brought to our own words, in a sentence and in a line alike."""

# ruff: noqa: E501 (patterns)

from __future__ import annotations

import re

_THE = r"(?:the |a |an |its |real |root |actual |main |first |best )*"
# Each is one part of a verdict's structure: cause, what is excluded, what is open, what to do, its risk, its proof.
_FRAMES = tuple(
    (re.compile(words, re.IGNORECASE), ours)
    for words, ours in (
        (r"\b(?:may|could|can|might) not\b|\b(?:can|could)n't\b", "cannot"),
        (rf"\b(?:is|are|was|were) not {_THE}(?:cause|culprit|reason|bottleneck|case)\b", "is excluded"),
        (r"\b(?:is|are|was|were) not (?:to blame|responsible|at fault|involved)\b", "is excluded"),
        (r"\b(?:(?:have|has) been |be |was |were |is |are )?(?:ruled out|dismissed|excluded)(?: (?:by|from) what was seen)?\b", "is excluded"),
        (rf"\b{_THE}(?:culprit|bottleneck)s?\b", "the cause"),
        (r"\b(?:to blame|responsible|at fault|guilty)\b", "the cause"),
        (r"\bcannot be (?:checked|known|told)(?! whether)\b|\b(?:was|were|is|are) not (?:checked|known)\b|\b(?:is|are|remains?|stays?) (?:open|unknown|unclear|unchecked)\b", "is unchecked"),
        (r"\b(?:it )?(?:cannot be|was not|could not) (?:be )?check(?:ed)? whether\b|\b(?:it )?is (?:not known|unknown|unclear|open) whether\b", "cannot check whether"),
        (r"\b(?:it|this|that|here it) is (?:a |an |the )?([\w ]{3,24}?) (?:problem|fault|issue|matter)\b", r"the verdict is \1"),
        (r"\bthe (?:problem|fault|issue|trouble) is (?=\w+(?:$|[,.]))", "the verdict is "),
        (r"\bthe (?:problem|fault|issue|trouble|cause) (?:is|lies in|lies with)\b", "the cause is"),
        (r"\b(?:get|bring|win|have) (the [\w ]{3,24}?) back\b", r"fix \1"),
        (r"\b(?:once|after|when|if) (the \w+) (?:is|are|was|were|has been|have been) (repaired|fixed|replaced)\b", r"with \1 \2"),
        (r"\b(?:is|was|are|were) (?:disabled|(?:switched |turned )?off) by\b", "is off, by"),
    )
)  # fmt: skip
_LEADS = re.compile(
    r"^\W*(?:in short|overall|in summary|so|then|next|first|also|now|finally|please|meanwhile|here|afterwards|instead)\b,? *",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"^(?:{_THE}(?:fix|remedy|cure|solution|step|thing to do|recommendation|one test that decides|test(?: that decides)?|way to (?:fix|decide|test) \w+)"
    r"(?: for (?:it|this|that))? (?:is|would be) (?:to )?|to (?:fix|cure|solve|decide|settle|test) (?:it|this|that),? (?:first )?"
    r"|(?:run|try|perform|repeat) (?=the )|(?:you|one|we|they) (?:should|must|can|could|have to|need to) (?:first )?|(?:it is|is) (?:best|recommended|advised) to )",
    re.IGNORECASE,
)
_RISK = re.compile(
    rf"^(?:{_THE}risks? (?:of (?:it|this|that) )?is (?:that )?|(?:this|that|it|doing (?:so|that)|the (?:fix|remedy)) (?:needs|requires|involves|means|takes) )",
    re.IGNORECASE,
)
_PROOF = re.compile(
    r"^(?:to (?:verify|check|confirm|prove|see)(?: (?:it|this|that|the fix|the repair))?,? |(?:it is|is) (?:verified|fixed|proven) (?:when|if|once) |(?:verify|check|confirm)(?: then)? that )",
    re.IGNORECASE,
)


def framed(text: str) -> str:
    """Return a text with what people say for a part of a verdict in our own words."""
    for words, ours in _FRAMES:
        text = words.sub(ours, text)
    return text


def readings(text: str) -> list[str]:
    """Return what a sentence may be: as it is; a step, a risk or a proof, where it is told as one."""
    bare = _LEADS.sub("", text)
    told = [text] if bare == text else [text, bare]
    for frame, ours in ((_STEP, ""), (_RISK, "Risk: "), (_PROOF, "Verify: ")):
        if found := frame.match(bare):
            told += [ours + bare[found.end() :], bare[found.end() :]]
    return told
