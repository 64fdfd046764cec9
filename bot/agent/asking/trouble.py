"""What can go wrong with a model, in sentences that hold nothing of what its server said.

ToolsError
  ModelTrouble    no model answered; the playbook goes on without
    OverBudget      a bound on tokens or money is reached
    TooLong         the text is longer than the model takes: shorten it and ask again
"""

from __future__ import annotations

import re

from bot.narrator.wording import lowered
from tools.errors import ToolsError

_TOO_LONG = re.compile(  # SGLang, vLLM, llama.cpp and OpenAI, each in its own words
    r"(?i)context.{0,20}(?:length|window|size)|maximum.{0,20}tokens|too (?:long|large|many tokens)|longer than"
)
_NONE = "No model answers: "
_AWAY = {
    # Classes of langchain_core.exceptions, by name, because nothing here imports it.
    "ModelAuthenticationError": "refused the key: correct {key}",
    "ModelPermissionDeniedError": "refused the key the use of this model: correct {key}, or the name of the model",
    "ModelNotFoundError": "knows no such model or address: correct its name or base_url",
    "ModelRateLimitError": "takes no more requests for now (HTTP 429)",
    "ModelTimeoutError": "did not answer in time ({timeout_s:g} s)",
    "TimeoutError": "did not answer in time ({timeout_s:g} s)",
    "ModelConnectionError": "cannot be reached, or broke off: see that it runs, and base_url",
}


class ModelTrouble(ToolsError):
    """No model answered. `away`: it would not answer the next question either, for a while.

    `charged`: the server may have worked on the question, and its input counts as taken.
    """

    def __init__(self, sentence: str, *, away: bool = False, charged: bool = False) -> None:
        super().__init__(sentence)
        self.away = away
        self.charged = charged

    @property
    def inside(self) -> str:
        """What happened, as it stands in brackets within another sentence."""
        return lowered(str(self).removeprefix(_NONE).rstrip("."))


class OverBudget(ModelTrouble):
    """A bound on tokens or money is reached."""


class TooLong(ModelTrouble):
    """The text is longer than the model takes."""


def told(why: Exception, name: str, key: str, timeout_s: float) -> ModelTrouble:
    """Turn what a provider's library raised into one sentence; its own text may echo a key."""
    kinds = {kind.__name__ for kind in type(why).__mro__}
    status = getattr(why, "status_code", None)
    status = status if isinstance(status, int) else None
    if _is_too_long(why, kinds, status):
        return TooLong(f"The text is longer than {name} takes.")
    if said := next((text for kind, text in _AWAY.items() if kind in kinds), ""):
        said = said.format(key=key or "its key", timeout_s=timeout_s)
        late = bool(kinds & {"ModelTimeoutError", "TimeoutError", "ModelConnectionError"})
        return ModelTrouble(f"{name} {said}.", away=True, charged=late)
    if status is not None:
        return _of_status(status, name)
    if "ModelRefusalError" in kinds:
        return ModelTrouble(f"{name} refused to answer.")
    return ModelTrouble(
        f"{name} gave what is no answer of a model ({type(why).__name__}): see that base_url leads to one."
    )


def _of_status(status: int, name: str) -> ModelTrouble:
    if 300 <= status < 400:
        said = f"{name} sends the request elsewhere (HTTP {status}), and is not followed: correct base_url."
        return ModelTrouble(said, away=True)
    if status >= 500:
        return ModelTrouble(f"{name} is in trouble itself (HTTP {status}).", away=True)
    return ModelTrouble(f"{name} refused the request (HTTP {status}): its own log says why.")


def unmade(why: Exception, name: str) -> ModelTrouble:
    """Say why a model cannot even be asked: its provider, or the package for it, is not there."""
    provider = name.partition(":")[0]
    if isinstance(why, ImportError):
        said = f"install perfsleuth[models], or LangChain's package for {provider}"
    else:
        said = f"see that LangChain knows the provider {provider}"
    return ModelTrouble(f"{name} cannot be set up ({type(why).__name__}): {said}.", away=True)


def none_answers(troubles: list[ModelTrouble]) -> ModelTrouble:
    """Make one trouble of those of all models; where shortening helps with one, it is that."""
    if not troubles:
        return ModelTrouble("No model is configured.", away=True)
    kind = TooLong if any(isinstance(one, TooLong) for one in troubles) else ModelTrouble
    said = "; ".join(str(one).removesuffix(".") for one in troubles)
    many = f"{_NONE}{said}." if len(troubles) > 1 else f"{said}."
    return kind(many, away=all(one.away for one in troubles))


def _is_too_long(why: Exception, kinds: set[str], status: int | None) -> bool:
    if "ContextOverflowError" in kinds or status == 413:
        return True
    return status == 400 and bool(_TOO_LONG.search(str(why)[:2000]))
