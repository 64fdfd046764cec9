"""Requests and answers of the API as people paste them: what they ask for, what was counted."""

from __future__ import annotations

from tools.probe import Facts


class Requests(Facts):
    """Requests to an OpenAI-like API and their answers, counted; no prompt is kept."""

    with_grammar: int = 0  # response_format, json_schema, regex, EBNF or tools that must be called
    without_grammar: int = 0
    schema_chars: int | None = None  # length of the largest schema
    prompt_tokens: int | None = None  # of the last answer, as are the following
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None

    def merged(self, other: Requests) -> Requests:
        """Count the requests of both looks together."""
        both = super().merged(other)
        return both.model_copy(
            update={
                "with_grammar": self.with_grammar + other.with_grammar,
                "without_grammar": self.without_grammar + other.without_grammar,
            }
        )
