"""What RDMA ports count of lost packets and bad links, as sysfs and `rdma statistic` print it."""

from __future__ import annotations

import re
from typing import Any

Told = dict[str, Any]
_SYSFS = re.compile(
    r"^/sys/class/infiniband/(?P<card>[\w.-]{1,40})/ports/(?P<port>\d{1,3})/(?:hw_)?counters/(?P<name>\w{1,60}):"
    r"(?P<count>\d{1,20})$",
    re.MULTILINE,
)
_STATISTIC = re.compile(  # iproute2 4.20 to 6.16
    r"^link (?P<card>[\w.-]{1,40})/(?P<port>\d{1,3}) (?P<rest>[a-z]\w{1,60} \d{1,20}(?: [a-z]\w{1,60} \d{1,20})*) *$",
    re.MULTILINE,
)
# kernel drivers/infiniband/hw/mlx5/counters.c and core/sysfs.c: those that count a packet lost or sent again,
# and those of a link with bit errors
LOSSES = frozenset(
    {
        "out_of_sequence", "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err",
        "req_transport_retries_exceeded", "roce_adp_retrans", "roce_adp_retrans_to", "port_xmit_discards",
        "symbol_error", "link_downed", "link_error_recovery", "port_rcv_errors", "local_link_integrity_errors",
    }
)  # fmt: skip
_MOST = 20_000


def read_rdma_counters(text: str) -> Told:
    """Return the counts of losses by port, and what they grew by between the first and the last reading.

    Readings in two texts are not compared: they may be of two machines.
    """
    if "infiniband/" not in text and not text.startswith("link ") and "\nlink " not in text:
        return {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for name, count in _readings(text):
        first.setdefault(name, count)
        last[name] = count
    grown = {name: last[name] - first[name] for name in last if last[name] > first[name]}
    return {"rdma_counts": last, "rdma_grown": grown} if last else {}


def _readings(text: str) -> list[tuple[str, int]]:
    found = [
        (at.start(), f"{at['card']}/{at['port']} {at['name']}", int(at["count"]))
        for at in list(_SYSFS.finditer(text))[:_MOST]
        if at["name"] in LOSSES
    ]
    for line in list(_STATISTIC.finditer(text))[:_MOST]:
        words = line["rest"].split()
        found += [
            (line.start(), f"{line['card']}/{line['port']} {name}", int(count))
            for name, count in zip(words[::2], words[1::2], strict=True)
            if name in LOSSES
        ]
    return [(name, count) for _, name, count in sorted(found)]
