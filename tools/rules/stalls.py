"""Long prefills that hold running requests back."""

from __future__ import annotations

from statistics import median

from tools.engine import (
    Arguments,
    Benchmark,
    DecodeLine,
    Launch,
    ServerInfo,
    ServerLog,
    Traffic,
)
from tools.engine.traffic import Stall, quoted
from tools.errors import Undecided
from tools.nvidia.gpus import Gpus
from tools.rule import Aspect, Cleared, Effect, Finding, Outcome, rule

LEAST_S = 3.0  # stamps have whole seconds, and Decode lines come every 40 steps
TAIL_TIMES, TAIL_MS = 20.0, 300.0  # a p99 gap so far above the median is another kind of event
PERIOD_S = 10.0  # of vLLM's lines
SLOWED, ROW = 5.0, 2  # times below the usual rate, in so many lines in a row
LONG_PROMPT = 1500  # tokens on average; the longest are several times that
SLOWS: frozenset[Aspect] = frozenset({"tail", "decode", "ttft"})


@rule(cause="chunked_prefill_stalls")
def prefill_holds_decode_back(
    log: ServerLog, launch: Launch | None, info: ServerInfo | None
) -> Outcome:
    """Running requests get no token while a long prompt is read."""
    args, traffic = Arguments(launch, info, log), Traffic(log)
    stalls = sorted(traffic.stalls(LEAST_S), key=lambda stall: -stall.seconds)
    refused = [
        n.text for n in log.notices if n.text.lower().startswith("mixed chunked prefill is dis")
    ]
    refused = refused if args.asked_on("enable_mixed_chunk") or not args.seen else []
    if not stalls:
        if not (traffic.decode and traffic.prefill):
            raise Undecided("prefill and decode were not seen together", suspicion=0.05)
        return Cleared(f"no prefill held running requests back for {LEAST_S:.0f} s", (log,))
    worst = stalls[0]
    if worst.new_tokens < LONG_PROMPT:
        return Cleared(
            f"the longest gap, {worst.seconds:.0f} s, read {worst.new_tokens} tokens only"
        )
    return _stalled(log, args, worst, len(stalls), refused)


@rule(cause="chunked_prefill_stalls")
def tail_from_long_prompts(
    benchmark: Benchmark, log: ServerLog | None, launch: Launch | None, gpus: Gpus | None
) -> Outcome:
    """The longest gaps between tokens come from other requests' long prompts."""
    usual, tail = benchmark.itl_median_ms, benchmark.itl_p99_ms
    if usual is None or tail is None:
        raise Undecided("the benchmark does not tell the gaps between tokens", suspicion=0.05)
    if tail < TAIL_TIMES * usual or tail < TAIL_MS:
        return Cleared(f"p99 of the gaps is {tail:.0f} ms at a median of {usual:.0f}", (benchmark,))
    slowed = {
        r for s in (gpus.busy() if gpus else ()) for r in s.reasons or () if r != "sw_power_cap"
    }
    if slowed:
        raise Undecided(
            f"the GPU slowed itself down as well ({', '.join(sorted(slowed))})", suspicion=0.3
        )
    if (benchmark.concurrency or 2) <= 1:
        return Cleared("one request at a time: nobody else's prompt can hold it back", (benchmark,))
    prompt = _prompt(benchmark)
    if prompt is not None and prompt < LONG_PROMPT / 4:
        raise Undecided(
            f"prompts of {prompt:.0f} tokens are too short for such gaps", suspicion=0.3
        )
    args = Arguments(launch, None, log)
    long = f", prompts of {prompt:.0f} tokens on average" if prompt else ""
    return Finding(
        f"The gaps between tokens are {usual:.0f} ms in the median and {tail:.0f} ms at p99{long}:"
        " the median shows a healthy GPU, the tail is another request's prompt being read.",
        shown_by=(benchmark,),
        confidence=0.65 if gpus else 0.55,
        slows=SLOWS,
        category="config" if args.was_asked("chunked_prefill_size") else "workload",
        remedy=(
            "Chunked prefill of 1024 to 2048 tokens, where the engine has it.",
            "Long prompts to their own replica.",
        ),
        verify="each gap beside the length of the prompt admitted at that moment",
        quotes=(f"Median ITL {usual:g} ms, P99 ITL {tail:g} ms",),
    )


