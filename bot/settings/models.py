"""Which language models may be asked, in which order, and how much they may cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.settings.words import Plain

_NAME = re.compile(r"[a-z][a-z0-9_]*:\S.*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_LOOKS_LIKE_A_KEY = re.compile(r"(?i)sk[-_]|.*[a-z0-9]{24}")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("must be provider:model, as openai:qwen3 or anthropic:claude-sonnet-4-5")
    return text


def _variable(text: str) -> str:
    # What was written here may be a key, so the sentence does not repeat it.
    if not _VARIABLE.fullmatch(text) or _LOOKS_LIKE_A_KEY.match(text):
        raise ValueError(
            "must be the NAME of an environment variable, as OPENAI_API_KEY: the key itself stays out of this file"
        )
    return text


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        port, user = parts.port, parts.username or parts.password
    except ValueError:
        raise ValueError("is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must be an address as http://host:port/v1")
    if user or parts.query or parts.fragment:
        raise ValueError(
            "must hold no user, password or query: a key is given by `key = NAME_OF_A_VARIABLE`"
        )
    return text


_Price = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]
_Money = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class ModelSettings(BaseModel):
    """One model, as a table [[models]] says it; the first of them that answers is used.

    `name` is provider:model as LangChain takes it. `key` names the environment variable that holds
    the key. `timeout_s` is for a whole answer. `extra` goes into the request as it is, for what only
    one kind of server knows, as `chat_template_kwargs`. Prices are US dollars for a million tokens.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[Plain, AfterValidator(_name)]
    base_url: Annotated[Plain, AfterValidator(_address)] | None = None
    key: Annotated[str, AfterValidator(_variable)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60
    max_output_tokens: Annotated[int, Field(ge=16, le=32_000)] = 1500
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    usd_per_m_in: _Price | None = None
    usd_per_m_out: _Price | None = None
    context_tokens: Annotated[int, Field(ge=2048, le=10_000_000)] = 32_768
    extra: dict[str, Any] = {}

    @model_validator(mode="after")
    def _extra_is_for_servers(self) -> Self:
        if self.extra and self.provider != "openai":
            raise ValueError("extra is for an openai: model alone")
        return self

    @property
    def provider(self) -> str:
        """What stands before the colon."""
        return self.name.partition(":")[0]

    @property
    def priced(self) -> bool:
        """Whether it is known what an answer costs."""
        return self.usd_per_m_in is not None and self.usd_per_m_out is not None

    def usd(self, tokens_in: int, tokens_out: int) -> float:
        """Return what so many tokens cost; 0 where no price is set."""
        return (tokens_in * (self.usd_per_m_in or 0) + tokens_out * (self.usd_per_m_out or 0)) / 1e6


class Budgets(BaseModel):
    """How much one investigation and one day (UTC) may take, as the table [budget] says it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens_per_investigation: Annotated[int, Field(ge=1, le=100_000_000)] = 40_000
    tokens_per_day: Annotated[int, Field(ge=1, le=10_000_000_000)] = 2_000_000
    usd_per_investigation: _Money | None = None
    usd_per_day: _Money | None = None
    tool_calls: Annotated[int, Field(ge=0, le=200)] = 20
    turns: Annotated[int, Field(ge=0, le=50)] = 8

    def unpriced(self, models: Sequence[ModelSettings]) -> str:
        """Return the name of a model whose money cannot be counted though money is bounded, or ""."""
        if self.usd_per_investigation is None and self.usd_per_day is None:
            return ""
        return next((model.name for model in models if not model.priced), "")
