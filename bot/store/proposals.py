"""The proposals: what was shown for approval, and the one claim that an approval is."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import ColumnElement, Row, Select, func, select, update

from bot.store.change_tables import proposals
from bot.store.database import Database
from tools.change import Plan, Proposal

_LOG = logging.getLogger("perfsleuth.store")
OfferState = Literal["pending", "approved", "declined", "replaced", "expired"]
_BODY: TypeAdapter[Proposal | Plan] = TypeAdapter(
    Proposal | Plan
)  # neither takes the other's fields


@dataclass(frozen=True)
class Offer:
    """One proposal, or one plan of several, as it is kept.

    `run` made it, `experiment` is the run that carries it out, of a plan the one that begins it.

    `user` asked for it, in that thread; times are seconds since the epoch. Who decided, and when,
    is told of every state but `pending`: of `replaced`, who asked for what came in its place. One
    that this version cannot read is not there; one whose `digest` is not that of `body` was altered,
    and must not be approved.
    """

    id: int
    run: int
    host: str
    port: int
    channel: str
    thread: str
    user: str
    body: Proposal | Plan
    digest: str
    state: OfferState
    made_at: float
    expires_at: float
    decided_by: str | None = None
    decided_at: float | None = None
    experiment: int | None = None

    @property
    def proposal(self) -> Proposal | None:
        """Return the one change that it is; None: it is a plan of several."""
        return self.body if isinstance(self.body, Proposal) else None

    @property
    def plan(self) -> Plan | None:
        """Return the plan that it is; None: it is one change."""
        return self.body if isinstance(self.body, Plan) else None


class Proposals:
    """Of one server one proposal or plan is pending: a newer one replaces it, for it was edited."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        run: int,
        body: Proposal | Plan,
        *,
        user: str,
        channel: str,
        thread: str,
        lives_s: float,
    ) -> Offer:
        """Keep what a run proposes, for so long. The same run again gets what it proposed first."""
        now, host = self._database.now(), body.host.lower()
        row = {
            "run": run,
            "host": body.host,
            "host_key": host,
            "port": body.port,
            "channel": channel,
            "thread": thread,
            "user": user,
            "body": body.model_dump_json(),
            "digest": body.digest,
            "state": "pending",
            "made_at": now,
            "expires_at": now + lives_s,
        }
        with self._database.writing() as connection:
            self._database.hold(f"proposals of {host}")
            if (found := self.of_run(run)) is not None:
                return found
            of_server = (proposals.c.host_key == host, proposals.c.port == body.port)
            self._decide("replaced", user, *of_server)
            connection.execute(proposals.insert().values(row))
            made = self.of_run(run)
        if made is None:
            raise AssertionError("what was added is there")
        return made

    def add_within(self, plan: Offer, run: int, proposal: Proposal, experiment: int) -> None:
        """Keep a change that was approved with its plan, as approved by the same person then.

        `run` is the one that made it of the plan, `experiment` the one that carries it out. Whoever
        calls has seen that it is a change of that plan.
        """
        if plan.state != "approved":
            raise AssertionError("a change is within a plan that was approved")
        row = {name: getattr(plan, name) for name in ("host", "port", "channel", "thread", "user")}
        row |= {
            "run": run,
            "host_key": plan.host.lower(),
            "body": proposal.model_dump_json(),
            "digest": proposal.digest,
            "state": "approved",
            "made_at": self._database.now(),
            "expires_at": plan.expires_at,
            "decided_by": plan.decided_by,
            "decided_at": plan.decided_at,
            "experiment": experiment,
        }
        with self._database.writing() as connection:
            connection.execute(proposals.insert().values(row))

    def get(self, id: int) -> Offer | None:
        """Return the proposal of that number."""
        return self._one(select(proposals).where(proposals.c.id == id))

    def of_run(self, run: int) -> Offer | None:
        """Return what a run proposed."""
        return self._one(select(proposals).where(proposals.c.run == run))

    def of_experiment(self, run: int) -> Offer | None:
        """Return what was approved for a run of kind experiment."""
        return self._one(select(proposals).where(proposals.c.experiment == run))

    def newest_in(self, channel: str, thread: str) -> Offer | None:
        """Return what was proposed last in a thread."""
        query = select(proposals).where(
            proposals.c.channel == channel, proposals.c.thread == thread
        )
        return self._one(query.order_by(proposals.c.id.desc()).limit(1))

    def pending_on(self, host: str, port: int) -> Offer | None:
        """Return the one that may be approved for a server now."""
        return self._one(
            select(proposals).where(
                proposals.c.host_key == host.lower(),
                proposals.c.port == port,
                proposals.c.state == "pending",
                proposals.c.expires_at > self._database.now(),
            )
        )

    def approve(self, id: int, digest: str, user: str) -> bool:
        """Claim it. False: it is not pending any more, has expired, or is not what was shown."""
        live = (proposals.c.digest == digest, proposals.c.expires_at > self._database.now())
        return self._decide("approved", user, proposals.c.id == id, *live)

    def begun(self, id: int, experiment: int) -> None:
        """Note the run that carries an approved proposal out."""
        with self._database.writing() as connection:
            connection.execute(
                update(proposals).where(proposals.c.id == id).values(experiment=experiment)
            )

    def decline(self, id: int, user: str) -> bool:
        """Take it off the table. False: it is not pending any more."""
        return self._decide("declined", user, proposals.c.id == id)

    def replace(self, id: int, user: str) -> bool:
        """Note that what it was made for is not there any more, and another one is made."""
        return self._decide("replaced", user, proposals.c.id == id)

    def expire(self) -> list[Offer]:
        """Let all that are over their time expire, and return them."""
        now = self._database.now()
        late = (proposals.c.state == "pending", proposals.c.expires_at <= now)
        with self._database.writing() as connection:
            statement = (
                update(proposals)
                .where(*late)
                .values(state="expired", decided_at=proposals.c.expires_at)
                .returning(proposals.c.id)
            )
            ids = [row.id for row in connection.execute(statement)]
            return [offer for id in ids if (offer := self.get(id)) is not None]

    def count_pending(self, user: str) -> int:
        """Count what somebody has proposed and nobody has decided."""
        query = (
            select(func.count())
            .select_from(proposals)
            .where(
                proposals.c.user == user,
                proposals.c.state == "pending",
                proposals.c.expires_at > self._database.now(),
            )
        )
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def _decide(self, state: OfferState, user: str, *where: ColumnElement[bool]) -> bool:
        values = {"state": state, "decided_by": user, "decided_at": self._database.now()}
        with self._database.writing() as connection:
            decided = connection.execute(
                update(proposals).where(proposals.c.state == "pending", *where).values(values)
            )
            return decided.rowcount > 0

    def _one(self, query: Select[Any]) -> Offer | None:
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return _offer(row) if row is not None else None


def _offer(row: Row[Any]) -> Offer | None:
    names = [name for name in Offer.__dataclass_fields__ if name != "body"]
    try:
        body = _BODY.validate_json(row.body)
    except ValidationError:
        _LOG.error("proposal %d was written by another version and cannot be read", row.id)
        return None
    return Offer(body=body, **{name: getattr(row, name) for name in names})
