"""Everything that can go wrong, drawn as a tree.

ToolsError
  HostError        the host did not answer; nothing is known
    Unreachable      no connection, or it was lost
      HostKeyRefused   the host key is unknown or has changed
      LoginRefused     the host answers, but lets nobody in with these keys
    TimedOut         a command ran past its limit and was ended
  ProbeError       it answered; the answer is no fact
    Absent           the thing asked for is not there
    Failed           the command ended with an error
    Unreadable       the answer is not in a form that is known
  CaseError        a case file cannot be read
  Undecided        a rule had facts, but not the kind that decides
"""

from __future__ import annotations


class ToolsError(Exception):
    """A sentence for a person: what happened, and what to do where there is something to do."""


class HostError(ToolsError):
    """The host did not answer; nothing is known."""


class Unreachable(HostError):
    """There is no connection, or it was lost."""


class HostKeyRefused(Unreachable):
    """The host key is unknown or has changed."""


class LoginRefused(Unreachable):
    """The host answers, but lets nobody in with these keys."""


class TimedOut(HostError):
    """A command ran past its limit and was ended."""


class ProbeError(ToolsError):
    """The host answered; the answer is no fact."""


class Absent(ProbeError):
    """The thing asked for is not there."""


class Failed(ProbeError):
    """The command ended with an error."""


class Unreadable(ProbeError):
    """The answer is not in a form that is known."""


class CaseError(ToolsError):
    """A case file cannot be read."""


class Undecided(ToolsError):
    """A rule had facts, but not the kind that decides.

    `settle` is the one test that would decide, as a person would do it; `suspicion` (0 to 1) says
    how much the facts at hand speak for the hypothesis, so that the most telling test comes first.
    """

    def __init__(self, why: str, *, settle: str = "", suspicion: float = 0.2) -> None:
        super().__init__(why)
        self.why = why
        self.settle = settle
        self.suspicion = suspicion
