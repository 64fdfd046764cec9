"""Processors as lscpu prints them: lines in any language, JSON, and the tables of -e and -p."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tools.linux.machine_virt import by_hypervisor
from tools.linux.quantity import number

Told = dict[str, Any]
# util-linux 2.27 to 2.41: the labels of its message files (cs, de, es, fr, ja, pl, pt_BR, sv, uk, zh_CN)
_SPELLINGS = {
    "cpus": ("CPU(s)", "CPU", "Processeur(s)", "Počet CPU", "CPU(er)", "Процесори"),
    "threads": (
        "Thread(s) per core",
        "Thread(s) pro Kern",
        "Thread(s) par cœur",
        "Hilo(s) de procesamiento por núcleo",
        "每个核的线程数",
        "Vláken na jádro",
        "コアあたりのスレッド数",
        "Wątków na rdzeń",
        "Thread(s) per núcleo",
        "Tråd(ar) per kärna",
        "Потоків на ядро",
    ),
    "sockets": (
        "Socket(s)", "Sockel", "«Socket(s)»", "座", "Prise(s)", "Patic", "ソケット数", "Gniazd", "Soquete(s)",
        "Uttag", "Сокети", "Сокетов",
    ),
    "nodes": (
        "NUMA node(s)", "NUMA-Knoten", "Nœud(s) NUMA", "Modo(s) NUMA", "NUMA 节点", "Uzly NUMA",
        "NUMA ノード数", "Węzłów NUMA", "Nó(s) de NUMA", "NUMA nod(er)", "Вузли NUMA",
    ),
    "model": (
        "Model name", "Modellname", "Nom de modèle", "Nombre del modelo", "型号名称", "Název modelu",
        "モデル名", "Nazwa modelu", "Nome do modelo", "Modellnamn", "Назва моделі", "Имя модели",
    ),
    "max": (
        "CPU max MHz", "Maximale Taktfrequenz der CPU", "Vitesse maximale du processeur en MHz",
        "CPU max. MHz", "CPU 最大 MHz", "CPU MHz máx.", "Макс. частота процесора у МГц",
    ),
    "vendor": (
        "Hypervisor vendor", "Hypervisor-Anbieter", "Constructeur d'hyperviseur",
        "Fabricante del hipervisor", "超管理器厂商", "Výrobce hypervizoru", "ハイパーバイザのベンダー",
        "Producent hipernadzorcy", "Fabricante do hipervisor", "Hypervisortillverkare",
        "Виробник гіпервізора", "Разработчик гипервизора",
    ),
}  # fmt: skip
_LABELS = {label: name for name, labels in _SPELLINGS.items() for label in labels}
_ROW = re.compile(
    r"^[ \t]{0,8}([^\s:：][^:：\n]{0,60}?)[ \u00a0]?[:：][ \t]+(\S[^\n]*)$", re.MULTILINE
)
_NODE = re.compile(
    r"(?:NUMA node|NUMA-Knoten|Nœud NUMA\s?|NUMA 节点|CPU NUMA uzlu |NUMA ノード |CPU\(s\) del nodo NUMA "
    r"|Procesory węzła NUMA |NUMA-nod|Процесори вузла)(\d+)(?:\s|$)?",
    re.IGNORECASE,
)
_FIELDS = frozenset({"CPU", "NODE", "SOCKET", "CORE", "ONLINE", "MAXMHZ", "MINMHZ", "MHZ"})
_MOST_CPUS = 8192


def read_lscpu(text: str) -> Told:
    """Return what lscpu says, whole or grepped, as lines, JSON or a table."""
    if text.lstrip()[:1] == "{":
        return _rows(_of_json(text))
    return _rows(_ROW.findall(text)) or _table(text) or _parsable(text)


def _rows(pairs: Iterable[tuple[str, str]]) -> Told:
    pairs = list(pairs)
    rows = {_LABELS[label]: value for label, value in pairs if label in _LABELS}
    nodes = {found[1]: value for label, value in pairs if (found := _NODE.match(label))}
    counts = {
        name: int(rows[name])
        for name in ("cpus", "threads", "sockets", "nodes")
        if rows.get(name, "").isdecimal()
    }
    sure = nodes or rows.get("model") or {"threads", "sockets", "nodes"} & counts.keys()
    if not sure and "vendor" not in rows:
        return {}
    return {
        "cpu_model": rows.get("model"),
        "cpus": counts.get("cpus"),
        "threads_per_core": counts.get("threads"),
        "sockets": counts.get("sockets"),
        "numa_nodes": counts.get("nodes", len(nodes) or None),
        "numa_cpus": nodes or None,
        "mhz_max": number(rows["max"]) if "max" in rows else None,
        "virt": by_hypervisor(rows["vendor"]) if "vendor" in rows else None,
    }


def _of_json(text: str) -> list[tuple[str, str]]:
    """Return the labels and values of `lscpu -J`; since 2.37 they lie in one another."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return []
    waiting = list(said.get("lscpu") or ()) if isinstance(said, dict) else []
    pairs: list[tuple[str, str]] = []
    while waiting and len(pairs) < 1000:
        one = waiting.pop(0)
        if isinstance(one, dict) and isinstance(one.get("field"), str):
            pairs.append((one["field"].rstrip(":： \u00a0"), str(one.get("data") or "")))
            waiting += one.get("children") or ()
    return pairs


