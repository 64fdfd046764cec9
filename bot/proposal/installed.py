"""The flags of the engine that is installed on a host, from its own source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.proposal.flags import Flags, of_source
from bot.source.cache import SourceCache
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


def installed_flags(host: Host, listed: Evidence, version: str | None) -> Flags | None:
    """Return the flags that the installed source declares; None where it cannot be read."""
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
    return of_source(flags, tree.version() or source.version or version) if flags else None
