"""True, false, cannot tell: what undecided branches leave behind."""

from __future__ import annotations

import pytest

from tests.provenance.engines import explained, only
from tools.provenance.explanation import Explanation
from tools.provenance.given import Given

MAYBE = "unheard_of.answer()"


def state(body: str, flag: str = "a", argv: str = "") -> tuple[object, object, list[str]]:
    answer = explained(only(body), argv).one(flag)
    return answer.overridden, answer.resolved, [site.state for site in answer.sites]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"if {MAYBE}:\n    self.a = 2", (None, None, ["unknown"])),
        (f"if {MAYBE}:\n    self.a = 2\nelse:\n    self.a = 2", (True, 2, ["unknown", "unknown"])),
        (f"if {MAYBE}:\n    self.a = 2\nself.a = 3", (True, 3, ["unknown", "fired"])),
        (f"if {MAYBE}:\n    return\nself.a = 2", (None, None, ["unknown"])),
        (f"if {MAYBE}:\n    raise ValueError('no')\nself.a = 2", (True, 2, ["fired"])),
        (f"if {MAYBE} and False:\n    self.a = 2", (False, 1, ["not_fired"])),
        (f"if {MAYBE} or True:\n    self.a = 2", (True, 2, ["fired"])),
        (f"for x in {MAYBE}:\n    self.a = 2", (None, None, ["unknown"])),
        (f"while {MAYBE}:\n    self.a = 2", (None, None, ["unknown"])),
        (f"x = 5 if {MAYBE} else 6\nif x > 4:\n    self.a = 2", (True, 2, ["fired"])),
        (
            f"for x in [1, 2]:\n    if {MAYBE}:\n        continue\n    self.a = 2",
            (None, None, ["unknown"]),
        ),
        (
            "try:\n    int('x')\n    self.a = 3\nexcept ValueError:\n    self.a = 2",
            (True, 2, ["fired", "not_fired"]),
        ),
        ("try:\n    import torch_npu\nexcept ImportError:\n    self.a = 2", (True, 2, ["fired"])),
        ("self.a = 1", (False, 1, ["not_fired"])),
        ("self.a = 2\nself.a = 1", (False, 1, ["not_fired", "not_fired"])),
    ],
)
def test_what_a_branch_leaves(body: str, expected: tuple[object, object, list[str]]) -> None:
    assert state(body) == expected


def test_a_value_that_may_be_what_was_asked_is_unknown_and_one_that_cannot_be_is_overridden() -> (
    None
):
    assert state(f"self.a = 2 if {MAYBE} else 1") == (None, None, ["unknown"])
    assert state(f"x = 2 if {MAYBE} else 1\nself.a = x") == (None, None, ["unknown"])
    assert state(f"self.a = 2 if {MAYBE} else 3") == (True, None, ["fired"])
    assert state(f"self.a = 2 if {MAYBE} else 7", argv="--a 7") == (None, None, ["unknown"])


def test_a_list_that_may_have_grown_is_not_known() -> None:
    assert state(f"x = [1]\nif {MAYBE}:\n    x.append(2)\nif 2 in x:\n    self.a = 2")[2] == [
        "unknown"
    ]
    assert state(f"x = {{}}\nif {MAYBE}:\n    x['k'] = 1\nif 'k' in x:\n    self.a = 2")[2] == [
        "unknown"
    ]


def test_a_refused_launch_leaves_what_comes_after_it_open() -> None:
    answer = explained(only("raise ValueError('no such card')\nself.a = 2")).one("a")
    assert answer.sites[0].state == "unknown"
    assert "ValueError: no such card" in answer.sites[0].condition
    assert answer.overridden is None
    assert "the launch ends with ValueError: no such card" in answer.sentence


def test_a_raise_that_the_running_server_must_have_passed_is_passed_over_and_told() -> None:
    body = "if self.a == 1:\n    raise ValueError('no such card')\nself.b = 'x'"
    found = Explanation(only(body), Given(resolved={"b": "x"}))
    assert [site.state for site in found.one("b").sites] == ["fired"]
    assert found.unseen == [
        "why sglang/srt/server_args.py:10 did not end this launch (ValueError: no such card)"
    ]


def test_a_server_that_outlived_everything_is_not_followed_for_ever() -> None:
    body = (
        "\n".join(f"if self.a:\n    raise ValueError('{n}')" for n in range(9)) + "\nself.b = 'x'"
    )
    found = Explanation(only(body), Given(resolved={"b": "x"}))
    assert [site.state for site in found.one("b").sites] == ["not_fired"]
    assert len(found.unseen) == 3


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    self.b = 'x'",
        "def f(n):\n    return f(n + 1)\nself.a = f(0)",
        "self.a = 10 ** 10 ** 10",
        "self.b = 'x' * 10 ** 12",
        "self.a = 1 << 10 ** 9",
        "x = []\nx.append(x)\nself.b = str(x == x)",
        "self.c = bool(re.match('(a+)+$', 'a' * 60 + 'b'))",
        "self.a = len(range(10 ** 12))",
        "x = [0]\nfor i in range(60):\n    x = x + x\nself.a = len(x)",
        "d = {}\nd[[]] = 1",
        "self.b = open('/etc/passwd').read()",
        "self.b = os.system('echo x')",
        "self.b = eval('1')",
        "self.b = __import__('os').getcwd()",
        "self.b = json.loads('[' * 100000)",
        "self.b = '%*d' % (10 ** 9, 1)",
        "self.b = '{:>1000000000}'.format(1)",
        "self.b = f'{1:>1000000000}'",
        "self.b = 'x'.ljust(10 ** 10)",
        "yield 1",
        "nonlocal_ = lambda: (yield)\nnonlocal_()",
    ],
)
def test_hostile_source_ends_soon_and_does_nothing(body: str) -> None:
    answer = explained(only(body)).one("a")
    assert answer.flag == "a"
    assert "root:" not in str(explained(only(body)).one("b").resolved)
