"""The bot in Slack: event to ack, to the first reply, to the verdict; alone, and with twenty at once."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bot.demo import shipped_path
from tests.fakes import FakeSlack, Message
from tests.fakes.process import BotProcess
from tests.lab import sshd
from tests.lab.sshd import Lab
from tests.soak.threads import kinds

AT_ONCE = 20
ONE_BY_ONE = 5
CROWDS = 5  # of each kind
REST_S = 2.0  # between two: what was said last is delivered
QUESTION = "why is {host} slow? it does 55 tok/s, it was 70"


def hosts_toml(lab: Lab) -> str:
    """Return one lab host under twenty names, each of its own queue, and twenty recorded ones."""
    real = f'ssh = "lab"\nssh_config = "{lab.config}"\n'
    past = f'case = "{shipped_path("ct129")}"\n'
    names = range(AT_ONCE)
    return "".join(f"[hosts.lab{n:02}]\n{real}[hosts.CT{n + 100}]\n{past}" for n in names)


def first_reply_s(slack: FakeSlack, asked: Message, at: float) -> float:
    """Return the seconds until something stands in the thread; a status line is not counted."""
    shown = [
        call.at + call.took_ms / 1000
        for call in slack.calls()
        if call.method in ("chat.startStream", "chat.postMessage")
        and call.ok
        and call.args.get("thread_ts") == asked.ts
        and call.args.get("channel") == asked.channel
    ]
    return min(shown) - at


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many percent do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def tell(name: str, values: list[float], unit: str = "s") -> None:
    """Print what they are in the middle and at the edge."""
    edges = ", ".join(f"p{percent} {percentile(values, percent):.3f}" for percent in (95, 99))
    print(
        f"  {name:44} {median(values):7.3f} {unit}  ({edges}, worst {max(values):.3f}, of {len(values)})",
        flush=True,
    )


def alone(slack: FakeSlack) -> None:
    """One question at a time, on a host over SSH."""
    replies, verdicts = [], []
    for _ in range(ONE_BY_ONE):
        time.sleep(2.5)  # one message a second and channel is our own bound
        at = time.monotonic()
        asked = slack.mention(QUESTION.format(host="lab00"))
        slack.until(lambda asked=asked: kinds(slack, asked)["verdict"], 60)
        verdicts.append(time.monotonic() - at)
        replies.append(first_reply_s(slack, asked, at))
    print(f"a mention of a host over SSH, {ONE_BY_ONE} times")
    tell("event to ack", [ms / 1000 for ms in slack.record.ack_ms()])
    tell("event to first reply in the thread", replies)
    tell("event to verdict (its looks take 5 s)", verdicts)


def crowd(slack: FakeSlack, kind: str, number: int) -> tuple[list[float], list[float], float]:
    """Twenty strangers at once, each in a new channel, every tenth call of Slack's answered by 429.

    Return the seconds to each ack and to each first reply, and until all have a verdict.
    """
    slack.faults.every(10, "ratelimited")
    done = len(slack.record.deliveries)
    names = [f"{kind}{number}-{n:02}" for n in range(AT_ONCE)]
    channels = [slack.world.add_channel(name).id for name in names]
    people = [slack.world.add_user(name).id for name in names]
    for channel, person in zip(channels, people, strict=True):
        slack.world.channels[channel].members.add(person)
    hosts = [f"lab{n:02}" if kind == "lab" else f"CT{n + 100}" for n in range(AT_ONCE)]
    asked, at = [], []
    for n in range(AT_ONCE):
        at.append(time.monotonic())
        asked.append(slack.mention(QUESTION.format(host=hosts[n]), channels[n], people[n]))
    slack.until(lambda: all(kinds(slack, one)["verdict"] for one in asked), 240)
    verdicts = time.monotonic() - at[0]
    acks = [d.ack_ms / 1000 for d in slack.record.deliveries[done:] if d.ack_ms is not None]
    replies = [first_reply_s(slack, *one) for one in zip(asked, at, strict=True)]
    slack.faults.over()
    return acks, replies, verdicts


def crowds(slack: FakeSlack, bot: BotProcess, kind: str) -> None:
    """One crowd after the other: twenty values alone would make the 95th percentile a dice."""
    acks: list[float] = []
    replies: list[float] = []
    for number in range(CROWDS):
        more_acks, more_replies, verdicts = crowd(slack, kind, number)
        acks += more_acks
        replies += more_replies
        print(
            f"{AT_ONCE} at once ({kind}), crowd {number + 1}, every tenth call 429: "
            f"all have a verdict after {verdicts:.1f} s",
            flush=True,
        )
        time.sleep(REST_S)
    tell("event to ack (aim p99 1 s)", acks)
    tell("event to first reply (aim p95 2 s)", replies)
    print(f"  {'most memory (aim 300 MB)':44} {bot.peak_mb():7.0f} MB", flush=True)


def main() -> None:
    """Measure and print."""
    if not sshd.SSHD:
        print(sshd.MISSING)
        return
    with tempfile.TemporaryDirectory() as folder, FakeSlack() as slack:
        lab = Lab(Path(folder) / "lab")
        lab.mood("gen1_busy")
        try:
            with BotProcess(slack, Path(folder), hosts_toml(lab)) as bot:
                alone(slack)
                crowds(slack, bot, "past")
                crowds(slack, bot, "lab")
                bot.end()
        finally:
            lab.stop()


if __name__ == "__main__":
    main()
