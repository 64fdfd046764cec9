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
    if _CHANGE.match(plain(question.text).strip()):
        lines.append(Line("text", "I change nothing on a host: I look, and say what to do."))
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


def proposal(host: str, steps: Sequence[str], risk: str, approvers: int) -> list[Line]:
    """Say what a proposal will be once experiments exist, and what can be done today."""
    lines = [
        Line("lead", "I cannot change anything yet: I only read."),
        Line(
            "text",
            "What will come here: the change as an exact difference of flags, for approval by a person who may. "
            "Then I restart the server with it, measure before and after, keep it if it helps, and else take it back.",
        ),
    ]
    if steps:
        lines.append(Line("heading", "What to do today"))
        lines += [
            Line("item", f"{n}. {step.rstrip('.')}.") for n, step in enumerate(steps, start=1)
        ]
        if risk and risk not in ("none", "-"):
            lines.append(Line("text", f"Risk: {risk.rstrip('.')}."))
    else:
        lines.append(Line("text", "There is no remedy to propose for this verdict."))
    who = (
        "Nobody is"
        if not approvers
        else "One entry is"
        if approvers == 1
        else f"{approvers} entries are"
    )
    lines.append(Line("said", f"{who} named in hosts.toml to approve changes on {host}."))
    return lines
