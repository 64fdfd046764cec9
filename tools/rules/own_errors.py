"""A server that died of an error that only its own code can make."""

from __future__ import annotations

import re

from tools.engine import ServerLog
from tools.linux.kernel import KernelLog
from tools.rule import Cleared, Finding, Outcome, rule

# What no device, driver, or lack of memory raises in Python: names, types, keys, missing methods.
_CODE = re.compile(
    r"\b(NotImplementedError|AttributeError|TypeError|KeyError|IndexError|NameError|UnboundLocalError"
    r"|ZeroDivisionError|RecursionError)\b(?=:|\s*$)"
)


@rule(cause="server_crashed")
def died_of_its_own_code(log: ServerLog, kernel: KernelLog | None) -> Outcome:
    """The error that ended the server is one of names, types or missing methods."""
    said = [n.text for n in log.said("crash") if _CODE.search(n.text)]
    if not said or not log.decode or log.said("watchdog", "nccl_error", "oom"):
        return None
    if kernel and (kernel.xids or kernel.fallen_off or kernel.oom_kills):
        return Cleared("the kernel log tells of the reason", (kernel,))
    named = _CODE.search(said[-1])
    return Finding(
        f"The server served, and died of {named[1] if named else 'an error'}: {said[-1][:200]}. Neither a"
        " GPU nor a lack of memory raises that: the engine called something that its code does not"
        " have, or not in this form.",
        shown_by=(log,),
        confidence=0.7,
        slows=frozenset({"crash"}),
        quotes=tuple(said[-1:]),
    )


RULES = (died_of_its_own_code,)
