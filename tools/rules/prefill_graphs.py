"""CUDA graphs for prefill ("piecewise", "breakable"): who switched them off, and what it costs."""

from __future__ import annotations

from tools.engine import (
    Arguments,
    Launch,
    ModelConfig,
    PrefillLine,
    ServerInfo,
    ServerLog,
    SourceLines,
    Traffic,
)
from tools.errors import Undecided
from tools.rule import Cleared, Effect, Finding, Interval, Outcome, rule
from tools.sglang.prefill_graph_rules import told

# Prefill graphs save launches of short prompts: TTFT p50 -9 to -12 % (Qwen3-Omni A/B), 82 -> 23 ms
# for one short prompt (SGLang 12160); nothing for long prompts, nothing for decode.
COST: Interval = (-12.0, -3.0, 0.0)
COST_SOURCE = "published A/B of short prompts; nothing for long ones"
OFF_FLAGS = ("disable_piecewise_cuda_graph", "disable_prefill_cuda_graph")
ON_FLAGS = ("enforce_piecewise_cuda_graph", "enable_piecewise_cuda_graph")
NO_DECODE = "Decode has graphs of its own."
DEAD = ((0, 5, 11), (0, 5, 13))  # captured with NULL, asked for FULL: never replayed with EAGLE
OPT_IN_BEFORE, SUPPORTED_FROM = (0, 5, 10), (0, 5, 16)


@rule(cause="piecewise_graph_off")
def prefill_graph_refused(launch: Launch, log: ServerLog, info: ServerInfo | None) -> Outcome:
    """Prefill graphs that were asked for are not used."""
    args, seen = Arguments(launch, info, log), _prefill(log)
    if any(line.graph for line in seen):
        return Cleared("Prefill lines show 'cuda graph: True'", (log,))
    if launch.flags is None:
        raise Undecided("the command line was not seen", settle="tr '\\0' ' ' < /proc/PID/cmdline")
    asked = args.flags(*(n for n in ON_FLAGS if args.asked_on(n)), *_backend(args))
    if not asked:
        return Cleared("nobody asked for prefill graphs", (launch,))
    said = _said(log)
    if not (said or seen):
        raise Undecided(
            f"{asked[0]} is set; no Prefill line shows whether the graph is used",
            settle="look for 'cuda graph: True' in the Prefill lines of a cold prompt",
            suspicion=0.3,
        )
    why = f" The log says: {said[0]}" if said else ""
    return Finding(
        f"{asked[0]} is set, yet prefill runs without a graph: every Prefill line that tells it"
        f" shows 'cuda graph: False'.{why}{_dead(args)} {NO_DECODE}",
        confidence=0.9 if said else 0.75,
        slows=frozenset({"prefill", "ttft"}),
        effect=Effect(prefill_pct=COST, source=COST_SOURCE),
        category="config",
        remedy=(
            f"Drop {asked[0]}: this model on this version cannot use it, and capture costs memory.",
            "Upgrade where the model is supported (0.5.16 or later), and read the Prefill lines.",
        ),
        verify="'cuda graph: True' in Prefill lines; the flag and /server_info prove nothing",
        quotes=(*asked, *said[:2]),
    )


@rule(cause="piecewise_graph_off")
def prefill_graph_off(
    log: ServerLog,
    launch: Launch | None,
    info: ServerInfo | None,
    lines: SourceLines | None,
    config: ModelConfig | None,
) -> Outcome:
    """Prefill runs without a CUDA graph."""
    args, seen, said = Arguments(launch, info, log), _prefill(log), _said(log)
    if args.engine == "vllm":
        raise Undecided("")  # its graphs of mixed batches are no switch of their own
    if any(line.graph for line in seen):
        return Cleared("Prefill lines show 'cuda graph: True'", (log,))
    if args.text("device") == "cpu":
        return Cleared("the server runs on the CPU, where there are no CUDA graphs")
    if any(args.asked_on(name) for name in ON_FLAGS) or _backend(args):
        return Cleared("prefill graphs were asked for; whether they are used is judged apart")
    off = [name for name in OFF_FLAGS if args.on(name)]
    if not off and "disabled" in args.text("cuda_graph_backend_prefill"):
        off = ["cuda_graph_backend_prefill"]
    if args.version and args.version < OPT_IN_BEFORE and not args.asked_on(ON_FLAGS[1]):
        return Cleared("this version has prefill graphs only when asked for", (log,))
    if not (off or said):
        return _nothing_says(log, seen)
    return _off(args, off, said, _who(args, said) + _place(args, config, lines))


