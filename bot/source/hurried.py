"""Within a time: a host gets what is left of it for each question, and a following is given up when it is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from tools.errors import HostError, ToolsError
from tools.host import Asks, Command, Host, Output

# Of following the source for a verdict: `make bench` takes 3 s at most on an idle core. A machine that needs more has
# too much else to do, and nobody should wait for a verdict because of it.
FOLLOW_S = 10.0


class Unfollowed(ToolsError):
    """The source was not followed to its end, for want of time."""


class Following:
    """Lets a following go on for a time, counted from when it is made; raises Unfollowed after it."""

    def __init__(self, bound_s: float = FOLLOW_S) -> None:
        self._bound_s, self._until = bound_s, monotonic() + bound_s

    def __call__(self) -> None:
        """Go on, as long as there is time."""
        if monotonic() > self._until:
            raise Unfollowed(
                f"following it takes longer than {self._bound_s:.0f} s here, where somebody waits for it; "
                "ask for one flag, which has no such bound: perfsleuth explain-flag FLAG HOST"
            )


@dataclass(frozen=True)
class _Shorter:
    """A question that is given up sooner."""

    asked: Asks
    left_s: float

    @property
    def key(self) -> str:
        return self.asked.key

    def command(self) -> Command:
        command = self.asked.command()
        return command.model_copy(update={"limit_s": min(command.limit_s, self.left_s)})

    def recognises(self, text: str, /) -> bool:
        return self.asked.recognises(text)


class Hurried:
    """Puts questions until a time is over; raises HostError after it."""

    def __init__(self, host: Host, bound_s: float) -> None:
        self.name = host.name
        self._host, self._bound_s = host, bound_s
        self._until = monotonic() + bound_s

    def answer(self, probes: Sequence[Asks], /) -> Sequence[Output]:
        """Ask, as long as there is time."""
        left_s = self._until - monotonic()
        if left_s <= 0:
            raise HostError(f"{self.name} did not give its source within {self._bound_s:.0f} s")
        return self._host.answer([_Shorter(probe, left_s) for probe in probes])

    def close(self) -> None:
        """The host itself is closed by whoever opened it."""