def _table(text: str) -> Told:
    """Read `lscpu -e`: the heads are not translated, yes and no are."""
    lines = [line.split() for line in text.split("\n")]
    head = next(
        (at for at, words in enumerate(lines) if words[:1] == ["CPU"] and len(words) > 2), None
    )
    if head is None or len(_FIELDS & set(lines[head])) < 3 or "CORE" not in lines[head]:
        return {}
    return _counted([dict(zip(lines[head], words, strict=False)) for words in _body(lines, head)])


def _body(lines: list[list[str]], head: int) -> list[list[str]]:
    rows = []
    for words in lines[head + 1 : head + 1 + _MOST_CPUS]:
        if not words or not words[0].isdecimal():
            break
        rows.append(words)
    return rows


def _parsable(text: str) -> Told:
    """Read `lscpu -p`: numbers with commas below a comment that names the columns."""
    names: list[str] = []
    rows: list[dict[str, str]] = []
    for line in text.split("\n"):
        if line.startswith("# CPU,"):
            names = [name.upper() for name in line[2:].strip().split(",")]
        elif names and line[:1].isdecimal() and len(rows) < _MOST_CPUS:
            rows.append(dict(zip(names, line.split(","), strict=False)))
    return _counted(rows) if names else {}


def _counted(rows: list[dict[str, str]]) -> Told:
    if not rows:
        return {}
    nodes: dict[str, list[int]] = {}
    for row in rows:
        if row.get("NODE", "").isdecimal() and row["CPU"].isdecimal():
            nodes.setdefault(row["NODE"], []).append(int(row["CPU"]))
    cores = Counter((row.get("SOCKET"), row["CORE"]) for row in rows if row.get("CORE", "-") != "-")
    sockets = {row["SOCKET"] for row in rows if row.get("SOCKET", "").isdecimal()}
    mhz = [number(row.get("MHZ", "")) for row in rows]
    most = [value for row in rows if (value := number(row.get("MAXMHZ", ""))) is not None]
    return {
        "cpus": len(rows),
        "threads_per_core": max(cores.values(), default=None),
        "sockets": len(sockets) or None,
        "numa_nodes": len(nodes) or None,
        "numa_cpus": {node: ranges(cpus) for node, cpus in nodes.items()} or None,
        "mhz_max": max(most, default=None),
        "mhz_now": tuple(value for value in mhz if value is not None) or None,
    }


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as the kernel lists them: "0-3,8"."""
    runs: list[list[int]] = []
    for one in sorted(set(numbers)):
        if runs and one == runs[-1][1] + 1:
            runs[-1][1] = one
        else:
            runs.append([one, one])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in runs)
