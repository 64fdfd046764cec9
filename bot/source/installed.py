"""The source of the engine that runs on a host: its files by path, brought in few looks and kept by digest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bot.source.cache import SourceCache
from bot.source.wanted import beside, first
from tools.engine.source_tree import EngineSource, SourceFile, SourceTexts
from tools.errors import Absent, HostError, ToolsError, Unreadable
from tools.evidence import Evidence, ask
from tools.host import Host
from tools.probes.source_listing import ListSource
from tools.probes.source_texts import FILES, ReadSourceTexts

F = TypeVar("F")
WHOLE = "server_args"  # a file that can write an argument holds it


class InstalledSource(Mapping[str, str]):
    """What SourceFolder is for a folder, for the package that a server on a host uses.

    `listing(...)` is the question that goes with others in one look; with its answer this is made.
    Then files come from the cache or from the host, many in one look. Raises HostError where the
    host does not answer, Absent where it has no source, and Unreadable for a file that nobody may read.
    """

    def __init__(self, host: Host, asked: ListSource, listed: Evidence, cache: SourceCache) -> None:
        self._host, self._cache, self._asked = host, cache, asked
        source = _facts(listed, EngineSource)
        self.root, self.version, self.cut = source.root, source.version, source.cut
        self._files = self._known(source)
        self._holding: dict[str, frozenset[str]] = {}
        self._learn(source)
        names = list(self._files)
        self.registers = frozenset(names[place] for place in source.registers if place < len(names))
        self._texts: dict[str, str] = {}
        self._troubles: dict[str, str] = {}
        self.looks = 0
        self.brought_bytes = 0
        self.brought_files = 0

    @staticmethod
    def listing(
        host: Host, cache: SourceCache, words: Sequence[str] = (), **scope: Any
    ) -> ListSource:
        """Return the question for the files; `words` are those that will be looked for in them."""
        known = cache.noted(_noted(host, scope.get("port"), scope.get("source_path")))
        held = known if known and cache.get(known) is not None else ""
        return ListSource(words=tuple(dict.fromkeys((WHOLE, *words))), known=held, **scope)

    def __getitem__(self, name: str) -> str:
        if name not in self._files:
            raise KeyError(name)
        if name not in self._texts and name not in self._troubles:
            self.bring([name, *beside(name, self._sizes())])
        if name not in self._texts:
            raise Unreadable(f"{self.root}/{name} of {self._host.name}: {self._troubles[name]}")
        return self._texts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    @property
    def unread(self) -> list[str]:
        """Return the files that could not be read, among those that were wanted."""
        return sorted(self._troubles)

    def holding(self, word: str) -> frozenset[str]:
        """Return the files that hold a word; the host looks for it, and nothing travels."""
        self.search((word,))
        return self._holding[word]

    def search(self, words: Sequence[str]) -> None:
        """Have the host look for words, at most eight, in one look."""
        new = tuple(word for word in dict.fromkeys(words) if word not in self._holding)
        if new:
            question = self._asked.model_copy(update={"words": new})
            source = _facts(self._look([question])[0], EngineSource)
            self._files = self._known(source)
            self._learn(source)

    def bring(self, names: Iterable[str]) -> None:
        """Have the texts of files at hand, with as few looks as there can be."""
        wanted = [name for name in dict.fromkeys(names) if self._lacks(name)]
        while wanted:
            parts = [wanted[at : at + FILES] for at in range(0, len(wanted), FILES)]
            scope = {"source_path": self._asked.source_path, "port": self._asked.port}
            asked = [ReadSourceTexts(paths=tuple(part), **scope) for part in parts]
            before = len(wanted)
            for look in self._look(asked):
                self._take(_facts(look, SourceTexts))
            wanted = [name for name in wanted if self._lacks(name)]
            if len(wanted) >= before:
                raise Unreadable(f"{self._host.name} does not give {wanted[0]} as it lists it")
        self._cache.tidy()

    def prepare(self, words: Sequence[str] = ()) -> None:
        """Bring what every resolver opens, and the files of the engine that can write a field so spelt."""
        whole = self.holding(WHOLE)
        named = [name for word in words for name in self.holding(word) & whole if "/srt/" in name]
        self.bring([*first(self._sizes()), *named])

    def _lacks(self, name: str) -> bool:
        """Whether a text must travel: it is neither at hand nor in the cache."""
        if name not in self._files or name in self._texts or name in self._troubles:
            return False
        digest = self._files[name].digest
        if digest is None:
            self._troubles[name] = "its user may not read it"
            return False
        data = self._cache.get(digest)
        if data is not None:
            self._texts[name] = data.decode("utf-8", errors="replace")
        return data is None

    def _take(self, brought: SourceTexts) -> None:
        for name, data in brought.contents.items():
            self.brought_files += 1
            self.brought_bytes += len(data)
            if self._files[name].digest == self._cache.put(data):
                self._texts[name] = data.decode("utf-8", errors="replace")
            else:
                self._troubles[name] = "it was changed while it was read: ask again"
        for name, why in brought.troubles.items():
            self._troubles[name] = why

    def _look(self, probes: Sequence[Any]) -> list[Evidence]:
        self.looks += 1
        return ask(self._host, probes)

    def _sizes(self) -> dict[str, int]:
        return {name: file.size for name, file in self._files.items()}

    def _known(self, source: EngineSource) -> dict[str, SourceFile]:
        if source.files is None:
            data = self._cache.get(source.listing)
            if data is None:
                raise ToolsError("the kept listing is gone: ask again")
            rows = json.loads(data)
            return {row[0]: SourceFile(path=row[0], size=row[1], digest=row[2]) for row in rows}
        rows = [[file.path, file.size, file.digest] for file in source.files]
        kept = self._cache.put(json.dumps(rows, separators=(",", ":")).encode())
        if kept == source.listing:  # else a later look could not be told that it is at hand
            self._cache.note(_noted(self._host, self._asked.port, self._asked.source_path), kept)
        return {file.path: file for file in source.files}

    def _learn(self, source: EngineSource) -> None:
        names = list(self._files)
        for word, places in source.holding.items():
            self._holding[word] = frozenset(names[n] for n in places if n < len(names))


def _noted(host: Host, port: object, path: object) -> str:
    return json.dumps([host.name, port, path])


def _facts(look: Evidence, kind: type[F]) -> F:
    if isinstance(look.facts, kind):
        return look.facts
    if look.output is None or look.output.lost:
        raise HostError(look.trouble or "the host was asked nothing")
    raise Absent(look.trouble.partition(": ")[2] or look.trouble)
