"""The serve log of CT129: start-up, captures, and a day of traffic, stepped as the engine steps.

Forms of SGLang 0.5.11: srt/observability/scheduler_metrics_mixin.py, model_runner.py,
memory_pool.py, eagle_worker_v2.py, custom_all_reduce.py, http_server.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.scenarios.ct129 import arguments, story

GIB = 1 << 30
TOTAL_GB = 47.31  # free before loading, of 49140 MiB
WEIGHTS_GB, DRAFT_GB = 26.12, 0.53
POOL_TOKENS = 161_284
FREE_GB = 5.08  # after all captures, as the log says
MAMBA_SLOT_GB = 48 * (24 * 128 * 128 * 2 + 5120 * 3 * 2) / GIB  # bf16 state and convolution window
CLIENTS = ("192.0.2.21", "192.0.2.34", "192.0.2.57")
LOG_EVERY = 40  # decode steps
HIT_SHARE = 0.6  # of the prompts, where prefixes are kept


@dataclass
class Request:
    """One request on its way."""

    prompt: int
    output: int
    client: str
    accept: float
    read: int = 0
    made: float = 0.0

    @property
    def context(self) -> float:
        return self.read + self.made


class Writer:
    """The log, line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, at: datetime, message: str, rank: str = "") -> None:
        self.lines.append(f"[{at:%Y-%m-%d %H:%M:%S}{' ' + rank if rank else ''}] {message}")

    def both(self, at: datetime, message: str) -> None:
        for rank in ("TP0", "TP1"):
            self.say(at, message, rank)


def start_up(log: Writer) -> None:
    """Write what a start prints."""
    at = story.STARTED
    log.say(
        at,
        "Max running requests is reset to 48 for speculative decoding. You can override this by explicitly setting --max-running-requests.",
    )
    log.say(at, "Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding.")
    log.say(at, "Attention backend not specified. Use flashinfer backend by default.")
    log.say(
        at,
        f"server_args=ServerArgs({', '.join(f'{name}={value!r}' for name, value in arguments.resolved().items())})",
    )
    log.say(at, "Using default HuggingFace chat template with detected content format: openai")
    at += timedelta(seconds=21)
    log.both(at, "Mamba selective_state_update backend initialized: triton")
    log.both(at, "Init torch distributed begin.")
    log.say(at, "sglang is using nccl==2.28.3", "TP0")
    at += timedelta(seconds=3)
    log.both(at, "Init torch distributed ends. elapsed=2.61 s, mem usage=0.27 GB")
    log.both(at, f"Load weight begin. avail mem={TOTAL_GB:.2f} GB")
    at += timedelta(seconds=74)
    free = TOTAL_GB - WEIGHTS_GB
    log.both(
        at,
        f"Load weight end. elapsed=73.88 s, type=Qwen3_5ForConditionalGeneration, avail mem={free:.2f} GB, mem usage={WEIGHTS_GB:.2f} GB.",
    )
    log.say(at, "Using KV cache dtype: torch.bfloat16", "TP0")
    free = _pools(log, at, free)
    free = _captured(log, at + timedelta(seconds=4), free, "", 38.42, 1.19, 1032)
    at += timedelta(seconds=44)
    log.both(at, "Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set")
    log.both(at, f"Load weight begin. avail mem={free:.2f} GB")
    free -= DRAFT_GB
    at += timedelta(seconds=6)
    log.both(
        at,
        f"Load weight end. elapsed=5.73 s, type=Qwen3_5ForCausalLMMTP, avail mem={free:.2f} GB, mem usage={DRAFT_GB:.2f} GB.",
    )
    kv = POOL_TOKENS * 2 * 256 * 2 / GIB
    free -= 2 * kv
    log.both(
        at,
        f"KV Cache is allocated. #tokens: {POOL_TOKENS}, K size: {kv:.2f} GB, V size: {kv:.2f} GB",
    )
    log.both(at, f"Memory pool end. avail mem={free:.2f} GB")
    log.both(at, "Disable piecewise CUDA graph because --disable-piecewise-cuda-graph is set")
    free = _captured(log, at, free, "draft ", 6.05, 0.21, 48)
    at += timedelta(seconds=7)
    log.say(
        at,
        f"max_total_num_tokens={POOL_TOKENS}, chunked_prefill_size={story.CHUNK}, max_prefill_tokens=16384, max_running_requests={story.MAX_RUNNING}, context_len=131072, available_gpu_mem={free:.2f} GB",
        "TP0",
    )
    at += timedelta(seconds=1)
    for message in (
        f"INFO:     Started server process [{story.MAIN_PID}]",
        "INFO:     Waiting for application startup.",
        "INFO:     Application startup complete.",
        f"INFO:     Uvicorn running on http://0.0.0.0:{story.PORT} (Press CTRL+C to quit)",
    ):
        log.say(at, message)
    at += timedelta(seconds=1)
    log.say(at, 'INFO:     127.0.0.1:46110 - "GET /model_info HTTP/1.1" 200 OK')
    log.say(at, _prefill(1, 9, 0, 0, 0, 0, 0, 0.0), "TP0")
    log.say(
        at + timedelta(seconds=2), 'INFO:     127.0.0.1:46112 - "POST /generate HTTP/1.1" 200 OK'
    )
    log.say(at + timedelta(seconds=2), "The server is fired up and ready to roll!")


