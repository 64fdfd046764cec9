"""RDMA ports as ibstat, ibstatus and ibv_devinfo print them."""

from __future__ import annotations

import re

from tools.linux.machine import RdmaPort
from tools.linux.quantity import number

# infiniband-diags 2.x and rdma-core 17 to 57; their words are not translated
_CARD = re.compile(
    r"^(?:CA '(?P<ibstat>[\w.-]{1,40})'|hca_id:[ \t]+(?P<devinfo>[\w.-]{1,40})"
    r"|Infiniband device '(?P<ibstatus>[\w.-]{1,40})' port (?P<port>\d{1,3}) status:)[ \t]*$",
    re.MULTILINE,
)
_PORT = re.compile(r"^[ \t]+(?:Port (\d{1,3}):|port:[ \t]+(\d{1,3}))[ \t]*$", re.MULTILINE)
_FIELD = re.compile(
    r"^[ \t]+(CA type|vendor_part_id|State|state|Physical state|phys state|Rate|rate|Link layer|link_layer):"
    r"[ \t]+(.*)$",
    re.MULTILINE,
)
_RATE = re.compile(r"(\d+(?:\.\d+)?)")
_MOST = 256


def read_rdma(text: str) -> tuple[RdmaPort, ...]:
    """Return every port with its state; an empty tuple where a text lists none."""
    cards = list(_CARD.finditer(text))[:_MOST]
    ports: list[RdmaPort] = []
    for at, card in enumerate(cards):
        end = cards[at + 1].start() if at + 1 < len(cards) else len(text)
        body = text[card.end() : min(end, card.end() + 20_000)]
        name = card["ibstat"] or card["devinfo"] or card["ibstatus"]
        if card["port"]:
            ports.append(_port(name, card["port"], body, ""))
            continue
        places = list(_PORT.finditer(body))
        head = body[: places[0].start()] if places else ""
        for place, found in enumerate(places):
            until = places[place + 1].start() if place + 1 < len(places) else len(body)
            ports.append(_port(name, found[1] or found[2], body[found.end() : until], head))
    return tuple(ports[:_MOST])


def _port(card: str, port: str, body: str, head: str) -> RdmaPort:
    """Read one port; `head` is what the list tells of its card."""
    lines = _FIELD.findall(head) + _FIELD.findall(body)
    told = {name.lower().replace("_", " "): value.strip() for name, value in lines}
    physical = told.get("physical state") or told.get("phys state")
    rate = _RATE.match(told.get("rate", ""))
    return RdmaPort(
        name=f"{card}/{port}",
        state=_word(told.get("state", "")) or "unknown",
        physical=_word(physical or "") or None,
        rate_gbit_s=number(rate[1]) if rate else None,
        layer=told.get("link layer") or None,
        card_type=told.get("ca type") or told.get("vendor part id") or None,
    )


def _word(text: str) -> str:
    """Return "Active" of "Active", "4: ACTIVE" and "PORT_ACTIVE (4)"."""
    words = re.sub(r"\d{1,2}: |PORT_|\(\d{1,2}\)", "", text).strip()
    return words if words in ("LinkUp", "LinkErrorRecovery") else words.capitalize()
