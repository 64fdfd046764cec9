"""What keeps CPU and GPU from working at the same time: no overlap schedule, grammars with drafts."""

from __future__ import annotations

from tools.engine import Arguments, Environment, Launch, Requests, ServerInfo, ServerLog
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Outcome, rule
from tools.sglang.spelling import mamba_strategy_flag

# 12.1 -> 11.0 ms for EAGLE on an 8B model on H100 (SGLang 11398); 2 to 4 % of a step of 55 ms.
SPEC = Effect(decode_pct=(-9.0, -4.0, -2.0), source="SGLang 11398: 12.1 to 11.0 ms a step")
PLAIN = Effect(
    decode_pct=(-20.0, -8.0, -2.0), source="1.3 ms of CPU a step; 5 to 20 % at high load"
)
V2_BY_ENV, V2_ALWAYS = (0, 5, 4), (0, 5, 14)


@rule(cause="overlap_off_spec_v1")
def overlap_schedule_off(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None, environment: Environment | None
) -> Outcome:
    """The CPU prepares the next step only after the GPU has finished this one."""
    args = Arguments(launch, info, log)
    said = [n.text for n in log.said("overlap_off") if "enabled by default" not in n.text.lower()]
    forced_v1 = (environment.values if environment else {}).get("SGLANG_ENABLE_SPEC_V2") in (
        "0",
        "false",
    )
    if args.asked_on("disable_overlap_schedule"):
        return _finding("--disable-overlap-schedule is set.", ("--disable-overlap-schedule",), args)
    if said:
        return _finding(f"The engine says: {said[0]}", tuple(said[:2]), args)
    if args.on("disable_overlap_schedule"):
        who = "The engine itself switched" if args.seen else "Somebody or the engine switched"
        statement = (
            f"{who} the overlap schedule off (disable_overlap_schedule=True); no line says why."
        )
        return _finding(statement, ("disable_overlap_schedule=True",), args, 0.65)
    if forced_v1 and args.speculative and (args.version or V2_ALWAYS) < V2_ALWAYS:
        return _finding("SGLANG_ENABLE_SPEC_V2=0 is set.", ("SGLANG_ENABLE_SPEC_V2=0",), args)
    if args.dumped or log.started:
        return Cleared("the overlap schedule is on", (log,))
    raise Undecided(
        "neither the arguments nor the start-up are in this part of the log",
        settle="disable_overlap_schedule in /server_info; 'overlap' in the start-up lines",
        suspicion=0.03,
    )


@rule(cause="grammar_spec_sync")
def grammar_stops_the_overlap(
    requests: Requests, info: ServerInfo | None, log: ServerLog | None, launch: Launch | None
) -> Outcome:
    """Requests with a grammar wait for the CPU at every verify step of speculation."""
    if not requests.with_grammar:
        return Cleared("no request with a grammar was seen", (requests,))
    args = Arguments(launch, info, log)
    if not args.speculative:
        if args.dumped or args.seen:
            return Cleared("there is no speculation")
        raise Undecided(
            "whether the server drafts is not told",
            settle="speculative_algorithm in /server_info, or on the command line",
            suspicion=0.2,
        )
    if args.engine == "vllm":
        raise Undecided(
            "grammar with speculation on vLLM: whether the two disturb each other is not told",
            settle="the same prompt with and without response_format, speculation on and off",
            suspicion=0.3,
        )
    mixed = requests.without_grammar > 0
    return Finding(
        "Grammar requests run on a server that drafts: each verify step needs a mask from the"
        " CPU, and the overlap schedule is off for such batches although disable_overlap_schedule"
        " is not set. More cores do not help a serial dependency.",
        confidence=0.7 if mixed else 0.6,
        slows=frozenset({"decode"}),
        effect=Effect(decode_pct=(-50.0, -35.0, -20.0), source="SGLang 31488"),
        category="workload",
        remedy=(
            "Serve grammar traffic without speculation, on its own server.",
            "Upgrade to a build with the overlapped grammar path (pull request 31488).",
        ),
        verify="the same prompt with and without response_format; gaps gone in nsys",
        quotes=(f"speculative_algorithm={args.speculative}", "response_format"),
    )


def _finding(
    statement: str, quotes: tuple[str, ...], args: Arguments, confidence: float = 0.95
) -> Finding:
    drafts = bool(args.speculative)
    return Finding(
        f"{statement} The GPU idles while the CPU prepares each step.",
        confidence=confidence,
        slows=frozenset({"decode", "throughput"}),
        effect=SPEC if drafts else PLAIN,
        category="config",
        remedy=_remedy(args, statement) if drafts else (_without_drafts(statement),),
        risk="A restart.",
        verify=("'Spec v2 is enabled' (or no such warning), and a" if drafts else "A")
        + " shorter step in the Decode lines",
        quotes=quotes,
    )


def _without_drafts(statement: str) -> str:
    if statement.startswith("The engine says"):
        return "It follows from what that line names; the overlap comes back without it."
    return "Remove --disable-overlap-schedule."


def _remedy(args: Arguments, statement: str) -> tuple[str, ...]:
    version = args.version
    if version and version >= V2_ALWAYS:
        return (
            "Remove what forces the synchronous path: --disable-overlap-schedule, top-k above 1.",
        )
    if version and version < V2_BY_ENV:
        return ("Upgrade: this version has no overlapped speculation.",)
    return (
        "SGLANG_ENABLE_SPEC_V2=1 in the environment (0.5.4 to 0.5.13; default since 0.5.11), with"
        " --speculative-eagle-topk 1.",
        *(
            (f"This hybrid model also needs {mamba_strategy_flag(args)}.",)
            if "mamba" in statement.lower()
            else ()
        ),
    )


RULES = (overlap_schedule_off, grammar_stops_the_overlap)
