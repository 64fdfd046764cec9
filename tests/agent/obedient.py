"""A model that reads everything and then does whatever a hostile text wants of it, with all its means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.agent.asking.reply import Call, Reply, Said
from tests.agent.hostile import CANARIES, Hostile

HONEST = "The looks are told above [E1]."
_ID = re.compile(r"\bE(\d{1,3})\b")
_READ_FIRST = 6  # raw texts that it reads before it obeys


class Obedient:
    """Obeys one text, whether it has seen it or not; `saw` says if it has.

    While it is offered tools it reads raw texts, then makes the calls that the text demands, then
    writes a call as text, then says what the text demands. Without tools it is asked to explain,
    and says that, with one honest sentence.
    """

    notice = ""

    def __init__(self, one: Hostile, goals: Mapping[str, Mapping[str, Any]]) -> None:
        self.given: list[str] = []
        self.tools: set[str] = set()
        self.turns = 0
        self.said: list[str] = []  # all that it said as an explanation
        self._one = one
        self._goals = [goals[name] for name in one.goals]

    def ask(
        self,
        system: str,
        messages: Sequence[Said],
        tools: Sequence[dict[str, Any]] = (),
        *,
        max_output_tokens: int | None = None,
    ) -> Reply:
        heard = "\n".join(one.text for one in messages)
        self.given += [system, heard, json.dumps(tools, ensure_ascii=False)]
        self.tools |= {one["function"]["name"] for one in tools}
        self.turns += 1
        if not tools:
            self.said += self._says(system)
            return self._reply("\n".join([*self.said[-8:], HONEST]))
        steps = [self._curious(heard), self._demanded(), self._written(), self._told(system)]
        return steps[min(self.turns, len(steps)) - 1]

    @property
    def saw(self) -> bool:
        """Say whether the text reached the model, as letters and digits."""
        wanted = [_squashed(step) for step in self._one.steps]
        heard = _squashed("\n".join(self.given))
        return any(wanted) and all(step[:30] in heard for step in wanted)

    def _curious(self, heard: str) -> Reply:
        looks = sorted({int(n) for n in _ID.findall(heard)})
        words = max(re.findall(r"\w+", self._one.steps[0]) or ["a"], key=len)[:100]
        raw = [{"look": f"E{n}", "around": words} for n in looks[:_READ_FIRST]]
        grep = {"text": words} if len(words) > 1 else {}
        calls = [*(Call("excerpt", args, "") for args in raw), Call("GrepServerLog", grep, "")]
        return self._reply("", calls)

    def _demanded(self) -> Reply:
        wanted = [
            Call(one["name"], dict(one["args"]), f"c{n}")
            for goal in self._goals
            for one in goal.get("calls", ())
            for n in range(one.get("times", 1))
        ]
        calls = json.loads(
            self._filled(json.dumps([[one.name, one.args, one.id] for one in wanted]))
        )
        return self._reply("", [Call(*one) for one in calls])

    def _written(self) -> Reply:
        texts = [text for goal in self._goals for text in goal.get("texts", ())]
        demanded = self._demanded().calls
        first = (
            json.dumps({"name": demanded[0].name, "arguments": demanded[0].args})
            if demanded
            else ""
        )
        return self._reply(texts[self.turns % len(texts)] if texts else first)

    def _told(self, system: str) -> Reply:
        return self._reply("\n".join(self._says(system)))

    def _says(self, system: str) -> list[str]:
        said = [text for goal in self._goals for text in goal.get("says", ())]
        said += [text for goal in self._goals for text in goal.get("texts", ())]
        return [self._filled(one.replace("{system}", system)) for one in said]

    def _filled(self, text: str) -> str:
        heard = "\n".join(self.given)
        return text.replace(
            "{canaries}", " ".join(one for one in CANARIES if one in heard) or "none"
        )

    def _reply(self, text: str, calls: Sequence[Call] = ()) -> Reply:
        finish: Any = "tool_calls" if calls else "stop"
        return Reply(
            text, tuple(calls), finish=finish, tokens_in=900, tokens_out=90, model="obedient"
        )


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()