def _pools(log: Writer, at: datetime, free: float) -> float:
    slots = story.MAX_RUNNING + 1
    ssm, conv = (slots * 48 * size / GIB for size in (24 * 128 * 128 * 2, 5120 * 3 * 2))
    drafts = story.DRAFT_TOKENS
    log.both(
        at,
        f"Mamba Cache is allocated. max_mamba_cache_size: {story.MAX_RUNNING}, conv_state size: {conv:.2f}GB, ssm_state size: {ssm:.2f}GB intermediate_ssm_state_cache size: {ssm * drafts:.2f}GB intermediate_conv_window_cache size: {conv * drafts:.2f}GB ",
    )
    kv = POOL_TOKENS * 16 * 2 * 256 * 2 / GIB
    log.both(
        at,
        f"KV Cache is allocated. #tokens: {POOL_TOKENS}, K size: {kv:.2f} GB, V size: {kv:.2f} GB",
    )
    free -= (ssm + conv) * (1 + drafts) + 2 * kv
    log.both(at, f"Memory pool end. avail mem={free:.2f} GB")
    return free


def _captured(
    log: Writer, at: datetime, free: float, what: str, took_s: float, mem_gb: float, addresses: int
) -> float:
    log.both(
        at,
        f"Capture {what}cuda graph begin. This can take up to several minutes. avail mem={free:.2f} GB",
    )
    log.say(at, f"Capture cuda graph bs {list(story.GRAPH_SIZES)}", "TP0")
    end = at + timedelta(seconds=took_s)
    log.say(end, f"Registering {addresses} cuda graph addresses", "TP0")
    log.both(
        end,
        f"Capture {what}cuda graph end. Time elapsed: {took_s:.2f} s. mem usage={mem_gb:.2f} GB. avail mem={free - mem_gb:.2f} GB.",
    )
    return free - mem_gb


def _prefill(
    seqs: int,
    new: int,
    tokens: int,
    slots: int,
    running: int,
    queued: int,
    pending: int,
    rate: float,
    cached: int = 0,
) -> str:
    return (
        f"Prefill batch, #new-seq: {seqs}, #new-token: {new}, #cached-token: {cached}, full token usage: {tokens / POOL_TOKENS:.2f}, "
        f"mamba usage: {slots / story.MAX_RUNNING:.2f}, #running-req: {running}, #queue-req: {queued}, #pending-token: {pending}, "
        f"cuda graph: False, input throughput (token/s): {rate:.2f}"
    )


