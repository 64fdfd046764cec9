"""What the desk says at once: refusals, places in the queue, hosts; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from bot import narrator
from bot.narrator import Line
from bot.narrator.changed import ago
from bot.question import Question
from bot.question.plain import plain

THERE = "its thread"  # cited where the address of another thread is wanted
_CHANGE = re.compile(
    r"(?:(?:please|pls|can you|could you|just)\s+)*"
    r"(?:fix|repair|restart|reboot|kill|reset|upgrade|update|install|change|set|enable|disable|stop|start"
    r"|delete|remove|uninstall|shut ?down|run|execute)\b(?! (?:an? |the |some )?(?:check|diagnos|look))",
    re.IGNORECASE,
)
_RESTART = re.compile(
    r"(?:(?:please|pls|can you|could you|just)\s+)*(?:restart|reboot|kill|stop|start)\b",
    re.IGNORECASE,
)
_RESTARTS = (
    "I look at it now, and do not restart a server as it is: that shows nobody why it was slow. With a change I do: "
    "say “set --max-running-requests 48 and measure”, or “try it” below the verdict, and I propose the restart; it "
    "begins when somebody who may has approved it."
)
_CHANGES = (
    "I look first, and change nothing by myself. Where other flags or variables would mend it, “try it” below the "
    "verdict has me propose the restart; it begins when somebody who may has approved it. All else I say how to do."
)
_ALIKE = 0.75  # share of letters: CT219 for CT129, and not gpu-1 for CT129
_SHOWN = 12  # names of hosts in one sentence
STILL_LOOKING = "I am still looking, and answer this when I have the verdict."
NOTHING_RUNS = "Nothing is running in this thread."
OF_FILES = "That verdict came from files: give me newer ones, and I judge those."
THANKS = "You are welcome."
KEPT = "Thank you. I keep that, so that my verdicts can be held against it."
ELSEWHERE = "That button belongs to another conversation. Please ask me here, and I look anew."
ENDED = "That has ended already."
NO_EVIDENCE = "I no longer have what I saw then. “Check again” takes new looks."
THERE_ALREADY = "The evidence is in this thread already."
NO_VERDICT = (
    "There is no verdict in this thread yet whose remedy I could try. Ask me about a host first."
)
NOTHING_KEPT = "I know of no change that I kept on this host, so there is nothing to put back."
PREPARING = "I am preparing that proposal right now."
DECLINED = "Declined: nothing was changed."
NOT_YOURS = "Only who may approve it, or who asked for it, may decline it."
GONE = "I no longer have that proposal. Propose the change again, and I look anew."
_APPROVERS = 5
RUNNING = "I am looking at it right now."


def line(text: str) -> Line:
    """Return a sentence as a line of its own."""
    return Line("lead", text)


def known(hosts: Sequence[str]) -> str:
    """Say which hosts are known."""
    if not hosts:
        return "No host is set up yet: whoever runs me can list them in hosts.toml."
    more = f" and {len(hosts) - _SHOWN} more" if len(hosts) > _SHOWN else ""
    return f"I know {', '.join(hosts[:_SHOWN])}{more}."


def which(hosts: Sequence[str]) -> list[Line]:
    """Ask which host is meant."""
    if not hosts:
        return [
            Line("lead", known(hosts)),
            Line("text", "Until then give me files, or paste a log."),
        ]
    return [
        Line("lead", f"Which host do you mean? {known(hosts)}"),
        Line("text", "Or give me files, or paste a log. “help” says what I can do."),
    ]


def aside(hosts: Sequence[str]) -> list[Line]:
    """Say kindly what we are for, where something else is asked."""
    return [
        Line(
            "lead",
            "I am afraid I only know why LLM servers are slow or broken. "
            f"Ask me “why is {hosts[0] if hosts else 'gpu-1'} slow?”, or “help”.",
        )
    ]


def unknown(names: Sequence[str], hosts: Sequence[str]) -> list[Line]:
    """Say that a host is not in the inventory: a message must not decide whom we log in to."""
    by_name = {host.lower(): host for host in hosts}
    alike = get_close_matches(names[0].lower(), by_name, n=2, cutoff=_ALIKE) if names else ()
    meant = f" Did you mean {' or '.join(by_name[name] for name in alike)}?" if alike else ""
    named = " or ".join(names[:3])
    add = " Whoever runs me can add it to hosts.toml." if hosts else ""
    return [
        Line(
            "lead",
            f"I do not know {named}, and look only at hosts that I was given. {known(hosts)}{add}{meant}",
        )
    ]


def too_many(hosts: Sequence[str], most: int) -> list[Line]:
    """Say that a message names more hosts than are looked at for one question."""
    return [
        Line(
            "lead",
            f"You name {len(hosts)} hosts; I look at up to {most} for one question. Which first?",
        )
    ]


def looking(
    question: Question, where: str, number: int = 0, strange: Sequence[str] = ()
) -> list[Line]:
    """Say what was understood, whom we do not know, and the place in the queue where there is one."""
    lines = [narrator.understood(question, where)]
    if strange:
        named = " or ".join(strange[:3])
        lines.append(Line("text", f"I do not know {named}: I look only at hosts that I was given."))
    if _CHANGE.match(wish := plain(question.text).strip()):
        lines.append(Line("text", _RESTARTS if _RESTART.match(wish) else _CHANGES))
    if number:
        lines.append(
            Line("text", f"You are number {number} in the queue; I begin when it is your turn.")
        )
    return lines


def joined(host: str, since_s: float, name: str, *, here: bool, waits: bool) -> list[Line]:
    """Say that somebody asked about this host before, and that the verdict comes here as well."""
    if here:
        return [
            Line(
                "lead",
                f"I am looking at {host} right now; your question is answered with the verdict.",
            )
        ]
    who = f" for {name}" if name else ""
    how = "in the queue" if waits else "being looked at"
    text = f"{host} is {how} already{who}, asked {ago(since_s)}. The verdict on your question comes here as well."
    return [Line("lead", text, (THERE,))]


def too_much(why: str, limit: int) -> list[Line]:
    """Refuse for a limit, and say what to do."""
    many = f"{limit} investigation{'' if limit == 1 else 's'} open"
    often = "once" if limit == 1 else f"{limit} times"
    whys = {
        "user": f"You have {many}, which is as many as one person may have. "
        "Please wait for one to end, or stop one.",
        "channel": f"This channel has {many}, which is as many as one may have. "
        "Please wait for one to end.",
        "hour": f"You have asked {often} within the hour, which is as often as one person may. "
        "Please ask again later.",
    }
    return [Line("lead", whys[why])]


def by_hand(steps: Sequence[str], risk: str) -> list[Line]:
    """Say what to do where no flag or variable mends it."""
    if not steps:
        return [Line("lead", "There is no remedy to propose for this verdict.")]
    lines = [
        Line(
            "lead",
            "No flag or variable of the server mends this, so there is nothing that I could try. By hand:",
        )
    ]
    lines += [Line("item", f"{n}. {step.rstrip('.')}.") for n, step in enumerate(steps, start=1)]
    if risk and risk not in ("none", "-"):
        lines.append(Line("text", f"Risk: {risk.rstrip('.')}."))
    return lines


def may_not_approve(host: str, named: Sequence[str]) -> str:
    """Refuse an approval, and say who may; names of users that are known are told."""
    if not named:
        return (
            f"Nobody may approve changes on {host} yet: whoever runs me names people in hosts.toml (approve). "
            "Nothing was done."
        )
    return f"You may not approve changes on {host}. {_some(named)} may. Nothing was done."


def _some(named: Sequence[str]) -> str:
    shown = ", ".join(named[:_APPROVERS])
    more = len(named) - _APPROVERS
    return f"{shown} and {more} more" if more > 0 else shown


def preparing(host: str, change: str) -> list[Line]:
    """Say that a proposal is made, and that nothing is changed by it."""
    return [
        Line("lead", f"I prepare a proposal for {host}: {change}."),
        Line(
            "text",
            "I look at the server; nothing is changed before somebody who may has approved it.",
        ),
    ]


def planning(host: str, goal: str, minutes: float) -> list[Line]:
    """Say that a plan is made, and that nothing is changed by it."""
    return [
        Line(
            "lead", f"I make a plan for {host}: what could help {goal}, in {minutes:.0f} minutes."
        ),
        Line(
            "text",
            "I look at the server; nothing is changed before somebody who may has approved the plan.",
        ),
    ]


def tuning(host: str, changes: int, by: str) -> list[Line]:
    """Say that an approved plan begins."""
    many = f"{changes} changes, one at a time" if changes > 1 else "one change"
    return [
        Line("lead", f"I carry the plan out on {host}: {many}."),
        Line(
            "text",
            f"Approved by {by}. I look at the server again before each. “stop” takes back the one that is on.",
        ),
    ]


def trying(host: str, change: str, by: str) -> list[Line]:
    """Say that an approved change begins."""
    return [
        Line("lead", f"Trying on {host}: {change}."),
        Line("text", f"Approved by {by}. Stop takes it back."),
    ]
