"""One look and what it taught: the id that a sentence cites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tools.engine.prompts import without_words
from tools.errors import Absent, Failed, HostError, ProbeError
from tools.harmless import harmless
from tools.host import Host, Output
from tools.probe import Facts, Probe
from tools.secrets import scrub
from tools.sglang.args import clean_dumps

AnyProbe = Probe[Any]

FELL = "reading it fell over what it holds"
_NOT_THERE = "Not there: "
_SENTENCE = 1000  # characters of why there is no answer


@dataclass(frozen=True)
class Evidence:
    """One look: which question, where, the raw answer, the facts in it, or the trouble with it."""

    id: str
    probe: AnyProbe | None  # None: a text that no probe recognises
    source: str  # the host's name, or the file's
    output: Output | None
    facts: Facts | None = None
    trouble: str = ""
    note: str = ""  # what of the answer was not read

    @property
    def title(self) -> str:
        """Name the look as `probes` does."""
        if self.probe:
            return type(self.probe).__name__
        return type(self.facts).__name__ if self.facts else "Unrecognised"

    @property
    def failed(self) -> bool:
        """Say whether it told nothing, though what was asked for may well be there."""
        return bool(self.trouble) and not self.trouble.startswith(_NOT_THERE)


def learn(number: int, probe: AnyProbe, source: str, output: Output) -> Evidence:
    """Read one raw answer: secrets are dropped first, then facts or a trouble are drawn from it."""
    name = f"E{number}"
    source, kept = scrub(source), _cleaned(output, probe.clean, dumps=not probe.drops_arguments)
    if kept.lost:
        return Evidence(name, probe, source, kept, trouble=kept.lost)
    try:
        return Evidence(name, probe, source, kept, facts=probe.read(kept))
    except Absent as why:
        return Evidence(name, probe, source, kept, trouble=f"{_NOT_THERE}{why}")
    except Failed as why:
        return Evidence(name, probe, source, kept, trouble=f"Failed: {why}")
    except ProbeError as why:
        return Evidence(name, probe, source, kept, trouble=f"Unreadable: {why}")
    except Exception as why:  # noqa: BLE001 - one answer that no parser foresaw must not end the others
        fell = f"Unreadable: {FELL} ({type(why).__name__}), which is a fault to report"
        return Evidence(name, probe, source, kept, trouble=fell)


def _cleaned(output: Output, clean: Callable[[str], str], *, dumps: bool = True) -> Output:
    # any text can quote a server's arguments, whoever reads it
    return output.model_copy(
        update={
            "stdout": clean(clean_dumps(output.stdout) if dumps else output.stdout),
            "stderr": clean(output.stderr),
            "lost": harmless(scrub(output.lost[:_SENTENCE])),
        }
    )


def read_back(
    number: int, probe: AnyProbe | None, source: str, output: Output, said: str = ""
) -> Evidence:
    """Read a text that somebody gave; `said` is why no probe reads it, or what of it was not read."""
    if probe is not None:
        return replace(learn(number, probe, source, output), note=said)
    kept = _cleaned(output, without_words)  # what nobody knows may be a log, with prompts in it
    return Evidence(
        f"E{number}", None, scrub(source), kept, trouble=said or "no probe recognises this text"
    )


def answers(host: Host, probes: Sequence[AnyProbe]) -> Sequence[Output]:
    """Ask a host in one batch; where it cannot be asked, each answer is lost for that reason."""
    try:
        return host.answer(probes)
    except HostError as why:
        return [Output(status=None, lost=str(why))] * len(probes)


def ask(host: Host, probes: Sequence[AnyProbe], *, after: int = 0) -> list[Evidence]:
    """Ask a host in one batch; what goes wrong becomes the trouble of each look, never an exception."""
    pairs = zip(probes, answers(host, probes), strict=True)
    return [
        learn(after + n, probe, host.name, output)
        for n, (probe, output) in enumerate(pairs, start=1)
    ]
