"""Follow-ups in Chinese, each said as the English sentence that the readers know."""

# ruff: noqa: E501 (one form a line)

from __future__ import annotations

import re
import unicodedata

from bot.followup.sentence import LONGEST
from bot.question.chinese import in_english_words, is_chinese

_WHAT = r"(?P<what>.{1,40}?)"
_BLAMED = r"(?:的)?(?:问题|原因|导致的|引起的|造成的|锅)?"
_END = r"(?:呢|吗|么|吧|啊|呀|了)?"
_FORMS: tuple[tuple[str, str], ...] = (
    (rf"(?:为什么|为啥|为何|怎么)(?:就)?不(?:是|会是|可能是){_WHAT}{_BLAMED}{_END}", "why not {what}"),
    (rf"(?:会|可能)?(?:是不是|会不会是|有没有可能是)(?:因为)?{_WHAT}{_BLAMED}{_END}", "is it {what}"),
    (rf"{_WHAT}(?:会不会|是不是|有没有可能)(?:就)?(?:是)?(?:问题|原因|瓶颈|元凶)(?:所在)?{_END}", "is it {what}"),
    (rf"(?:难道)?(?:会|可能)?是(?:因为)?{_WHAT}{_BLAMED}(?:吗|么|吧)", "is it {what}"),
    (rf"(?:你)?(?:查过|检查过|看过|排除了?|考虑过){_WHAT}(?:吗|么|没有|没)", "did you check {what}"),
    (rf"{_WHAT}(?:查过|检查过|看过|排除)了?(?:吗|么|没有|没)", "did you check {what}"),
    (r"(?:那|那么)?gpu\s*#?(?P<what>\d{1,3})(?:号)?(?:卡)?(?:呢|怎么样|正常吗|有问题吗|如何)", "what about gpu {what}"),
    (r"(?:那|那么)?(?:第)?(?P<what>\d{1,2})号(?:卡|gpu|显卡)(?:呢|怎么样|正常吗|有问题吗|如何)", "what about gpu {what}"),
    (r"(?:如果|假如|要是|假设)(?:我们)?(?:有|用|加|加上|换成|换|升级到|改成|改为|变成|开|打开|启用)?(?:了)?"
     rf"{_WHAT}(?:的话)?[,\s]*(?:会怎么?样|会如何|能快多少|会快多少|会更快|有用|会好)?{_END}", "what if we had {what}"),
    (r"(?:请|麻烦|帮我)?(?:再|重新)(?:来|查|看|检查|跑|测|试|诊断)(?:一次|一遍|一下|看)?", "check again"),
    (r"(?:现在)?(?:修好|好|恢复)了(?:吗|么|没)", "is it fixed now"),
    (rf"(?:请|帮我)?(?:和|跟|与|同){_WHAT}(?:做|作)?(?:个|一下)?(?:对比|比较|比)(?:一下|下)?", "compare with {what}"),
    (rf"(?:请|帮我)?(?:对比|比较)(?:一下|下)?{_WHAT}", "compare with {what}"),
    (r"(?:有|有了)?(?:什么|哪些|啥)(?:变化|变了|不同|不一样|区别)(?:了)?", "what changed"),
    (r"(?:给我|让我|帮我)?(?:看看|显示|看一下|看下|贴一下|贴|发一下)(?:一下)?(?:相关)?(?:的)?(?:日志|log)(?:行)?", "show the log"),
    (r"(?:给我|让我)?(?:看看|显示|看一下|看下|贴一下)(?:一下)?(?:原始)?(?:证据|数据|输出)", "show me the evidence"),
    (rf"(?:日志|log)(?:里|中)?(?:有没有|搜|搜索|找){_WHAT}", "grep the log for {what}"),
    (r"(?:这个?|那|那么|我们?|要)?(?:该|应该)?(?:怎么|如何|咋)(?:修|修复|解决|办|处理|改|优化)(?:这个)?(?:问题)?", "how do we fix it"),
    (r"(?:我|我们)?(?:应该|该|要|现在)?(?:怎么办|做什么|怎么做)|下一步(?:呢|做什么|怎么办)?|有(?:什么|啥)建议", "what should i do"),
    (r"(?:你)?(?:真的)?(?:确定|肯定|有把握)(?:吗|么)?|有多(?:确定|大把握)|真的吗", "are you sure"),
    (r"(?:为什么|为啥|为何|何以见得|解释一下|解释|怎么得出的|依据是什么|你怎么知道(?:的)?)(?:呢|这么说)?", "why"),
    (r"(?:请)?(?:说|讲|解释)(?:得)?(?:简单|通俗|明白)(?:点|一点|一些|些)?|(?:简单|通俗)(?:点|一点|地)?(?:说|解释|讲)(?:一下)?|(?:我)?(?:没|不)(?:看|听)?(?:懂|明白)", "explain it in simple words"),
    (r"(?:还有)?(?:什么|哪些)(?:还)?(?:没|没有|没能|不能)(?:查|检查|看|确认)(?:到|过|的)?", "what could you not check"),
    (rf"(?:是)?谁(?:把)?(?:设置|设|关闭|关|打开|开|禁用|启用|改)(?:掉|的|了)*{_WHAT}", "who set {what}"),
    (rf"(?:那|那么)?{_WHAT}(?:呢|怎么样|有问题吗|正常吗)", "what about {what}"),
)  # fmt: skip
_READ = tuple((re.compile(form, re.IGNORECASE), said) for form, said in _FORMS)
_EDGES = " \t\n.!?,;:~。！？，"
_BEFORE = re.compile(r"^(?:好的|好|嗯|哦|请问|那|@?perfsleuth)[,\s]+")


def said_in_english(text: str) -> str:
    """Return a follow-up in English where it is one in Chinese that we know; else the text as it is."""
    if len(text) > LONGEST or not is_chinese(text):
        return text
    bare = _BEFORE.sub("", unicodedata.normalize("NFKC", text).strip(_EDGES)).strip(_EDGES)
    for form, said in _READ:
        if found := form.fullmatch(bare):
            what = found.groupdict().get("what") or ""
            return said.format(what=" ".join(in_english_words(what).split()))
    return text
