"""Before and after: "8.8 tok/s (before: 7.1)", "12.1 -> 9.8 ms", "was 23, now 62 tok/s", "70 before, 10 after".

The run after is named by what was done, in the line or above it; the run before is the other side of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.engine.note_lines import label_of
from tools.engine.typed_figures import UNIT, figures
from tools.engine.typed_line import TypedLine
from tools.knowledge.knobs import all_knobs

MOST = 40  # lines of a note that tell of two runs; nobody types more
_N = r"(?<![\w.,/=@#<+-])\d{1,9}(?:\.\d{1,6})?k?"
_WITH = rf"\s?(?:{UNIT})(?![\w/])"
_OLD = (
    r"(?:before(?: that| it)?|was|were|previously|formerly|earlier|used to be|had been|up from|down from"
    r"|instead of)"
)
_NEW = r"(?:now|after(?: that| it| the change)?|today)"
_FORMS = (
    # from 4.2 s to 0.4 s, 12.1 ms -> 9.8 ms
    re.compile(rf"(?:from )?(?P<old>{_N}{_WITH})\s?(?:->|=>|to)\s?(?P<new>{_N}{_WITH})"),
    # ITL 12.1 -> 9.8 ms: a number without a unit is a result only where a quantity stands before it
    re.compile(
        r"(?:(?<=from )|(?<=: )|(?<=itl )|(?<=ttft )|(?<=tpot )|(?<=decode )|(?<=prefill )|(?<=throughput )"
        rf"|(?<=rate )|(?<=time )|(?<=latency ))(?P<old>{_N})\s?(?:->|=>|to)\s?(?P<new>{_N}{_WITH})",
        re.IGNORECASE,
    ),
    # 70 tok/s before, 10 tok/s after
    re.compile(rf"(?P<old>{_N}(?:{_WITH})?) before\b[^\d]{{1,24}}?(?P<new>{_N}(?:{_WITH})?) (?:after|now)\b"),
    re.compile(rf"(?P<new>{_N}(?:{_WITH})?) (?:after|now)\b[^\d]{{1,24}}?(?P<old>{_N}(?:{_WITH})?) before\b"),
    # was 23.4 tok/s, now 61.8 tok/s
    re.compile(
        rf"\b(?:was|before)\b[ :=]{{0,3}}(?P<old>{_N}(?:{_WITH})?)[^\d]{{1,24}}?\b{_NEW}[ :=]{{0,3}}"
        rf"(?P<new>{_N}(?:{_WITH})?)"
    ),
    # 8.7 tok/s (before: 6.9 tok/s), 0.42 s instead of 3.9 s
    re.compile(rf"(?P<new>{_N}{_WITH})[ ,;(a-z]{{1,24}}?\b{_OLD}[ :=]{{0,3}}(?P<old>{_N}(?:{_WITH})?)"),
)  # fmt: skip
_STEP = re.compile(
    r"(?:\bfrom |(?<=[ =:]))(?P<a>\d[\d.]{0,12}k?) ?(?P<unit>W|MHz|GB|g|m|cores?)? ?(?:->|=>|\bto\b) ?"
    r"(?P<b>\d[\d.]{0,12}k?)"
)
# Such a line tells how both runs were made; it is not what was done between them.
_STATE = re.compile(
    r"^\W*(?:same|both|all|unchanged|set-?up|host|hardware|server|machine|model|flags?|gpus?)\b",
    re.IGNORECASE,
)
_BEFORE_LAST = re.compile(r"^(?P<what>.{2,120}?)\s+before\s*[:=]?$", re.IGNORECASE)
_ALONE = re.compile(
    r"^\W{0,4}(?P<when>before|after|now|then)(?: (?:that|it|the change))?\W{0,3}$", re.IGNORECASE
)


def told_apart_in_time(lines: Sequence[TypedLine]) -> list[TypedLine]:
    """Return the lines of a note, with those that tell of two runs at once as two.

    Where several lines say "before" and "after" of different runs, these are two conditions of each.
    """
    pairs = [_pair(one.text) for one in lines]
    if sum(pair is not None for pair in pairs) > MOST:
        return list(lines)
    labels = {
        label_of(one.text[: pair.start()])
        for one, pair in zip(lines, pairs, strict=True)
        if pair and _timed(pair)
    }
    return list(_each(lines, pairs, rows=len(labels) > 1))


def _timed(pair: re.Match[str]) -> bool:
    return " before" in pair[0] and " after" in pair[0]


def _pair(text: str) -> re.Match[str] | None:
    found = (form.search(text) for form in _FORMS)
    return next(
        (one for one in found if one and (figures(one["old"]) or figures(one["new"]))), None
    )


def _each(
    lines: Sequence[TypedLine], pairs: Sequence[re.Match[str] | None], *, rows: bool
) -> Iterator[TypedLine]:
    done = ""
    for one, pair in zip(lines, pairs, strict=True):
        if pair is not None:
            yield from _both(one, pair, done, rows=rows and _timed(pair))
            continue
        found = figures(one.text)
        label = label_of(one.text[: found[0][0]]) if found else ""
        if not found:
            done = done if not one.text.strip() or _STATE.match(one.text) else one.text.strip()
            yield one
        elif done and (alone := _ALONE.match(label)) and _says(done):
            text = one.text[found[0][0] :]
            named = "before" if alone["when"].lower() == "before" else f"{_after(done)}, after"
            yield TypedLine(text, one.line, _before(done) if named == "before" else named)
        elif _BEFORE_LAST.match(label):
            yield TypedLine(one.text[found[0][0] :], one.line, "before")
        else:
            yield one


def _both(one: TypedLine, pair: re.Match[str], done: str, *, rows: bool) -> Iterator[TypedLine]:
    old, new = _with_unit(pair["old"], pair["new"]), _with_unit(pair["new"], pair["old"])
    head, rest = one.text[: pair.start()], one.text[pair.end() :].strip(" ).,;")
    told = figures(head)
    if told:
        yield one._replace(text=head[: told[-1][1]])
    what = label_of(head[told[-1][1] if told else 0 :])[-60:]
    head = head[: told[0][0]] if told else head
    label = " ".join(filter(None, (one.label, label_of(head))))
    if rows:
        yield TypedLine(f"{what}: {old}", one.line, label, "before")
        yield TypedLine(f"{what}: {new}", one.line, label, "after")
        return
    whole = f"{label} {rest}".strip()
    if "instead of" in pair[0] and rest:
        yield TypedLine(f"{what}: {new}", one.line, label)
        yield TypedLine(f"{what}: {old}", one.line, rest)
        return
    action = whole if _says(whole) or not done else f"{done}, {whole}"
    yield TypedLine(f"{what}: {old}", one.line, _before(action))
    yield TypedLine(f"{what}: {new}", one.line, f"{_after(action)}, after")


def _with_unit(number: str, other: str) -> str:
    if figures(number):
        return number
    unit = re.search(rf"(?:{UNIT})$", other)
    return f"{number} {unit[0]}" if unit else number


def _says(text: str) -> bool:
    """Say whether words name a knob that is known."""
    return any(knob.side(text) is not None for knob in all_knobs())


def _before(action: str) -> str:
    """Name the run before: by the first of two settings, if two are told, else by no setting at all."""
    step = _STEP.search(action)
    return f"{action[: step.start()]} {step['a']} {step['unit'] or ''} before" if step else "before"


def _after(action: str) -> str:
    step = _STEP.search(action)
    return f"{action[: step.start()]} {action[step.start('b') :]}" if step else action
