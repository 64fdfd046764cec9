"""The model may propose a flag by its name and value; a word that is no flag goes nowhere."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.agent.planning.thinking import THOUGHTS, ProposeChange
from bot.agent.planning.toolbox import tools
from tools.change import Change


def test_it_is_offered_as_a_tool_with_two_typed_fields() -> None:
    (made,) = [one for one in tools() if one["function"]["name"] == "propose_change"]
    assert set(made["function"]["parameters"]["properties"]) == {"flag", "value"}
    assert made["function"]["parameters"]["required"] == ["flag"]
    assert THOUGHTS["propose_change"] is ProposeChange


def test_a_value_is_set_and_none_takes_the_flag_out() -> None:
    assert ProposeChange(flag="chunked_prefill_size", value="4096").change == Change(
        set={"chunked_prefill_size": 4096}
    )
    assert ProposeChange(flag="disable_radix_cache").change == Change(
        unset=("disable_radix_cache",)
    )


@pytest.mark.parametrize(
    "flag", ["--port", "Chunked", "a b", "x; rm -rf /", "", "a" * 80, "NCCL_ALGO"]
)
def test_what_is_no_name_of_a_flag_is_refused(flag: str) -> None:
    with pytest.raises(ValidationError):
        ProposeChange(flag=flag, value="1")
