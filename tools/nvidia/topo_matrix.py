"""`nvidia-smi topo -m` and `topo -p2p r`: a matrix of words between devices.

Cells are parted by tabs, the header is underlined by ANSI codes even in a pipe, and a narrow
terminal wraps both. Old drivers name NICs by their device ("mlx5_0") and say SOC for SYS. Words of
peer access: OK, CNS, GNS, TNS, NS, DR, U (legend of the program itself).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tools.nvidia.topology import Pair, Topology

_LINK = re.compile(r"SYS|SOC|NODE|PHB|PXB|PIX|PSB|NV\d{1,2}|C2C")
_PEER = frozenset({"OK", "CNS", "GNS", "TNS", "NS", "DR", "U", "TNR"})
_ROW = re.compile(r"\s*(GPU\d+|NIC\d+|mlx\d+_\S+|\w+_\d+)\s+(\S+)")
_NIC = re.compile(r"\s*(NIC\d+): (\S+)\s*$")
_TITLES = frozenset({"CPU", "NUMA", "Affinity", "GPU", "ID"})
_COMMAND = re.compile(r"nvidia-smi topo .*?-p2p +(\w)")
_ACCESS = frozenset("rw")
_LONGEST = 4000
_MOST = 32  # matrices of one text
_NOT_TOLD = "N/A"


@dataclass
class _Matrix:
    """One matrix while it is read."""

    columns: list[str] = field(default_factory=list)
    rows: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    of_access: bool = True  # False: the command above asked for NVLink, atomics or a property


def is_matrix(text: str) -> bool:
    """Say whether a text holds a row of such a matrix."""
    return any(
        _is_row(line) for line in text.splitlines() if line.lstrip()[:3] in ("GPU", "NIC", "mlx")
    )


def read_matrix(text: str) -> Topology:
    """Return what all matrices of a text say; words of links and of peer access are told apart."""
    topology = Topology(
        nic_names={found[1]: found[2] for line in text.splitlines() if (found := _NIC.match(line))}
    )
    for matrix in islice(_matrices(text.splitlines()), _MOST):
        topology = topology.merged(_facts(matrix))
    return topology


def _facts(matrix: _Matrix) -> Topology:
    columns = matrix.columns or [name for name, _, _ in matrix.rows]
    gpus = tuple(name for name, _, _ in matrix.rows if name.startswith("GPU"))
    pairs = tuple(_pairs(matrix, columns))
    tails = {name: tail for name, _, tail in matrix.rows if name in gpus}
    linked = [pair for pair in pairs if _LINK.fullmatch(pair.word)]
    return Topology(
        gpus=gpus,
        links=tuple(pair for pair in linked if pair.a in gpus and pair.b in gpus),
        nics=tuple(pair for pair in linked if pair.a in gpus and pair.b not in gpus),
        p2p=tuple(
            pair for pair in pairs if pair.word in _PEER and pair.b in gpus and matrix.of_access
        ),
        cpus={name: tail[0] for name, tail in tails.items() if tail and tail[0] != _NOT_TOLD},
        numa={
            name: tail[1] for name, tail in tails.items() if len(tail) > 1 and tail[1] != _NOT_TOLD
        },
    )


def _pairs(matrix: _Matrix, columns: Sequence[str]) -> Iterator[Pair]:
    for name, words, _ in matrix.rows:
        here = columns.index(name) if name in columns else -1
        for there, word in enumerate(words):
            if there > here >= 0 and there < len(columns):
                yield Pair(a=name, b=columns[there], word=word)


def _matrices(lines: Sequence[str]) -> Iterator[_Matrix]:
    matrix = _Matrix()
    open_ = False  # a line that is no row may continue the one above, as a narrow terminal wraps it
    for line in lines:
        if len(line) > _LONGEST or not line.strip() or " = " in line:
            open_ = False
        elif _is_row(line):
            _take_row(matrix, line)
            open_ = True
        elif _COMMAND.search(line) or _is_header(line):
            if matrix.rows:
                yield matrix
                matrix = _Matrix()
            _take_header(matrix, line)
            open_ = False
        elif open_:
            _continue_row(matrix, line)
    if matrix.rows:
        yield matrix


def _take_header(matrix: _Matrix, line: str) -> None:
    """Take the command above a matrix, or its line of columns."""
    if command := _COMMAND.search(line):
        matrix.of_access = command[1] in _ACCESS
    else:
        matrix.columns += _devices(line)


def _is_row(line: str) -> bool:
    found = _ROW.match(line[:_LONGEST])
    return bool(found and (found[2] == "X" or found[2] in _PEER or _LINK.fullmatch(found[2])))


def _is_header(line: str) -> bool:
    words = line.split()
    return (
        bool(words)
        and not _is_row(line)
        and (re.fullmatch(r"GPU\d+|NIC\d+|mlx\d+_\d+", words[0]) is not None or words[0] == "CPU")
    )


def _devices(line: str) -> list[str]:
    return [
        word for word in line.split() if word not in _TITLES and re.fullmatch(r"[\w-]+\d+", word)
    ]


def _take_row(matrix: _Matrix, line: str) -> None:
    name = line.split()[0]
    if "\t" in line:
        cells = [cell.strip() for cell in line.strip().split("\t")]
        width = len(matrix.columns) or sum(_is_word(cell) for cell in cells[1:])
        matrix.rows.append((name, cells[1 : width + 1], cells[width + 1 :]))
        return
    matrix.rows.append((name, [], []))
    _continue_row(matrix, line.split(maxsplit=1)[1])


def _continue_row(matrix: _Matrix, line: str) -> None:
    _, words, tail = matrix.rows[-1]
    for word in line.split():
        (words if _is_word(word) and not tail else tail).append(word)


def _is_word(cell: str) -> bool:
    return cell == "X" or cell in _PEER or bool(_LINK.fullmatch(cell))
