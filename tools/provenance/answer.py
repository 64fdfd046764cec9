"""The answer: for one flag what was asked, what it became, which line did it, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tools.knowledge.fields import public_names
from tools.provenance.values import MISSING, Extern, Instance, Value
from tools.secrets import DROPPED

State = Literal["fired", "not_fired", "unknown"]


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """One write site: whether it fired, under which condition, and what the log says beside it."""

    file: str
    line: int
    source: str | None
    state: State
    condition: str
    log: str | None


@dataclass(slots=True)
class FlagAnswer:
    """What is known of one flag; `overridden` is None where it cannot be told."""

    flag: str
    asked: Any
    resolved: Any
    overridden: bool | None
    sites: list[SiteAnswer] = field(default_factory=list)
    sentence: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the answer as plain JSON."""
        return asdict(self)


def shown(name: str, value: Value) -> Any:
    """Return a field's value as JSON; texts only of fields whose values may be kept."""
    return _kept(plain(value), public=name in public_names())


def _kept(value: Any, *, public: bool) -> Any:
    if isinstance(value, dict):
        return {key: _kept(each, public=public) for key, each in value.items()}
    if isinstance(value, list):
        return [_kept(each, public=public) for each in value]
    return DROPPED if isinstance(value, str) and not public else value


def plain(value: Value) -> Any:
    """Return a value as JSON has it; None where it is not known."""
    if isinstance(value, Instance):
        return plain(_inside(value))
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return value.path if isinstance(value, Extern) else None


def _inside(value: Instance) -> Value:
    if value.cls.members is not None:
        return value.attrs.get("value")
    return value.native if value.native is not MISSING else dict(value.attrs)


def flag_of(name: str) -> str:
    """Return a field's name as a flag."""
    return "--" + name.replace("_", "-")


def sentence(
    answer: FlagAnswer, *, passed: bool, settled: bool, lies: Mapping[str, str], doubt: str
) -> str:
    """Return what a person wants to hear first; `lies` are log lines that claim it was passed."""
    flag = flag_of(answer.flag)
    fired = [site for site in answer.sites if site.state == "fired"]
    if answer.overridden is None:
        return f"{flag}: cannot tell. Not known here: {doubt}."
    if not answer.overridden:
        how = "as passed" if passed else "its default"
        return f"{flag} is {_told(answer.resolved)}, {how}; nothing has overridden it."
    start = f"{flag} {_told(answer.asked)} was asked" if passed else f"Nobody passed {flag}"
    open_ones = [site for site in answer.sites if site.state == "unknown"]
    if not fired and open_ones:
        return f"{start}; one of {len(open_ones)} lines set it. Not known here: {doubt}."
    if not fired:
        return f"{start}; it is {_told(answer.resolved)}, and no line of the source explains it."
    last = fired[-1]
    by = f", by {last.source}" if last.source else ""
    value = _told(answer.resolved) if settled else "something that is not known here"
    why = "without a condition" if last.condition == "always" else f"because {last.condition}"
    text = f"{start}; {last.file}:{last.line}{by} made it {value}, {why}"
    text += f'; the log says "{last.log}".' if last.log else "; the log does not say so."
    if len(fired) > 1:
        text += f" {len(fired)} lines wrote it; this one was the last."
    if not passed:
        text += "".join(f' The log line "{line}" ({at}) is wrong.' for line, at in lies.items())
    return text


def _told(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 80 else text[:77] + "..."