def _prefill(log: ServerLog) -> tuple[PrefillLine, ...]:
    return tuple(line for line in Traffic(log).prefill if line.graph is not None)


def _backend(args: Arguments) -> tuple[str, ...]:
    told = str(args.asked("cuda_graph_backend_prefill")).lower()
    return () if told in ("none", "disabled") else ("cuda_graph_backend_prefill",)


def _said(log: ServerLog) -> tuple[str, ...]:
    """Return the sentences about prefill graphs, each once."""
    texts = dict.fromkeys(n.text for n in log.said("graph_off", "override", "refusal"))
    return tuple(text for text in texts if _is_about_prefill(text.lower()))


def _is_about_prefill(text: str) -> bool:
    graph = "cuda graph" in text or "cuda_graph" in text
    return graph and "disab" in text and ("piecewise" in text or "prefill" in text)


def _nothing_says(log: ServerLog, seen: tuple[PrefillLine, ...]) -> Outcome:
    if any(capture.what == "prefill" and capture.finished for capture in log.captures):
        return Cleared("prefill graphs were captured", (log,))
    if seen:
        return Cleared("Prefill lines without a graph are normal where no rule or flag is told")
    raise Undecided(
        "this part of the log does not tell about prefill graphs",
        settle="grep -iE 'piecewise|prefill cuda graph' in the serve log, and read a Prefill line",
        suspicion=0.03,
    )


def _who(args: Arguments, said: tuple[str, ...]) -> str:
    if typed := _typed(args):
        return f"{args.flags(typed[0])[0]} is on the command line: prefill graphs are off."
    if args.seen:
        return "The engine itself switched prefill graphs off; nobody asked for it." + _untrue(said)
    return "Prefill graphs are off; the command line that would tell who asked was not seen."


def _typed(args: Arguments) -> list[str]:
    return [name for name in OFF_FLAGS if args.asked_on(name)]


def _place(args: Arguments, config: ModelConfig | None, lines: SourceLines | None) -> str:
    return "" if _typed(args) else told(args, config, lines)


def _off(args: Arguments, off: list[str], said: tuple[str, ...], who: str) -> Finding:
    typed = _typed(args)
    remedy = ("Remove the flag and read the Prefill lines.",) if typed else _remedy(args)
    return Finding(
        f"{who} {NO_DECODE}{_dead(args)}",
        confidence=0.9 if args.seen else 0.8,
        slows=frozenset({"prefill", "ttft"}),
        effect=Effect(prefill_pct=COST, source=COST_SOURCE),
        category="config" if typed else "no_fault",
        benign=not typed,
        remedy=remedy,
        risk="A restart; forced graphs can crash at capture.",
        verify="'cuda graph: True' in Prefill lines; the flag proves nothing",
        quotes=(*(f"{name}={args.value(name)}" for name in off), *said[:2]),
    )


def _untrue(said: tuple[str, ...]) -> str:
    blames = any("--disable-piecewise-cuda-graph is set" in text for text in said)
    return " The log blames a flag that the command line does not have." if blames else ""


def _remedy(args: Arguments) -> tuple[str, ...]:
    if args.version and args.version >= SUPPORTED_FROM:
        return ("None needed for decode; for short prompts see whether a newer build has no rule.",)
    return ("None needed for decode; for short prompts upgrade to 0.5.16 or later.",)


def _dead(args: Arguments) -> str:
    """Name the trap that a helpful colleague would suggest."""
    drafts = args.speculative.startswith(("eagle", "nextn", "mtp"))
    trap = args.version is None or DEAD[0] <= args.version <= DEAD[1]
    if not (drafts and trap):
        return ""
    return (
        " --enforce-piecewise-cuda-graph is a trap on 0.5.11 to 0.5.13 with EAGLE, NEXTN or MTP:"
        " the graphs are captured and never replayed."
    )


RULES = (prefill_graph_refused, prefill_graph_off)
