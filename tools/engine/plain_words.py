"""Results in other languages: the few words and signs that tell of a test, in English."""

from __future__ import annotations

import re

_SIGNS = str.maketrans({
    "：": ": ", "，": ", ", "。": ". ", "；": "; ", "（": " (", "）": ") ", "、": ", ", "→": "->", "\u3000": " "
})  # fmt: skip
# A comma before one or two digits and a unit is a decimal one: thousands have three digits.
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])(\d{1,5}),(\d{1,2})(?=\s?(?:tok|token|t/s|req|GB/s|ms\b|s\b|µs|%))"
)
_IN_A_COLUMN = re.compile(r"((?: {2}|\t|\| ?))(\d{1,5}),(\d{1,2})(?=\s|$|\|)")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_GERMAN = re.compile(
    r"\b(?:ohne|mit|vorher|nachher|davor|danach|jetzt|statt|aus|auf|hängt|gleiche\w*)\b",
    re.IGNORECASE,
)
_TIGHT = re.compile(r"((?<![\d\s])[:,])(?=\S)")  # no space is typed after these
_CLAUSE = r"(?:^|(?<=[,;:(|>.-]))\s*"  # where a clause begins
_FROM_CHINESE = tuple(
    (re.compile(rf" ?(?:{form}) ?"), word)
    for form, word in (
        (_CLAUSE + r"(?:关闭|关掉|禁用|去掉|移除|取消|不加|不用|没有|不开)了?", " without "),
        (_CLAUSE + r"(?:开启|打开|启用|加上|设置|使用|用)了?", " with "),
        (r"(?:关闭|关掉|禁用|去掉|移除)了?", " off "),
        (r"(?:开启|打开|启用)了?", " on "),
        (r"(?:从|由)\s*", " from "),
        (r"(?:下?降|减少?|缩短|升|提升|提高|上升|涨|增加?|变)(?:低|高|成|为)?[到至为成]", " to "),
        (r"(?:之前|以前|原来|原先|修改前|前)(?=\s*(?:[:(,]|是|为|\d|$))", " before "),
        (r"(?:之后|以后|修改后|后)(?=\s*(?:[:(,]|是|为|\d|$))", " after "),
        (r"现在", " now "),
        (r"毫秒", " ms "),
        (r"(?<=\d)\s*秒", " s "),
        (r"首\s?(?:个\s?)?(?:token|字)\s?(?:延迟|时延|时间)?", " ttft "),
        (r"解码", " decode "),
        (r"预填充", " prefill "),
        (r"总?吞吐量?", " throughput "),
        (r"卡住|卡死|挂起|死锁|无响应", " hangs "),
        (r"崩溃|报错|失败", " crash "),
        (r"正常|成功", " works "),
        (r"默认", " default "),
        (r"次(?=平均|取平均)", " runs "),
    )
)
_FROM_GERMAN = tuple(
    (re.compile(rf"\b{form}\b", re.IGNORECASE), word)
    for form, word in (
        (r"ohne", "without"),
        (r"mit", "with"),
        (r"vorher|davor|zuvor", "before"),
        (r"nachher|danach", "after"),
        (r"jetzt", "now"),
        (r"statt", "instead of"),
        (r"von(?= \d)", "from"),
        (r"auf(?= \d)", "to"),
        (r"aus", "off"),
        (r"hängt(?: sich auf)?", "hangs"),
        (r"läuft(?: durch)?", "works"),
        (r"entfernt", "removed"),
    )
)


def in_plain_words(line: str) -> str:
    """Return a line with decimal points, and with the words for on, off, before and after in English."""
    text = _DECIMAL_COMMA.sub(r"\1.\2", line.translate(_SIGNS))
    text = _IN_A_COLUMN.sub(r"\1\2.\3", text)
    if _CHINESE.search(text):
        text = _in_english(_TIGHT.sub(r"\1 ", text), _FROM_CHINESE)
        text = text.replace(" :", ":").replace(" ,", ",")
    if _GERMAN.search(text):
        text = _in_english(text, _FROM_GERMAN)
    return text


def _in_english(text: str, words: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for form, word in words:
        text = form.sub(word, text)
    return text
