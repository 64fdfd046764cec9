"""What DBOS is asked of its workflows: each by its name, and apart from the one that is carried out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Sequence
from contextvars import Context
from datetime import UTC, datetime
from functools import cache
from itertools import count
from typing import ParamSpec, TypeVar

from bot.store.run import Run
from tools.errors import ToolsError

QUEUE = "investigations"
# A workflow takes the number of a run and nothing else, so work that an older version accepted is
# carried out by a newer one. DBOS would leave work of another application version lying for ever.
APPLICATION_VERSION = "runs-by-number-1"
_ALIVE = ("ENQUEUED", "DELAYED", "PENDING")  # states of a DBOS workflow that will run, or runs
_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")


class JobsError(ToolsError):
    """The queue of work cannot be used; one sentence says what to do."""


def name_of(run: Run) -> str:
    """Return the name of the first workflow of a run; later ones add .1, .2 ..."""
    # The key as well: a store that was begun anew gives its numbers a second time.
    return f"run-{run.id}-{zlib.crc32(run.key.encode()):08x}"


def partition_of(run: Run) -> str:
    """Return that of which one is carried out at a time, over all processes."""
    return run.host.lower() if run.host else f"{run.channel}/{run.thread}"


@cache
def workflow(carried_out: Callable[[int], None]) -> Callable[[int], None]:
    """Return the one workflow, which calls `carried_out` with the number of a run."""
    from dbos import DBOS

    @DBOS.workflow(name="carry_out")
    def carry_out(run_id: int) -> None:
        carried_out(run_id)

    return carry_out


def put(run: Run, name: str, of: Callable[[int], None]) -> None:
    """Enqueue a workflow of that name; one that is there already stays as it is.

    What was accepted first goes first, also where it is put in again, after its replica died.
    """
    from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

    where = SetEnqueueOptions(queue_partition_key=partition_of(run), priority=run.id)
    with SetWorkflowID(name), where:
        DBOS.enqueue_workflow(QUEUE, of, run.id)


def free_name(run: Run, works: Collection[str], dead: Collection[str] = ()) -> str | None:
    """Return a name under which a run can be put in; None: one of its workflows will run, or runs.

    `works` are the application versions that live replicas take up: what waits for another one
    waits for ever, and is taken out of the queue. Workflows that are `dead` run no more.
    """
    from dbos import DBOS

    for again in count():
        name = name_of(run) + (f".{again}" if again else "")
        known = DBOS.get_workflow_status(name)
        if known is None:
            return name
        if known.status not in _ALIVE or name in dead:
            continue
        if known.app_version is None or known.app_version in works:
            return None
        DBOS.cancel_workflow(name)
    return None


def held(executor: str) -> list[str]:
    """Return the names of what a replica carries out, or was carrying out when it died."""
    from dbos import DBOS

    found = DBOS.list_workflows(
        status="PENDING",
        executor_id=executor,
        name="carry_out",
        load_input=False,
        load_output=False,
    )
    return [each.workflow_id for each in found]


def cancel(names: Sequence[str]) -> None:
    """Make room in the partitions of what is dead."""
    from dbos import DBOS

    if names:
        DBOS.cancel_workflows(list(names))


def forget(until: float) -> int:
    """Remove the records of what was over by then, and return how many."""
    from dbos import DBOS

    before = datetime.fromtimestamp(until, UTC).isoformat()
    removed = 0
    while found := DBOS.list_workflows(
        completed_before=before, limit=1000, load_input=False, load_output=False
    ):
        DBOS.delete_workflows([each.workflow_id for each in found])
        removed += len(found)
    return removed


def apart(call: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
    """Ask DBOS; raise JobsError where it does not answer.

    In a context of its own: what DBOS is asked from inside a workflow it would write down as a
    step of that workflow, and a second attempt would have to take the same steps in that order.
    """
    try:
        return Context().run(call, *args, **kwargs)
    except Exception as why:  # noqa: BLE001 - its text may hold the address, password and all
        raise JobsError(
            f"The queue of work does not answer ({type(why).__name__}): look at the database. Nothing is lost."
        ) from None