class Engine:
    """The scheduler's loop: prefill what waits, else one decode step of all that run."""

    def __init__(self, log: Writer) -> None:
        self.log, self.random = log, story.random()
        self.at = story.STARTED + timedelta(seconds=170)
        self.running: list[Request] = []
        self.prefilled = self.decoded = self.at
        self.steps, self.tokens, self.drafts = 0, 0.0, 0.0
        self.prefills = 1
        self.totals = {"prompt": 0, "output": 0.0, "requests": 0, "steps": 0, "decode_s": 0.0}

    def serve(self, arrivals: list[tuple[datetime, Request | None]], until: datetime) -> None:
        """Serve what arrives; None is a probe of /health, which a busy server ignores."""
        waiting: list[Request] = []
        while self.at < until:
            while arrivals and arrivals[0][0] <= self.at:
                moment, request = arrivals.pop(0)
                if request is not None:
                    waiting.append(request)
                else:
                    self.health(moment, busy=bool(self.running or waiting))
            if waiting:
                self.prefill(waiting.pop(0), waiting)
            elif self.running:
                self.decode()
            elif arrivals:
                self.at = max(self.at, arrivals[0][0])
            else:
                return

    def health(self, at: datetime, *, busy: bool) -> None:
        """Answer /health: an idle engine lets one token through."""
        if not busy:
            gap, self.prefilled = (at - self.prefilled).total_seconds(), at
            self.prefills += 1
            self.log.say(at, _prefill(1, 1, 0, 0, 0, 0, 0, 1 / gap), "TP0")
        self.log.say(
            at + timedelta(seconds=1), 'INFO:     127.0.0.1:51820 - "GET /health HTTP/1.1" 200 OK'
        )

    def prefill(self, request: Request, waiting: list[Request]) -> None:
        """Read a prompt in chunks."""
        self.totals["prompt"] += request.prompt
        self.totals["requests"] += 1
        request.read = cached = self._cached(request)
        while request.read < request.prompt:
            new = min(story.CHUNK, request.prompt - request.read)
            self.at += timedelta(seconds=story.prefill_s(new) * self.random.uniform(0.995, 1.005))
            gap, self.prefilled = (self.at - self.prefilled).total_seconds(), self.at
            held = sum(one.context for one in self.running) + request.read
            request.read += new
            self.prefills += 1
            left = request.prompt - request.read + sum(one.prompt for one in waiting)
            self.log.say(
                self.at,
                _prefill(
                    1,
                    new,
                    round(held),
                    len(self.running) + 1,
                    len(self.running),
                    len(waiting),
                    left,
                    new / gap,
                    cached,
                ),
                "TP0",
            )
            cached = 0
        self.running.append(request)

    def _cached(self, request: Request) -> int:
        """Return how much of a prompt is there still: most turns of a chat find what came before."""
        if not story.PREFIX_CACHE or self.random.random() > HIT_SHARE:
            return 0
        kept = request.prompt * self.random.uniform(0.45, 0.9)
        return int(kept) // story.STATE_EVERY * story.STATE_EVERY

    def decode(self) -> None:
        """Make one step."""
        batch = len(self.running)
        context = sum(one.context for one in self.running) / batch
        took = story.step_s(batch, context) * self.random.uniform(0.999, 1.006)
        self.at += timedelta(seconds=took)
        made = 0.0
        for one in self.running:
            accepted = min(4.0, self.random.gauss(one.accept, 0.25))
            one.made += accepted
            made += accepted
        self.steps += 1
        self.tokens += made
        self.drafts += batch
        self.totals["output"] += made
        self.totals["steps"] += batch
        self.totals["decode_s"] += took
        if self.steps % LOG_EVERY == 0:
            self.report()
        for one in [one for one in self.running if one.made >= one.output]:
            self.running.remove(one)
            port = self.random.randrange(40000, 60000)
            self.log.say(
                self.at,
                f'INFO:     {one.client}:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
            )

    def report(self) -> None:
        """Say what was decoded since the last report."""
        rate = self.tokens / (self.at - self.decoded).total_seconds()
        accept, held, slots = (
            self.tokens / self.drafts,
            round(sum(one.context for one in self.running)),
            len(self.running),
        )
        self.log.say(
            self.at,
            f"Decode batch, #running-req: {slots}, #full token: {held}, full token usage: {held / POOL_TOKENS:.2f}, "
            f"mamba num: {slots}, mamba usage: {slots / story.MAX_RUNNING:.2f}, accept len: {accept:.2f}, "
            f"accept rate: {(accept - 1) / story.DRAFT_STEPS:.2f}, cuda graph: True, gen throughput (token/s): {rate:.2f}, #queue-req: 0",
            "TP0",
        )
        self.decoded, self.tokens, self.drafts = self.at, 0.0, 0.0


def arrivals() -> list[tuple[datetime, Request | None]]:
    """Return a day and a half of requests: some by day, few by night, and /health all the time."""
    random = story.random()
    found: list[tuple[datetime, Request | None]] = []
    at = story.STARTED + timedelta(minutes=11)
    while at < story.NOW - timedelta(minutes=4):
        for follow in range(random.choice((1, 1, 2, 3))):
            # what joins a running answer is short, so that it holds nobody up for long
            prompt = round(
                random.triangular(160, 900, 420) if follow else random.triangular(5200, 10400, 7100)
            )
            output = round(random.triangular(180, 900, 420))
            request = Request(
                prompt, output, random.choice(CLIENTS), random.gauss(story.ACCEPT_LEN + 0.01, 0.03)
            )
            found.append((at + timedelta(seconds=follow * random.uniform(2, 14)), request))
        calm = at.hour < 7 or at.hour > 20
        at += timedelta(minutes=random.uniform(70, 170) if calm else random.uniform(18, 65))
    # the last one before our look: a cold prompt of 8k tokens
    found.append(
        (story.NOW - timedelta(minutes=3), Request(8192, 640, CLIENTS[0], story.ACCEPT_LEN))
    )
    health = story.STARTED + timedelta(minutes=5)
    while health < story.NOW:
        found.append((health, None))
        health += timedelta(minutes=20)
    return sorted(found, key=lambda pair: pair[0])


def write() -> tuple[str, Engine]:
    """Return the log up to now, and the engine as it then is."""
    log = Writer()
    start_up(log)
    engine = Engine(log)
    engine.serve(arrivals(), story.NOW)
    return "\n".join(log.lines) + "\n", engine
