"""The engine that is installed on a host, by its own source: its flags, and what to follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.proposal.flags import Flags, of_source
from bot.source.cache import SourceCache
from bot.source.hurried import Following
from bot.source.installed import InstalledSource
from tools.errors import ToolsError
from tools.evidence import AnyProbe, Evidence
from tools.host import Host
from tools.probes.source_listing import ListSource
from tools.provenance.flags import flags_of
from tools.provenance.tree import Tree


def listing(host: Host, scope: Mapping[str, Any]) -> AnyProbe:
    """Return the question for the source's files, which goes with the other looks."""
    told = {name: scope[name] for name in ("port", "source_path") if scope.get(name)}
    return InstalledSource.listing(host, SourceCache(), **told)


FOLLOW_S = 30.0  # of two launches; a restart of a server is worth the wait


@dataclass(frozen=True)
class Installed:
    """The source of one installed engine by path, and the flags that it declares."""

    texts: Mapping[str, str]
    flags: Flags

    def hurried(self) -> Tree:
        """Return the source to follow, from now on for as long as a person should wait; then Unfollowed is raised."""
        return Tree(self.texts, Following(FOLLOW_S))


def installed(host: Host, listed: Evidence, version: str | None) -> Installed | None:
    """Return what the installed source tells; None where it cannot be read, or declares no flag."""
    asked = listed.probe
    if not isinstance(asked, ListSource):
        return None
    try:
        source = InstalledSource(host, asked, listed, SourceCache())
        source.prepare()  # one look in place of a dozen
        tree = Tree(source)
        flags = flags_of(tree)
    except ToolsError:
        return None
    told = tree.version() or source.version or version
    return Installed(source, of_source(flags, told)) if flags else None
