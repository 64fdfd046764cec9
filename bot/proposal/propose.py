"""A proposal for one server: looked at, checked against the installed version, predicted; or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.investigate import Asking, Event, Learned
from bot.proposal.edits import Checked, Server, checked
from bot.proposal.flags import of_version
from bot.proposal.foreseen import foreseen
from bot.proposal.installed import Installed, installed, listing
from bot.proposal.predicted import predicted
from bot.proposal.traps import interrupts, traps
from bot.proposal.wanted import NotPossible, Wanted
from bot.source.known import known_of
from bot.source.uncollected import uncollected
from tools.change import Bounds, Change, HeldBy, Identity, KeepRule, Predicted, Proposal
from tools.change.by_hand import by_hand
from tools.change.keep_rule import Goal
from tools.change.proposal import Load
from tools.engine import Environment, Launch, ServerLog
from tools.engine.launcher import Launcher
from tools.errors import HostError, ToolsError
from tools.evidence import AnyProbe, Evidence, ask
from tools.host import Host
from tools.known import Known
from tools.probes import PROBES

# What a change must know of a server; the rest is for the prediction.
LOOKS = (
    "ReadLauncher", "ReadLaunch", "ReadEnvironment", "ReadMetrics", "ReadServerInfo", "ReadServerLog",
    "ReadModelConfig", "ReadGpus", "ReadTopology",
)  # fmt: skip
_READY_S = (300.0, 900.0, 7200.0)  # the least, without a figure, the most that a start may take
_STARTS = 4.0  # times as long as the weights took: graphs and compiling come after them
_SLOWER = 2.0  # times as long as the last start took in all: caches may be cold, graphs others
_CACHE = "disable_radix_cache"
_GOALS: dict[str, Goal] = {
    "chunked_prefill_size": "prefill",
    "max_prefill_tokens": "prefill",
    _CACHE: "prefill",
    "max_running_requests": "ttft",
    "schedule_policy": "ttft",
    "schedule_conservativeness": "throughput",
}
_UNDO = {
    "plain": "The old command line is started again, as the same user, with the old environment and log.",
    "systemd": "The drop-in goes away and the unit starts as it was; its own file is never touched.",
    "docker": "The old container is kept as it is, and started again.",
    "compose": "The override file goes away, and the service starts as it was.",
}


def _quietly(_event: Event) -> None:
    return


def propose(
    host: Host,
    wanted: Wanted,
    scope: Mapping[str, Any],
    tell: Callable[[Event], None] = _quietly,
) -> Proposal:
    """Look at the server and return what a person can approve. Nothing is changed by it.

    `scope` holds the port, the log and the source of the server where they are known; `tell` hears of
    each look. Raises NotPossible with a sentence and what to do instead, HostError where it cannot
    be asked.
    """
    looks = _looks(host, scope, tell)
    known = Known(looks)
    launcher = _launcher(looks, known)
    launch = known.get(Launch)
    engine, version = (launch.engine, launch.version) if launch else (None, None)
    source = installed(host, looks[-1], version) if engine in (None, "sglang") else None
    flags = source.flags if source else of_version(engine, version)
    change = checked(wanted.change, _server(known, launcher, launch), flags)
    _differs(change, launch)
    ahead = _foreseen(source, looks, change) if source else ()
    identity = _identity(launcher, change)
    log = known.get(ServerLog)
    goal = wanted.goal or _goal(change.change)
    return Proposal(
        host=host.name,
        port=_port(launcher, launch, scope),
        engine=(launch and launch.engine) or launcher.engine or "sglang",
        version=launch.version if launch else None,
        model=_model(launch),
        change=change.change,
        identity=identity,
        launcher=launcher.kind,
        held_by=HeldBy.of(launcher),
        old=launcher.command,
        new=change.new,
        edits=change.edits,
        traps=(
            *launcher.remarks,
            *([] if source else [f"Its flags are checked against {flags.known_by}."]),
            *change.notes,
            *traps(change.change, known),
            *ahead,
        ),
        interrupts=tuple(interrupts(known)),
        predicted=_predicted(wanted, change, known),
        proofs=dict.fromkeys(change.change.set, "/server_info"),
        load=_load(change.change, goal),
        keep=KeepRule(goal=goal, anyway=wanted.back),
        bounds=Bounds(ready_s=_ready_s(log)),
        undo=_UNDO[launcher.kind],
    )


def _looks(host: Host, scope: Mapping[str, Any], tell: Callable[[Event], None]) -> list[Evidence]:
    probes: list[AnyProbe] = [_probe(name, scope) for name in LOOKS]
    tell(Asking(tuple(probes)))
    looks = ask(host, [*probes, listing(host, scope)])
    if all(look.output is None or look.output.lost for look in looks):
        raise HostError(looks[0].trouble or f"{host.name} answers nothing.")
    for look in looks[:-1]:
        tell(Learned(look))
    return looks


def _probe(name: str, scope: Mapping[str, Any]) -> AnyProbe:
    kind = PROBES[name]
    told = {key: value for key, value in scope.items() if key in kind.model_fields and value}
    return kind.model_validate(told)


def _launcher(looks: Sequence[Evidence], known: Known) -> Launcher:
    found = known.get(Launcher)
    if found is None:
        why = looks[0].trouble.rstrip(".") or "nothing was answered"
        raise NotPossible(
            f"How this server was started cannot be seen ({why}), so I do not restart it."
        )
    return found


def _identity(launcher: Launcher, change: Checked) -> Identity:
    """Return which server is meant; raise NotPossible, with the steps for a person, where we may not restart it."""
    if not launcher.restartable or launcher.kind not in _UNDO:
        why = launcher.why_not or "it was started in a way that I do not know"
        steps = by_hand(launcher, change.change, change.edits)
        raise NotPossible(f"I cannot restart this server safely: {why.rstrip('.')}.", steps)
    told = (launcher.started_ticks, launcher.boot_id, launcher.digest)
    if None in told:
        raise NotPossible(
            "The server's command line and environment cannot be read as this user, so it could not be "
            "brought back as it was: let me log in as its user."
        )
    return Identity(
        pid=launcher.pid,
        started_ticks=launcher.started_ticks or 0,
        boot_id=launcher.boot_id or "",
        digest=launcher.digest or "",
    )


def _foreseen(source: Installed, looks: Sequence[Evidence], change: Checked) -> Sequence[str]:
    """Return what the installed source makes of the change, or that it could not be followed."""
    try:
        with uncollected():
            return foreseen(source.hurried(), known_of(looks), change)
    except NotPossible:
        raise
    except ToolsError as why:
        return (f"What the engine makes of it was not foreseen: {str(why).rstrip('.')}.",)


def _server(known: Known, launcher: Launcher, launch: Launch | None) -> Server:
    environment = known.get(Environment)
    return Server(
        old=launcher.command,
        variables=launcher.variables,
        values=environment.values if environment else {},
        config=launcher.config_file,
        in_config=launch.from_config if launch else (),
        elsewhere=launcher.flags_elsewhere,
    )


def _predicted(wanted: Wanted, change: Checked, known: Known) -> Predicted:
    """Take what the finding says, where it is its remedy; else what the step model says."""
    if wanted.predicted is not None and change.change == wanted.change:
        return wanted.predicted
    return predicted(change.change, known)


def _goal(change: Change) -> Goal:
    """Return what a change is for, where nobody says."""
    names = (*change.set, *change.unset)
    return next((_GOALS[name] for name in names if name in _GOALS), "decode")


def _load(change: Change, goal: Goal) -> Load:
    """Return the load that can show what a change does: of the prefix cache, a prompt that comes again."""
    if goal == "throughput":
        return "serving"
    return "repeated" if _CACHE in (*change.set, *change.unset) and goal != "decode" else "burst"


def _differs(change: Checked, launch: Launch | None) -> None:
    """See that it is no change of spelling alone."""
    told, flags = change.change, (launch.flags if launch else None) or {}
    same = all(str(flags.get(name)) == str(value) for name, value in told.set.items())
    if told.set and same and not (told.unset or told.env or told.unset_env):
        raise NotPossible("It runs like that already: there is nothing to try.")


def _port(launcher: Launcher, launch: Launch | None, scope: Mapping[str, Any]) -> int:
    port = launcher.port or (launch and launch.port) or scope.get("port")
    if not port:
        raise NotPossible("On which port this server listens is not known: name it (HOST:PORT).")
    return int(port)


def _model(launch: Launch | None) -> str | None:
    flags = (launch.flags if launch else None) or {}
    told = flags.get("served_model_name") or flags.get("model_path") or flags.get("model")
    return str(told).rstrip("/").rsplit("/", 1)[-1] if isinstance(told, str) else None


def _ready_s(log: ServerLog | None) -> float:
    least, unknown, most = _READY_S
    if log is None or log.load_s is None:
        return unknown
    took_s = max(_STARTS * log.load_s, _SLOWER * (log.start_s or 0.0))
    return min(max(least + took_s, unknown), most)
