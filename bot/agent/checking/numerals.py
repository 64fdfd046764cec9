"""Numbers however they are written: in words, in other digits, as fractions; told as plain digits."""

# ruff: noqa: E501, SIM905 (patterns and lists of words)

from __future__ import annotations

import re
import unicodedata

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {
    **{word: number for number, word in enumerate(_SMALL)},
    **{word: number * 10 for number, word in enumerate(_TENS, start=2)},
    "dozen": 12,
    "both": 2,
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_WORDS = "|".join([*sorted(_VALUES, key=len, reverse=True), *_SCALES])
_SPELLED = re.compile(
    rf"(?<![\w-])(?:{_WORDS})(?:(?:[ -]|\sand\s)(?:{_WORDS}))*(?![\w-]*\w)", re.IGNORECASE
)
_COUNTED = re.compile(  # what makes of "one" a number, and not a pronoun
    r"\s+(?:gpus?|cards?|links?|streams?|requests?|sequences?|errors?|xids?|samples?|steps?|layers?|ranks?|tokens?"
    r"|lines?|places?|processes|cores?|cpus?|risers?|slots?|sockets?|switch(?:es)?|nodes?|ports?|machines?|servers?|hosts?|seconds?|minutes?|hours?|days?|percent|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_OF_SOME = re.compile(
    r" of (?:the )?(?:\d|both|two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE
)
_NUMBERED = re.compile(r"\b(?:gpu|card|rank|node|xid|socket|core|layer|tp)s?\s$", re.IGNORECASE)
# Comparisons that are numbers: what a figure of ours must be for each.
_RATIOS = (
    (r"\btwice\b|\btwo-?fold\b|\bdoubl(?:es?|ed|ing)\b", "2x"),
    (r"\bthrice\b|\btripl(?:es?|ed|ing)\b|\bthree-?fold\b", "3x"),
    (r"\bquadrupl(?:es?|ed|ing)\b|\bfour-?fold\b", "4x"),
    (r"\btenfold\b|\border of magnitude\b", "10x"),
    (r"\bhalf\b|\bhalv(?:es?|ed|ing)\b", "50 %"),
    (r"\b(?:one |a )third\b", "33.3 %"),
    (r"\btwo[ -]thirds\b", "66.7 %"),
    (r"\b(?:one |a )quarter\b", "25 %"),
    (r"\bthree[ -]quarters\b", "75 %"),
)
_RATIO = tuple((re.compile(words, re.IGNORECASE), figure) for words, figure in _RATIOS)
_TIMES = re.compile(r"(\d)\s*(?:times|-?fold)\b", re.IGNORECASE)
_SHARE = re.compile(r"(\d)\s*(?:percent|per cent|pct)\b", re.IGNORECASE)
_ROMAN = re.compile(r"\b(gen(?:eration)?)[ -]?(i{1,3}|iv|vi?)\b", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6}
_GENERATION = re.compile(r"\bgen(?:eration)?[ -]?(\d)", re.IGNORECASE)

_HAN = {
    char: n for n, chars in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九")) for char in chars
}  # fmt: skip
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4}
_HAN_RUN = re.compile(f"[{''.join([*_HAN, *_HAN_SCALES])}]+")


def plain(text: str) -> str:
    """Return a text with its numbers in plain digits: "both" and "two" as 2, "half" as 50 %, Gen IV as Gen4."""
    text = "".join(map(_digit, unicodedata.normalize("NFKC", text)))
    text = text.replace("−", "-").replace("⁄", "/").replace("百分之一半", "50 %")
    text = re.sub(r"百分之([\d一二两三四五六七八九十百零〇.]+)", lambda m: f"{_han(m[1])} %", text)
    text = text.replace("一半", "50 %")
    text = _HAN_RUN.sub(lambda m: _han(m[0]), text)
    for words, figure in _RATIO:
        text = words.sub(figure, text)
    text = _SPELLED.sub(_spelled, text)
    text = _ROMAN.sub(lambda m: f"Gen{_ROMAN_VALUES[m[2].lower()]}", text)
    text = _GENERATION.sub(r"Gen\1", text)
    return _SHARE.sub(r"\1 %", _TIMES.sub(r"\1x", text))


def _digit(char: str) -> str:
    """Return a decimal digit of any script as ours."""
    value = unicodedata.decimal(char, None)
    return char if value is None else str(value)


def _spelled(found: re.Match[str]) -> str:
    words = re.findall(r"[a-z]+", found[0].lower())
    words = [word for word in words if word != "and"]
    before = found.string[: found.start()]
    counts = _COUNTED.match(found.string, found.end()) or _NUMBERED.search(before)
    if words == ["one"] and not counts and not _OF_SOME.match(found.string, found.end()):
        return found[0]
    total, part = 0, 0
    for word in words:
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            if _SCALES[word] > 100:
                total, part = total + part, 0
        elif _goes_on(part, _VALUES[word]):
            part += _VALUES[word]
        elif word == "dozen" or not part:
            part = max(part, 1) * _VALUES[word] if word == "dozen" else _VALUES[word]
        else:
            return " ".join(str(_VALUES.get(each, _SCALES.get(each, 0))) for each in words)
    return str(total + part)


def _goes_on(part: int, value: int) -> bool:
    tens = part % 100 >= 20 and part % 10 == 0
    return bool(part) and (part % 100 == 0 or (tens and value < 10))


def _han(text: str) -> str:
    if not any(char in _HAN_SCALES for char in text):
        return "".join(str(_HAN.get(char, char)) for char in text)
    total, part = 0, 0
    for char in text:
        if char in _HAN_SCALES:
            total += max(part, 1) * _HAN_SCALES[char]
            part = 0
        elif char in _HAN:
            part = _HAN[char]
    return str(total + part)
