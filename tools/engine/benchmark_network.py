"""Tests of the network between machines: perftest (ib_write_bw and its kin) and iperf3.

perftest's MB is 2^20 bytes (perftest 6, get_size in perftest_parameters.c), its Gb 10^9 bits. Of
iperf3 what arrived counts: the line of the receiver, and of parallel streams their sum.
"""

from __future__ import annotations

import re
from typing import Any

from tools.probe import JSON

Told = dict[str, Any]
_PERFTEST = re.compile(
    r"^ {4,40}((?:RDMA_(?:Write|Read)|Send)(?: Post List)?(?: Bidirectional)? BW Test)\s*$",
    re.MULTILINE,
)
_COLUMNS = re.compile(
    r"^ #bytes +#iterations +BW peak\[(?P<unit>Gb|MB)/sec\] +BW average\[", re.MULTILINE
)
_RDMA_ROW = re.compile(
    r"^ (\d{1,12}) +\d{1,12} +\d+(?:\.\d+)? +(\d{1,12}(?:\.\d+)?)[ \t]", re.MULTILINE
)
_IPERF = re.compile(
    r"^\[(?P<id> *\d{1,3}|SUM)\] +[\d.]+- *[\d.]+ +sec +[\d.]+ \w?Bytes"
    r" +(?P<rate>\d{1,12}(?:\.\d+)?) (?P<unit>[KMGT]?)bits/sec"
    r"(?: +(?P<lost>\d{1,12}))? +(?P<side>sender|receiver)\s*$",
    re.MULTILINE,
)  # fmt: skip
_BITS = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_GBIT_PER_MIB = 8 * 2**20 / 1e9
_LONGEST = 1 << 20


def is_network_test(text: str) -> bool:
    """Say whether a text is the print of such a test."""
    return bool(read_network_test(text))


def read_network_test(text: str) -> Told:
    """Return the rates of RDMA and of TCP in Gbit/s, as fields of a benchmark."""
    if len(text) > _LONGEST:
        return {}
    return _rdma(text) | (_tcp_json(text) if text.lstrip()[:1] == "{" else _tcp(text))


def _rdma(text: str) -> Told:
    test, columns = _PERFTEST.search(text), _COLUMNS.search(text)
    rows = _RDMA_ROW.findall(text, columns.end()) if columns else []
    if not (columns and rows):
        return {}
    factor = 1.0 if columns["unit"] == "Gb" else _GBIT_PER_MIB
    rate = max(float(average) for _, average in rows) * factor
    return {"tool": f"perftest ({test[1]})" if test else "perftest", "rdma_gbit_s": round(rate, 2)}


def _tcp(text: str) -> Told:
    lines = [found.groupdict() for found in _IPERF.finditer(text)]
    if not lines:
        return {}
    sums = [line for line in lines if line["id"] == "SUM"] or lines
    got = [line for line in sums if line["side"] == "receiver"] or sums
    rate = sum(float(line["rate"]) * _BITS[line["unit"]] for line in got)
    lost = [int(line["lost"]) for line in sums if line["lost"] is not None]
    return {
        "tool": "iperf3",
        "tcp_gbit_s": round(rate, 3),
        "tcp_retransmits": sum(lost) if lost else None,
    }


def _tcp_json(text: str) -> Told:
    if '"sum_received"' not in text:
        return {}
    try:
        said = JSON.decode(text)
        end = said["end"]
        rate, lost = end["sum_received"]["bits_per_second"], end["sum_sent"].get("retransmits")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}
    if not isinstance(rate, int | float):
        return {}
    return {
        "tool": "iperf3",
        "tcp_gbit_s": round(rate / 1e9, 3),
        "tcp_retransmits": lost if isinstance(lost, int) else None,
    }
