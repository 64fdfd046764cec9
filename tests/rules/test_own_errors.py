from __future__ import annotations

from collections.abc import Callable

from tools.engine import DecodeLine, Notice, ServerLog
from tools.linux.kernel import KernelLog
from tools.rule import Finding
from tools.rules import own_errors

Judged = Callable[..., object]
SERVED = (DecodeLine(running=2, tok_s=100.0),)


def dead(text: str, *more: Notice) -> ServerLog:
    return ServerLog(decode=SERVED, notices=(Notice(kind="crash", text=text), *more))


def test_an_error_that_only_code_makes_needs_no_kernel_log(judged: Judged) -> None:
    rule = own_errors.died_of_its_own_code
    for text in (
        "Scheduler hit an exception: NotImplementedError",
        "Scheduler hit an exception: AttributeError: 'Req' object has no attribute 'x'",
    ):
        assert isinstance(judged(rule, dead(text)), Finding)
        assert isinstance(judged(rule, dead(text), KernelLog()), Finding)


def test_other_errors_may_have_another_reason(judged: Judged) -> None:
    rule = own_errors.died_of_its_own_code
    assert judged(rule, dead("Scheduler hit an exception: RuntimeError: CUDA error")) is None
    assert (
        judged(rule, dead("Scheduler hit an exception: AssertionError: KV cache is full!")) is None
    )
    stuck = Notice(kind="watchdog", text="Watchdog timeout (self.watchdog_timeout=300)")
    assert judged(rule, dead("Scheduler hit an exception: KeyError: 'a'", stuck)) is None
    start = ServerLog(notices=(Notice(kind="crash", text="hit an exception: KeyError: 'a'"),))
    assert judged(rule, start) is None
