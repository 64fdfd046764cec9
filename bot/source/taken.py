"""What of an engine's source is taken: as much as its resolver goes through, so that it can be followed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.source.cache import SourceCache
from bot.source.ground import Ground, spellings
from bot.source.hurried import Following
from bot.source.installed import InstalledSource
from bot.source.known import known_of
from bot.source.parted import SHOWN, by_relevance
from bot.source.uncollected import uncollected
from tools.errors import Absent
from tools.evidence import Evidence, ask, learn
from tools.host import Host, Output
from tools.hosts.replay import NO_ANSWER
from tools.probes.source_texts import FILES, ReadSourceTexts, packed
from tools.provenance.answer import flag_of
from tools.provenance.claims import claims_of
from tools.provenance.excerpt import Noticed, Way, excerpt
from tools.provenance.explanation import Explanation
from tools.verdict import Verdict

_BYTES = 4 << 20  # of what is kept in a case; of 0.5.23 it is 0.6 MB


def taken(
    host: Host,
    looks: Sequence[Evidence],
    verdict: Verdict,
    cache: SourceCache,
    place: Mapping[str, Any],
) -> Evidence:
    """Return the look; `place` is port and source_path. Raises ToolsError where it cannot be had."""
    number = len(looks) + 1
    listing = InstalledSource.listing(host, cache, (), **place)
    listed = ask(host, [listing])[0]
    if listed.output is not None and listed.output.lost == NO_ANSWER:
        return _again(number, ask(host, [ReadSourceTexts()])[0])
    texts = InstalledSource(host, listing, listed, cache)
    texts.prepare()
    with uncollected():
        parts = _parts(texts, looks, verdict)
    text = packed(parts)
    if sum(map(bool, parts.values())) > FILES or len(text) > _BYTES:
        raise Absent(f"what of {texts.root} would have to be kept is too much")
    return learn(number, ReadSourceTexts(**place), host.name, Output(stdout=text))


def _again(number: int, kept: Evidence) -> Evidence:
    """Return what a case holds of the source."""
    if kept.output is None or kept.facts is None:
        raise Absent("this case holds no source")
    return learn(number, ReadSourceTexts(), kept.source, kept.output)


def _parts(texts: InstalledSource, looks: Sequence[Evidence], verdict: Verdict) -> dict[str, str]:
    noticed = Noticed.of(texts)
    explanation = Ground(noticed, known_of(looks), Following()).explained()
    way = Way.of(explanation.tree, noticed)
    chosen = by_relevance(explanation, verdict)[:SHOWN]
    texts.search([word for name in chosen for word in spellings(name)])
    return excerpt(
        explanation.tree, way, [at for name in chosen for at in _cited(explanation, name)]
    )


def _cited(explanation: Explanation, name: str) -> Iterator[tuple[str, int]]:
    """Yield the lines that the answer for a flag stands on."""
    for site in explanation.one(name).sites:
        yield site.file, site.line
    if name not in explanation.resolution.passed:
        for place in claims_of(explanation.tree, flag_of(name)).values():
            path, _, line = place.rpartition(":")
            yield path, int(line)
