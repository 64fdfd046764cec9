"""What an explanation stands on: the source of one engine and what is known of its launch."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot.source.cache import SourceCache
from bot.source.folder import SourceFolder
from bot.source.installed import InstalledSource
from bot.source.known import Known, known_of
from tools.errors import Absent, HostError, ToolsError, Unreadable
from tools.evidence import AnyProbe, Evidence, ask
from tools.host import Host
from tools.hosts.files.bounded import read_bounded
from tools.probes.environment import ReadEnvironment
from tools.probes.gpus import ReadGpus
from tools.probes.launch import ReadLaunch
from tools.probes.model_config import ReadModelConfig
from tools.probes.server_info import ReadServerInfo
from tools.probes.server_log import ReadServerLog
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given
from tools.provenance.tree import Tree
from tools.sglang.endpoints import arguments_in_effect

_NAME = re.compile(r"-{0,2}[A-Za-z][\w-]{1,80}")
_LAUNCH: tuple[type[AnyProbe], ...] = (
    ReadLaunch, ReadServerInfo, ReadModelConfig, ReadGpus, ReadEnvironment, ReadServerLog,
)  # fmt: skip


@dataclass(frozen=True)
class Ground:
    """The source and the launch; `explained` follows the resolver, once, for as long as `pause` lets it."""

    texts: Mapping[str, str]
    known: Known
    pause: Callable[[], None] | None = None

    @property
    def tree(self) -> Tree:
        """Return the source, to look for flags or to explain them."""
        return Tree(self.texts) if self.pause is None else Tree(self.texts, self.pause)

    def explained(self) -> Explanation:
        """Follow how the engine made its arguments; raise Absent where it would have refused them."""
        tree = self.tree
        return Explanation(tree, self.known.on(tree))

    @property
    def unseen(self) -> list[str]:
        """Return what was not to be had, each as a part of a sentence."""
        found = list(self.known.missing)
        if isinstance(self.texts, InstalledSource):
            found += [f"{self.texts.root}/{name} (it cannot be read)" for name in self.texts.unread]
            found += ["a part of the source (listing it took too long)"] if self.texts.cut else []
        return found


def of_host(
    host: Host,
    flag: str = "",
    *,
    launch: bool = True,
    looks: Sequence[Evidence] = (),
    cache: SourceCache | None = None,
    scope: Mapping[str, Any] | None = None,
) -> Ground:
    """Ask a host in one look for its engine's files and for its launch, then bring what is opened.

    `looks` are answers that are at hand: they are not asked for again. `scope` is port, log_path and
    source_path, as HostSettings.scope() has them. Raises HostError where the host does not answer,
    and Absent where no SGLang runs or its source is not found.
    """
    kept, scope = cache or SourceCache(), scope or {}
    place = {name: scope.get(name) for name in ("port", "source_path")}
    words = spellings(flag)
    listing = InstalledSource.listing(host, kept, words, **place)
    have = {look.title for look in looks if look.facts is not None}
    wanted = [kind for kind in _LAUNCH if launch and kind.__name__ not in have]
    asked = [listing, *(_scoped(kind, scope) for kind in wanted)]
    answers = ask(host, asked)
    if all(look.output is None or look.output.lost for look in answers):
        raise HostError(answers[0].trouble)
    texts = InstalledSource(host, listing, answers[0], kept)
    texts.prepare(words)
    return Ground(texts, known_of([*looks, *answers]) if launch else Known(Given()))


def of_folder(
    folder: Path,
    argv: str = "",
    server_info: Path | None = None,
    model_config: Path | None = None,
    gpu: str | None = None,
    config: Path | None = None,
) -> Ground:
    """Return what files tell: what is not given is not known."""
    facts: dict[str, Any] = {"argv": _words(argv)}
    if model_config is not None:
        facts["model_config"] = _object(_json(model_config), model_config)
    if server_info is not None:
        facts["resolved"] = arguments_in_effect(_text(server_info))
    said = _object(_yaml(config), config) if config is not None else None
    if said is not None and "--config" not in facts["argv"]:
        facts["argv"] = (*facts["argv"], "--config", str(config))
    return Ground(SourceFolder(folder), Known(Given.of(gpu=gpu, **facts), said))


def spellings(flag: str) -> tuple[str, ...]:
    """Return a flag as a field and as a flag; nothing for what is no name of one."""
    if not _NAME.fullmatch(flag):
        return ()
    name = flag.lstrip("-")
    return (name.replace("-", "_"), "--" + name.replace("_", "-"))


def _scoped(kind: type[AnyProbe], scope: Mapping[str, Any]) -> AnyProbe:
    return kind(**{name: value for name, value in scope.items() if name in kind.model_fields})


def _words(argv: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(argv))
    except ValueError as why:
        raise ToolsError(f"--argv is no command line: {why}") from None


def _text(path: Path) -> str:
    return read_bounded(path).data.decode("utf-8", errors="replace")


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError):
        raise Unreadable(f"{path} is no JSON") from None


def _yaml(path: Path) -> Any:
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise Absent(f"{path} is no file of --config: the engine takes .yaml and .yml alone")
    try:
        return yaml.safe_load(_text(path)) or {}
    except (yaml.YAMLError, RecursionError, ValueError):
        raise Unreadable(f"{path} is no YAML") from None


def _object(data: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise Absent(f"{path} holds no names with values")
    return {str(name): value for name, value in data.items()}