@rule(cause="chunked_prefill_stalls")
def prompt_booked_at_its_end(log: ServerLog) -> Outcome:
    """Requests nearly stop until another one's long prompt is read, which is counted at its end."""
    lines = [n for n in log.decode if n.prompt_tok_s is not None and n.tok_s is not None]
    usual = (
        median([n.tok_s or 0.0 for n in lines if n.running])
        if any(n.running for n in lines)
        else 0.0
    )
    starved: list[DecodeLine] = []
    found: list[tuple[list[DecodeLine], DecodeLine]] = []
    for line in lines:
        if (
            (line.running or 0) > 1
            and line.prompt_tok_s == 0
            and (line.tok_s or 0) < usual / SLOWED
        ):
            starved.append(line)
            continue
        if len(starved) >= ROW and (line.prompt_tok_s or 0) * PERIOD_S >= LONG_PROMPT * len(
            starved
        ):
            found.append((starved, line))
        starved = []
    if not found:
        return None
    row, end = max(found, key=lambda one: len(one[0]))
    tokens = (end.prompt_tok_s or 0) * PERIOD_S
    return Finding(
        f"For {len(row)} lines {row[0].running} requests get {max(n.tok_s or 0 for n in row):.1f} tok/s"
        f" together at most, and then about {tokens:.0f} prompt tokens are counted at once and the"
        f" rate is back ({len(found)} such stretch(es)): a long prompt was read, and the others got a"
        " token between two chunks of it.",
        shown_by=(log,),
        confidence=0.7,
        slows=SLOWS,
        effect=Effect(decode_pct=(-50.0, -25.0, -10.0), source="share of time lost to that prompt"),
        category="workload",
        remedy=(
            "A smaller --max-num-batched-tokens: each chunk then holds the others for a shorter time.",
            "Long prompts to their own replica, or a common beginning that the prefix cache holds.",
        ),
        verify="the rate of the others while one long prompt is read",
        quotes=(*quoted(row[-1:]), *quoted([end])),
    )


def _stalled(
    log: ServerLog, args: Arguments, worst: Stall, times: int, refused: list[str]
) -> Finding:
    chunk = log.chunked_prefill or args.count("chunked_prefill_size")
    why = " Mixing prefill into decode batches was asked for and refused." if refused else ""
    size = f"--chunked-prefill-size {max(1024, min(2048, (chunk or 8192) // 4))}"
    return Finding(
        f"At {worst.start} {worst.waiting} running request(s) waited {worst.seconds:.0f} s while"
        f" {worst.batches} prefill batch(es) read {worst.new_tokens} tokens; {times} such"
        f" stretch(es).{why}",
        shown_by=(log,),
        confidence=0.9 if refused else 0.75,
        slows=SLOWS,
        effect=Effect(
            decode_pct=(-50.0, -25.0, -10.0), source="share of time lost under mixed load"
        ),
        remedy=(
            f"{size}: each chunk then holds the others back for a shorter time.",
            "Long documents to their own replica, or prefill and decode on separate servers.",
            *(
                ("--enable-mixed-chunk does nothing with speculation: drop one of the two.",)
                if refused
                else ()
            ),
        ),
        verify="p99 of the gaps between tokens with one long prompt in between",
        quotes=(
            *refused[:1],
            f"{worst.start} {worst.batches} x Prefill batch, #running-req: {worst.waiting}",
        ),
    )


def _prompt(benchmark: Benchmark) -> float | None:
    rate, took, prompts = benchmark.input_tok_s, benchmark.duration_s, benchmark.prompts
    tokens = benchmark.input_tokens or (rate * took if rate and took else None)
    return tokens / prompts if tokens and prompts else None


RULES = (prefill_holds_decode_back, prompt_booked_at_its_end, tail_from_long_prompts)
