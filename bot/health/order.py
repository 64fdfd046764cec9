"""What a sweep is to look at, and which day it makes; kept in its run as JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Order(BaseModel):
    """`hosts` were chosen when it was accepted, by what who wants it may see then.

    `date` is that of who reads the summary. The looks of a `daily` one are kept as the days of
    their hosts; `whom` names them where they are not all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: str
    hosts: tuple[str, ...]
    whom: str = ""
    daily: bool = False
