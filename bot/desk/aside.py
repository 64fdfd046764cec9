"""What is not about serving a model, and what asks about ourselves; in doubt it is about serving."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from bot.question import Question
from bot.question.plain import plain
from bot.question.subject import about_serving, any_of, surely_about_serving

Beside = Literal["aside", "help"]

_POLITE = (
    r"^(?:(?:hey|hi|hello|ok|so|and|but|wait|please|pls|bot|just|(?:can|could|would|will) you|do you know"
    r"|i want you to)[\s,]+)*"
)
# Wishes that no question about a server begins with.
_OTHER_WISH = re.compile(
    rf"{_POLITE}(?:(?:write|compose|draft|make up|create|draw|paint|sing|generate)\s+(?:me\s+|us\s+)?"
    r"(?:an?|the|some|my)\s"
    r"|tell\s+(?:me|us)\s+(?:a|another|some)\s|(?:translate|recommend|book|order|buy|play|google|remind\s+me)\s"
    r"|summari[sz]e\s+(?:this\s+)?(?:article|email|paper|book)"
    r"|who\s+(?:won|wins|is\s+(?:the\s+)?(?:president|ceo|king|queen|chancellor|mayor))\b"
    r"|what(?:'s|\s+is)\s+(?:the\s+)?(?:weather|capital|time|date|meaning\s+of\s+life|square\s+root)\b"
    r"|what\s+(?:time|day)\b|how\s+(?:old|tall|far)\b|how\s+much\s+(?:does|do|is|are|would)\b.*\b(?:costs?|price|worth)\b"
    r"|(?:what(?:'s|\s+is)\s+)?(?:the\s+)?prices?\s+(?:of|for)\b|will\s+it\s+rain\b"
    r"|where\s+(?:can|could|do|should)\s+(?:i|we)\s+(?:buy|eat|go|order|get)\b)",
    re.IGNORECASE,
)
_OTHER_WISH_IN_CHINESE = re.compile(
    r"天气|笑话|写(?:一?首|一?篇|个|一?封)|翻译|吃什么|午饭|晚饭|多少钱|股票|电影|唱首?歌|几点"
)
# What people wonder about a bot, and not what they would have it do.
_OURS = any_of(
    "know keep store save use uses run runs work need support speak talk read access log send change modify write touch"
    " understand remember learn cost do offer trust made built wrote trained leak share break"
)
_SEE_MINE = (
    r"\b(?:see|reach|get|look (?:at|into)) (?:my|our|all|other|private|everything|everyone)\b"
)
_YOU = r"\b(?:you|u)\b"
_OF_US = re.compile(
    rf"{_POLITE}(?:(?:do|can|could|will|would|did|have|should|may|how|what|which|who|why|where|when)\b"
    rf"[^?]{{0,40}}{_YOU}[^?]{{0,25}}?(?:{_OURS}|{_SEE_MINE})"
    rf"|(?:who|what|which|how|can|may|should)\b[^?]{{0,30}}{_OURS} {_YOU}"
    rf"|(?:(?:where|what|who|how|which)\b[^?]{{0,20}} )?(?:are|were) {_YOU}"
    r"|(?:is|are|does)\s+(?:it|this|this bot|the bot|perfsleuth|my data|our data)\b"
    r"[^?]*\b(?:safe|secure|read-?only|free|open source|private|stored|logged|an? (?:bot|ai|llm))\b"
    r"|(?:你|您)(?:是|能|会|可以|有没有|支持))",
    re.IGNORECASE,
)
_WHAT_WE_DO = re.compile(
    rf"{_POLITE}(?:(?:what|which)\b[^?]{{0,40}} (?:can|could) {_YOU} (?!think|feel|recommend|tell|say)"
    rf"|are {_YOU} (?:able|allowed)\b)",
    re.IGNORECASE,
)
# What follows "can you" when it asks us to work, or for an opinion, and not what we are.
_NOT_OF_US = re.compile(
    any_of(
        "check find tell diagnos* investigat* debug analy[sz]* help explain compare figure inspect slow*"
        " fix say show think feel like prefer believe recommend"
    ),
    re.IGNORECASE,
)


def beside(text: str, hosts: Collection[str] = ()) -> Beside | None:
    """Return what a message is that is not about a server; None where it is or may be about one."""
    read = plain(text)
    in_chinese = _OTHER_WISH_IN_CHINESE.search(read)
    if _OTHER_WISH.search(read) or (in_chinese and not surely_about_serving(read)):
        return "aside"
    asked = Question.of(text, hosts)
    if asked.hosts or asked.port or asked.now_tok_s:
        return None
    if _WHAT_WE_DO.search(read) or (_OF_US.search(read) and not _NOT_OF_US.search(read)):
        return "help"
    return None if about_serving(read) else "aside"
