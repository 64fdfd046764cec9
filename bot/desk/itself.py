"""What the bot says of itself: its greeting, its help, and what one may ask to begin with."""

from __future__ import annotations

from collections.abc import Sequence

from bot.desk.words import known
from bot.narrator import Line

_PROMPTS = 4  # https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
_NOBODY = "gpu-1"


def greeting(hosts: Sequence[str]) -> tuple[Line, ...]:
    """Say hello where a person opens a conversation with the bot."""
    first = hosts[0] if hosts else _NOBODY
    return (
        Line(
            "text",
            "Ask me why an LLM server is slow. I look at the host myself, read-only, show each look as it comes in, "
            "and say what is proven, what it costs, what to do, and what I could not see.",
        ),
        Line("text", f"Like: “{first} does 55 tok/s, it was 70. CUDA graphs? NCCL?”"),
        _known(hosts),
    )


def help_parts(hosts: Sequence[str]) -> tuple[Line, ...]:
    """Say what can be asked, and how."""
    first = hosts[0] if hosts else _NOBODY
    return (
        Line("lead", "I find out why an LLM server is slow, and prove it."),
        Line(
            "item",
            f"Ask in your own words: “why is {first} slow?”, “{first} does 55 tok/s, it was 70”; or name two to "
            "compare them: “why is gpu-2 faster than gpu-1?”",
        ),
        Line("item", "Give me files or paste a log: “what is wrong with this log?”"),
        Line(
            "item",
            "Ask on in the thread: “why not NCCL?”, “what about GPU 1?”, “what if we had NVLink?”, "
            "“show me the log lines”, “check again”.",
        ),
        Line(
            "item",
            "“try it” below a verdict, “set chunked prefill to 4096 and measure”, or "
            f"“tune {first} for decode, an hour at most”: I propose, a person approves, I measure before and after.",
        ),
        Line("item", "Say “stop”, or press Stop: I end what I started on the host and say what I learned so far."),
        Line(
            "item",
            "In every channel that I am in: `/perf ask …`, `/perf tune …`, `/perf hosts`, `/perf help`; `/perf health` "
            "looks at all hosts now, `/perf health schedule 08:30 Europe/Berlin mon-fri` each day.",
        ),
        Line("item", f"Say “tell me if it happens again on {first}”: I look every 15 minutes, and tell you once."),
        Line("text", "I only read, until a person approves a change. What I print holds no secrets."),
        _known(hosts),
    )  # fmt: skip


def prompts(hosts: Sequence[str]) -> list[dict[str, str]]:
    """Return what Slack suggests in a new conversation: a title to press, and what it says."""
    made = [{"title": f"Why is {one} slow?", "message": f"Why is {one} slow?"} for one in hosts[:2]]
    made.append(
        {"title": "What is wrong with this log?", "message": "What is wrong with this log?"}
    )
    made.append({"title": "What can I ask?", "message": "help"})
    return made[:_PROMPTS]


def _known(hosts: Sequence[str]) -> Line:
    more = "" if hosts else " Files I can read already."
    return Line("text", f"{known(hosts)}{more}")
