"""Short words that need no reading of a question: greetings, thanks, nods, stop, help, hosts."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Word = Literal["hello", "help", "hosts", "stop", "thanks", "silent"]

_PLEASE = r"(?:please|pls|plz|now|thx|thanks)"
_YOU = r"(?:you|u|ya|this bot|the bot|this thing|this tool|this|perfsleuth)"
_MACHINES = r"(?:hosts?|servers?|machines?|nodes?|boxes|inventory|targets?)"
_LIST = r"(?:please |can you )?(?:list|show|give|tell)(?: me| us)?(?: (?:the|a) list of)?"
_CAN = r"(?: (?:do|can|could|are|is|have|may|should) (?:you|i|we|there)?)"
_KNOWN = (
    r"(?: ?(?:know|see|reach|ask|have|check|look at|access|about|you|available|known|configured|listed|set up"
    r"|monitor(?:ing|ed)?|to|of|covered|support|watch))*"
)
_ALL_OF_YOU = r"(?:there|everyone|everybody|all|team|folks|guys|bot|perfsleuth|friend|again|you|buddy|mate|man)"
_A_NOD = (
    r"(?:ok(?:ay)?|all ?right|cool|great|nice|good|perfect|i see|got it|understood|makes sense|wow|interesting|right"
    r"|好的?|明白了?|知道了|收到|嗯)"
)
_CALLED_OFF = (
    r"(?:please\s+)?(?:stop|cancel|abort|halt)(?:\s+(?:it|this|that|now|everything|looking|please)){0,2}",
    r"(?:请)?(?:停|停止|停下|停下来|停一下|取消|终止|别查了|不用查了|停止检查)(?:吧|了)?",
)
_CALLED_OFF_BY_A_MENTION = (
    rf"(?:(?:ok|{_PLEASE}),?\s+)*(?:stop|cancel|abort|halt|quit)"
    r"(?:\s+(?:it|this|that|all|everything|everything else|looking|checking|right now|immediately"
    rf"|the (?:check|run|job|investigation|diagnosis)|{_PLEASE}))*",
    r"(?:never ?mind|nvm|forget (?:it|that|about it)|don't bother|算了)(?:,? (?:please|thanks|stop|cancel))?",
)
_FORMS: tuple[tuple[Word, tuple[str, ...]], ...] = (
    ("stop", (*_CALLED_OFF, *_CALLED_OFF_BY_A_MENTION)),
    ("hello", (
        r"",
        r"(?:hi+|hello+|hey+|hiya|yo|howdy|moin|hola|sup|greetings|morning|ping|test(?:ing)?|what'?s up|how's it going"
        r"|good (?:morning|afternoon|evening|day|night)|how are you(?: doing| today)*"
        r"|(?:is )?any(?:one|body) (?:there|here|home))"
        rf"(?:[ ,!?.]+(?:{_ALL_OF_YOU}|hi|hello|how are you|good morning))*",
        r"你好[啊呀]?|您好|大家好|嗨|早上好|早|早安|下午好|晚上好|在吗|在不在|在么|哈喽",
    )),
    ("help", (
        r"(?:please )?help(?: me)?(?: out)?(?: please)?|usage|commands|menu|manual|docs|\?+|--help|-h|/help|what",
        rf"(?:what|how much) (?:else )?(?:can|do|could) (?:{_YOU}|it) (?:do|know|offer|support)(?: for (?:me|us))?",
        r"what (?:can|could|should|may) (?:i|we) ask(?: (?:you|u|here))?",
        rf"how (?:do|can|should|would) (?:i|we) (?:use|ask|talk to|start with) {_YOU}",
        rf"how (?:do|does) {_YOU} work|how to use(?: {_YOU})?",
        rf"(?:who|what)(?: the \w+)? (?:are|r|is) {_YOU}(?: (?:exactly|for|about|anyway|good for))*",
        r"(?:are|r) (?:you|u) (?:an? |real|the )?(?:\w+ )?(?:ai|bot|llm|human|person|robot|machine|chatgpt|gpt|claude"
        r"|real|alive|there|awake|up|online|working)",
        r"(?:你)?(?:能|会|可以)(?:做|干|帮我做)(?:什么|些什么|啥)|你是谁|你是什么|帮助|使用说明|求助",
        r"怎么用(?:你)?|如何使用|(?:我)?(?:能|可以)问(?:你)?(?:什么|啥)",
    )),
    ("hosts", (
        rf"(?:{_LIST} )?(?:(?:all|the|your|my|our|known|available) )*{_MACHINES}(?: list)?",
        rf"(?:which|what|how many) (?:\w+ )?{_MACHINES}(?:{_CAN}{_KNOWN})?",
        rf"what(?:'s| is| are)(?: in)? (?:your|the) (?:known )?{_MACHINES}",
        r"(?:你)?(?:知道|认识|能看|能查|支持)?(?:有)?(?:哪些|什么|哪几台)(?:机器|主机|服务器|节点)(?:可以(?:查|问|看))?",
        r"(?:列出|显示|列一下)(?:所有)?(?:机器|主机|服务器|节点)(?:列表)?|(?:机器|主机|服务器)列表",
    )),
    ("thanks", (
        r"(?:(?:ok(?:ay)?|great|perfect|nice|cool|awesome|got it|no|yes|good|super|many|much)[,! ]+)*"
        r"(?:thanks?(?:[ -]you)?|thank u|thx|tnx|ty|tysm|cheers|much appreciated|appreciated?(?: it)?)"
        r"(?:[,!. ].{0,60})?",
        r"(?:太|非常|十分|好的?[,]?)?(?:谢谢|多谢|感谢|谢了|谢啦|辛苦了)(?:你|您|啦|了|大家)?(?:[,!]?(?:很有用|帮大忙了|非常感谢|谢谢))?",
        r"(?:great|good|nice|well) (?:job|work|done)(?: bot)?|you(?:'re| are) (?:great|awesome|the best)|厉害|太棒了",
    )),
    ("silent", (rf"{_A_NOD}(?:,? {_A_NOD})?",)),
)  # fmt: skip
_WORDS = tuple((word, tuple(re.compile(form) for form in forms)) for word, forms in _FORMS)
_STOPS = tuple(re.compile(form) for form in _CALLED_OFF)
_GREETED = re.compile(
    r"^(?:(?:hi+|hello|hey+|yo|ok(?:ay)?|so|well|please|@?perfsleuth|bot)[ ,.!?:]+"
    r"|(?:你好|您好|请问|嗨)[ ,.!?:]*)+(?=\S)"
)
_COURTESY = re.compile(r"[ ,.!]+(?:please|pls|plz|perfsleuth|bot|for me|for us)$")
_ASKS_ON = re.compile(
    r"\?|\d|\b(?:why|what|how|which|where|show|check|but|compare|look|can|could|now|please|also|is|are|explain|grep|who)\b"
)
_LONGEST = 160  # characters: who writes more asks something
_EDGES = " \t\n.!?,;:~…。！？，)"
_PICTURES = re.compile(r"[^\w\s'’.,!?;:/-]+|:[a-z_+\d-]{2,30}:")


def small_talk(text: str) -> Word | None:
    """Return what a short message to us is, or None where it is more than that."""
    if len(text) > _LONGEST:
        return None
    bare = _bare(text)
    found = _word(bare) or _word(_COURTESY.sub("", _GREETED.sub("", bare)))
    if found == "thanks" and ("?" in text or _ASKS_ON.search(bare)):
        return None
    return found


def _word(bare: str) -> Word | None:
    fit = (word for word, forms in _WORDS if any(form.fullmatch(bare) for form in forms))
    return next(fit, None)


def stops(text: str) -> bool:
    """Say whether a message that is not addressed to us still tells us to stop."""
    return any(form.fullmatch(_bare(text)) for form in _STOPS)


def _bare(text: str) -> str:
    text = _PICTURES.sub(" ", unicodedata.normalize("NFKC", text).lower())
    return " ".join(text.replace("’", "'").split()).strip(_EDGES)
