"""The forms in which people ask after a verdict: whole sentences, so that talk around them is none."""

# ruff: noqa: E501 (one form a line)

from __future__ import annotations

import re

_WHAT = r"(?P<what>[^?!]{2,120}?)"
_SHOW = r"(?:show|give|post|print|attach|send|let (?:me|us) see|i(?:'d| would) like to see)(?: (?:me|us))?"
_THE = r"(?:the |its |that |all |your )*"
_LOG = rf"{_THE}(?:serve(?:r)? )?logs?"
_IT = r"(?: (?:it|this|that))?"
_FLAG_WAS = r"(?:set|sets|switch(?:ed|es)|turn(?:ed|s)|disabled?s?|enabled?s?|changed|chose|picked)"
_HEALTHY = (
    r"(?:ok(?:ay)?|fine|healthy|good|the (?:cause|culprit|problem|reason|bottleneck)|to blame|involved|used|in use"
    r"|working|throttled|throttling|limiting)"
)
_SEEN = (
    r"(?:check(?:ed)?|look(?:ed)? (?:at|into)|consider(?:ed)?|th(?:ink|ought) of|rule(?:d)? out|exclude(?:d)?"
    r"|test(?:ed)?|see|seen)"
)

# The reader of bot/followup/intent.py, and the sentences that it reads; the first that fits counts.
_FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpu", (
        r"(?:what about |how about |how(?: is|'s) |is |and |show (?:me )?|what do you know (?:about|of) )?(?:the )?"
        r"gpu ?#?(?P<gpu>\d{1,3})(?: (?:ok(?:ay)?|fine|slow|slower|healthy|doing|different|too|broken|throttled|at fault))*",
        r"what(?: is|'s) (?:wrong|different|up|going on) (?:with|on|about) gpu ?#?(?P<gpu>\d{1,3})",
        r"(?:how does|does) gpu ?#?(?P<gpu>\d{1,3}) (?:differ|compare|look)(?: .{2,40})?",
    )),
    ("looks", (
        rf"(?:{_SHOW} |what(?: is|'s| was)(?: in)? |open |and )?(?:the )?(?:look |evidence )?"
        r"e\d{1,3}(?:(?: ?, ?| and | ?\+ ?| )e\d{1,3}){0,5}",
    )),
    ("lines", (
        rf"{_SHOW} {_THE}(?:serve(?:r)? )?(?:log )?lines(?: from {_LOG}| of {_LOG}| in {_LOG})?",
        rf"{_SHOW} {_LOG}",
        r"(?:which|what) (?:log )?lines (?:show|prove|say)(?:s)? (?:that|it|this|so)",
        rf"what does {_LOG} (?:say|show)",
    )),
    ("grep", (
        rf"{_SHOW} {_THE}(?:serve(?:r)? )?(?:log )?lines (?:about|with|for|that (?:say|hold|mention|contain)) (?P<what>.{{2,80}}?)",
        rf"(?:grep|search)(?: (?:in|through))?(?: {_LOG})? (?:for )?(?P<what>.{{2,120}}?)(?: (?:in|from) {_LOG})?",
        rf"(?:does|did) {_LOG} (?:say|mention|contain|hold|show) (?:anything about )?(?P<what>['\"`]?[\w.:-]{{3,60}}['\"`]?)",
    )),
    ("shown", (
        rf"{_SHOW} {_WHAT}",
        r"(?:where(?: is|'s)|what(?: is|'s)) (?P<what>(?:the |your )?(?:raw )?(?:evidence|proof|raw (?:data|output)))",
    )),
    ("what_if", (
        rf"what if {_WHAT}",
        rf"(?:suppose|supposing|assume|assuming) {_WHAT}",
        r"(?:how (?:fast|much faster|slow)|what) would (?:it|that|this|we) (?:be|give|bring|get|do) (?P<what>(?:with|on|at|if|over|from|without) .{2,100})",
        rf"(?:what|how much) would {_WHAT} (?:give|bring|gain|change|cost|help|do|save)(?: (?:us|me|here|you))?",
        rf"would {_WHAT} (?:help|be (?:faster|better|worth it)|make (?:it|this|a difference)(?: faster)?|change anything)(?: here)?",
        r"(?:and )?(?P<what>(?:with(?:out)?|over|at) (?:an? )?(?:nvlink|bridge|gen ?\d|pcie gen ?\d|x\d{1,2}|p2p|tp ?\d|accept len\w* [\d.,]+))",
    )),
    ("again", (
        rf"(?:re-?check|re-?run|check|look|run|measure|test|try|diagnose){_IT}(?: the (?:host|server|machine))? (?:once more|again|anew)",
        r"re-?(?:check|run|test|measure|diagnose)(?: (?:it|this|that))?|(?:once more|again)",
        r"is it (?:fixed|better|ok(?:ay)?|repaired|healthy) now",
    )),
    ("compare", (
        rf"compare{_IT}(?: (?:with|to|against) (?P<what>.{{2,60}}?))?",
        r"what(?: is|'s) (?:the )?differen(?:t|ce)(?: (?:from|to|with|on|between (?:this|it) and) (?P<what>.{2,60}?))?",
        r"how (?:does|do) (?:it|this|that) (?:differ|compare) (?:from|to|with) (?P<what>.{2,60}?)",
        r"what (?:has |have )?(?:changed|is new)(?: since (?:then|yesterday|the last (?:run|time|check)))?",
    )),
    ("flags", (
        rf"(?:which|what) {_WHAT} (?:flags|arguments|switches|options) (?:does|do|has|have|are|is|can) .{{2,60}}",
        rf"(?:list|{_SHOW})(?: all)?(?: the)? {_WHAT} (?:flags|arguments|switches|options)(?: (?:of|in) (?:our|this|the|your) (?:version|engine|sglang))?",
        r"(?:is|was) (?P<flag>--[a-z][\w-]{1,60}) (?:still )?(?:known|there|valid|supported|a flag|a thing|allowed)(?: .{2,40})?",
        r"(?:does|do|has|have|can) (?:we|.{2,40}? (?:version|sglang|engine|it|server)) (?:still )?(?:know|have|support|take|got)s? (?P<flag>--[a-z][\w-]{1,60})",
    )),
    ("who_set", (
        rf"(?:who|what|which line|which code) (?:has |is )?{_FLAG_WAS}(?: off| on)? {_WHAT}(?: (?:off|on))?",
        rf"where (?:does|did) {_WHAT} come from",
        rf"where is {_WHAT} (?:set|switched off|disabled|enabled)",
        r"why (?:is|was) (?P<what>\S{4,80}) (?:set|on|off|true|false|enabled|disabled|there)",
    )),
    ("why", (
        r"why|how so|explain(?: (?:it|this|that|why|the verdict|yourself))?",
        r"why (?:is|was) (?:that|it|this)(?: so)?|why (?:the|this|that) verdict",
        r"why do you (?:think|say|believe) (?:so|that|this|it)|how do you know(?: (?:that|this|it))?",
        r"what makes you (?:think|say|believe|so sure)(?: (?:so|that|this))?",
        r"how did you (?:find|get to|conclude|find out) (?:that|this|it)(?: out)?|what(?: is|'s) (?:the|your) reasoning",
    )),
    ("plain", (
        r"(?:explain|say|tell)(?: (?:it|this|that|me|us))*(?: to (?:me|us))?"
        r" (?:like|as if|as though) (?:i|we)(?: am|'m| are|'re| were| was)? .{2,40}",
        r"explain(?: (?:it|this|that))?(?: to (?:me|us))? (?:simply|(?:in|with) (?:simple|plain|easy|other) (?:words|terms|english))",
        r"eli5|what does (?:that|this|it|all this) mean|i (?:do not|don't|didn't) (?:understand|get)(?: (?:it|this|that))?",
        r"(?:in )?(?:simple|plain) (?:words|terms|english)",
    )),
    ("sure", (
        r"(?:how|are you) (?:sure|certain|confident)(?: (?:are you|is (?:that|this|it)))?(?: (?:about|of) (?:that|this|it))?",
        r"are you (?:really|absolutely|completely|quite) (?:sure|certain)|how (?:sure|certain|confident) can (?:i|we) be",
        r"what(?: is|'s) (?:the|your) confidence|really",
    )),
    ("todo", (
        r"what (?:should|can|do|must|could) (?:i|we) do(?: about (?:it|this|that))?(?: next| first| now)?",
        r"how (?:do|can|should|would) (?:i|we) (?:fix|repair|solve)(?: (?:it|this|that))|how to fix (?:it|this|that)",
        r"what(?: is|'s) the (?:fix|remedy|next step|solution|repair)|what now|what next|next steps?",
        r"what (?:would|do) you (?:suggest|recommend|propose|advise)",
    )),
    ("unchecked", (
        r"what (?:could|can|did) you (?:not|n't) (?:check|see|look at|test)|what (?:could|did)n't you (?:check|see|look at)",
        r"what have(?:n't you| you not) (?:checked|seen|looked at)|what do(?:n't| not) you know|what do you not know",
        r"what (?:is|'s|are|was) (?:still )?(?:unchecked|open|missing|unknown|not checked)|what(?:'s)? still (?:unchecked|open)",
        r"what (?:did|could) you (?:have )?miss(?:ed)?|what else could it be",
    )),
    ("help", (
        r"help|commands|what (?:else )?can (?:you do|(?:i|we) ask(?: you)?)|how do (?:i|we) use you|how does this work",
    )),
    ("why_not", (
        rf"why not {_WHAT}",
        rf"why (?:is it not|isn't it|can't it be|could it not be|not because of) {_WHAT}",
        rf"(?:is|isn't|was|could|can|might|couldn't) (?:it|this|that)(?: not)?(?: be| about| caused by| because of| due to)* {_WHAT}",
        rf"(?:did|have|had) you (?:also )?{_SEEN}(?: for)? {_WHAT}",
        rf"(?:are|is) {_WHAT} {_HEALTHY}",
        rf"are you (?:sure|certain) (?:that )?(?:it(?: is|'s) not|it isn't|about) {_WHAT}",
    )),
    ("what_about", (
        rf"(?:and |or )?(?:what|how) about {_WHAT}",
        r"(?P<what>(?:the )?(?:prefill|decode|decoding|ttft|throughput|tail latency|latency|nccl|nvlink|p2p|cuda graphs|power))",
    )),
)  # fmt: skip

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(words, re.IGNORECASE)) for name, rows in _FORMS for words in rows
)
