"""When the engine's source is one more look of an investigation, and within which time it is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tools.engine import Arguments, Launch, ServerInfo, ServerLog
from tools.evidence import Evidence
from tools.host import Host
from tools.known import Known
from tools.verdict import Verdict

if TYPE_CHECKING:
    from bot.source.cache import SourceCache

BOUND_S = (
    15.0  # of all that a host is asked for it; a version that is kept here already takes 0.5 s
)
_FIRST = ("ReadLaunch", "ReadServerInfo", "ReadModelConfig", "ReadGpus", "ReadEnvironment",
          "ReadServerLog")  # fmt: skip

_LONG = ("SampleGpus", "ReadMetrics")  # the playbook's last, which watch for some seconds


class SourceLook:
    """Takes the source of one host, once, within `bound_s` seconds of asking.

    `scope` is port, log_path and source_path, as HostSettings.scope() has them; `port` is the one
    that was asked about, where it is another.
    """

    def __init__(
        self,
        scope: Mapping[str, Any] | None = None,
        cache: SourceCache | None = None,
        *,
        port: int | None = None,
        bound_s: float = BOUND_S,
    ) -> None:
        told = {**(scope or {}), **({"port": port} if port else {})}
        self._place: dict[str, Any] = {name: told.get(name) for name in ("port", "source_path")}
        self._cache, self._bound_s = cache, bound_s
        self._taken = False
        self.unfollowed = ""  # why it was given up, where following it took too long

    def due(self, looks: Sequence[Evidence], *, over: bool = False) -> bool:
        """Say whether it is time: a server of SGLang tells what was asked and what came of it.

        It comes after the looks of the playbook, or when all is `over`.
        """
        titles = {look.title for look in looks}
        before = _FIRST if over else (*_FIRST, *_LONG)
        if self._taken or "ReadSourceTexts" in titles or not titles.issuperset(before):
            return False
        known = Known(looks)
        values = Arguments(known.get(Launch), known.get(ServerInfo), known.get(ServerLog))
        return values.seen and values.dumped and values.engine == "sglang"

    def take(self, host: Host, looks: Sequence[Evidence], verdict: Verdict) -> Evidence:
        """Return the look that holds it, so that a case which keeps it can be explained again.

        Of three flags that are not as they were asked, what did not set them is in it as well.
        Raises ToolsError with a sentence where it cannot be had.
        """
        from bot.source.cache import SourceCache
        from bot.source.hurried import Hurried, Unfollowed
        from bot.source.taken import taken

        self._taken = True
        cache = self._cache or SourceCache()
        try:
            return taken(Hurried(host, self._bound_s), looks, verdict, cache, self._place)
        except Unfollowed as why:
            self.unfollowed = str(why)
            raise
