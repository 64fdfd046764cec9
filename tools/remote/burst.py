"""Some seconds of our own bounded load on a server of this host, while GPUs and cores are watched.

Argument: JSON with port, seconds, streams, prompt_tokens, new_tokens, others, hz, again. It prints one JSON object. It
refuses on a busy server, stops when it turns busy, and leaves no request behind when it is killed.
"""

# Goes after occupancy.py
# Goes after burst_load.py
# Goes after host_ticks.py
# Goes after nvml_watch.py
# ruff: noqa: F821
# What has no definition here is that of the texts before this one.

import secrets
import sys

WARM_WORDS, WARM_TOKENS = 120, 24
# Of the time that is left for a count of streams, what each round of requests takes by the pace known then. The first
# is half of it, for drafts are accepted of one prompt twice as often as of another, and what is cut tells no steps.
ROUNDS = (0.45, 0.85)
DECODE_SHARE = 0.55  # of the seconds, for all stream counts together
LOOK_S = 0.5  # between two looks at how busy the server is
RECENT_S = {
    "/v1/loads": 2.5,
    "/get_load": 2.5,
}  # how old its answer may be; gauges: a decode line's interval
ROOM = 0.9  # of the context: how many tokens random words make is known to some percent
POOL_SHARE = 4  # our requests hold a quarter of the KV pool at most
COUNTERS = ("prompt_tokens_total", "generation_tokens_total", "cached_tokens_total", "cuda_graph_passes_total",
            "time_to_first_token_seconds_sum", "time_to_first_token_seconds_count")  # fmt: skip


class Stop(Exception):
    """The load ends here; the words say why."""


class Burst:
    """One burst: its bounds, its streams, and what was seen meanwhile."""

    def __init__(self, plan, server, place, key, info, occupancy):
        self.plan, self.server, self.place, self.key, self.info = plan, server, place, key, info
        self.occupancy, self.start, self.stopped, self.over = occupancy, time.monotonic(), "", False
        self.witness = Witness(place, key, "perfsleuth-" + secrets.token_hex(8))
        self.streams, self.recent, self.looks, self.cores = [], [(0.0, 0)], [], Cores()
        self.per_token = None  # characters of a prompt to a token

    def now(self):
        """Return seconds since the start."""
        return time.monotonic() - self.start

    def going(self):
        """Say whether the burst is under way, for those that watch."""
        return not self.over

    def room(self, streams):
        """Return how many tokens one of so many requests may hold."""
        pool = self.info.get("max_total_num_tokens") or 1 << 20
        longest = self.info.get("max_req_input_len") or 1 << 20
        return int(min(longest * ROOM, pool // POOL_SHARE // streams))

    def begin(self, kind, streams, prompt, new_tokens):
        """Send one request."""
        one = Stream(
            self.place,
            self.key,
            self.witness.begin(),
            kind,
            streams,
            prompt,
            new_tokens,
            self.start,
        )
        self.streams.append(one)
        return one

    def wait(self, some, until):
        """Wait until these have ended; cut them at `until`, all of them when the load must stop."""
        while any(one.running for one in some):
            if self.stopped or self.now() >= until:
                self.cut(some)
                break
            time.sleep(0.01)
        for one in some:
            one.thread.join(1.0)
        if self.stopped:
            raise Stop(self.stopped)
        for one in some:
            if one.ended not in ("done", "cut"):
                raise Stop("a request of ours failed: " + one.ended)

    def cut(self, some):
        """Hang up, and tell the server to forget them."""
        left = [one for one in some if one.running]
        for one in left:
            one.cut()
        for one in left:
            abort(self.place, self.key, one.rid)

    def load(self):
        """Do it all: one short request, each count of streams for a while, one long prompt."""
        seconds, counts = self.plan["seconds"], self.plan["streams"]
        warm = self.begin("warm", 1, words(WARM_WORDS), WARM_TOKENS)
        self.wait([warm], seconds / 2)
        if len(warm.chunks) < 2 or not warm.meta.get("prompt_tokens"):
            raise Stop("the first request brought no tokens")
        self.per_token = warm.told["chars"] / warm.meta["prompt_tokens"]
        pace = pace_of(warm)
        share = DECODE_SHARE * (seconds - self.now()) / len(counts)
        for count in counts:
            pace = self.decode(count, pace, share)
        self.cold(warm)

    def decode(self, count, pace, share):
        """Let so many streams decode for about `share` seconds; return the tokens a second of one."""
        most, ends = min(self.plan["new_tokens"], self.room(count) - 64), self.now() + share
        for part in ROUNDS:
            left = ends - self.now()
            if left < share / 3:
                break
            new = int(max(16, min(most, pace * left * part)))
            some = [self.begin("decode", count, task(number), new) for number in range(count)]
            self.wait(some, min(ends + share / 5, self.plan["seconds"]))
            told = [pace_of(one) for one in some if len(one.chunks) > 1]
            if not told:
                raise Stop(f"{count} streams brought no tokens within {left:.1f} s")
            pace = min(told)
        return pace

    def cold(self, warm):
        """Send one long prompt, as long as is allowed and as will be read in the time that is left."""
        left = (self.plan["seconds"] - self.now() - 0.3) / (2 if self.plan["again"] else 1)
        rate = warm.meta["prompt_tokens"] / (warm.chunks[0][0] * 1e-4)
        tokens = min(self.plan["prompt_tokens"], self.room(1), max(2048, int(2 * rate * left)))
        if left < 1.0:
            raise Stop("no time was left for the long prompt")
        text = words(int(tokens * self.per_token / (_LETTERS + 1)))
        self.wait([self.begin("cold", 1, text, 1)], self.plan["seconds"])
        if self.plan["again"]:  # what a cache gives shows when a prompt comes again
            self.wait([self.begin("again", 1, text, 1)], self.plan["seconds"])

    def watch(self):
        """Look again and again how busy the server is; two looks in a row end the load."""
        busy = 0
        while not self.over:
            running = sum(one.running for one in self.streams)
            self.recent.append((self.now(), running))
            found, at = self.occupancy.look(), self.now()
            ours = self.ours(at, RECENT_S.get(self.occupancy.door[0], 6.0))
            if found:
                self.looks.append([round(at, 2), *found, ours])
                others = sum(found) - ours
                busy = busy + 1 if others > self.plan["others"] else 0
                if busy >= 2 and not self.over:
                    self.stopped = f"the server turned busy: {others} requests of others"
            self.cores.tick(self.now())
            time.sleep(LOOK_S)

    def ours(self, at, age):
        """Return the most requests of ours that an answer of that age can count."""
        return max(
            [running for then, running in self.recent if then >= at - age - LOOK_S]
            + [sum(one.running for one in self.streams)]
        )


def pace_of(one):
    """Return tokens a second of one request, from the later half of what came: the first steps are slow."""
    then, last = one.chunks[(len(one.chunks) - 1) // 2], one.chunks[-1]
    return (last[1] - then[1]) / max(1, last[0] - then[0]) * 1e4


def counters(place, key):
    """Return sums of the server's own counters; empty where it exports none."""
    status, text = asked_for(place, key, "/metrics")
    found = {}
    for name, labels, value in re.findall(
        r"(?m)^sglang:(\w+)(?:\{([^}\n]*)\})? (\S+)", text if status == 200 else ""
    ):
        if name in COUNTERS:
            mode = re.search(r'mode="(\w+)"', labels)
            name = name + "/" + mode.group(1) if mode else name
            found[name] = found.get(name, 0.0) + float(value)
    return found


def unfit(info):
    """Return why this server takes no burst, or None."""
    if info.get("is_embedding"):
        return "this server makes embeddings: it has no decode to measure"
    if info.get("disaggregation_mode") not in (None, "null"):
        return "prefill and decode run apart here: a burst goes through their router"
    return None


def main(plan):
    """Return what is printed."""
    found = server_at(plan["port"])
    if isinstance(found, dict):
        return {name: found[name] for name in ("absent", "failed") if name in found}
    server, place, key, info = found
    occupancy = Occupancy(server, place, key)
    why = unfit(info) or refusal(occupancy, plan["others"])
    if why:
        return {"failed": why}
    burst = Burst(plan, server, place, key, info, occupancy)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: setattr(burst, "stopped", "it was told to end"))
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)  # who measures must not wait; what only asks is nice
    nvml = find_pynvml()  # before the load: it reads all of /proc
    seen, first, before = {}, edges(server), counters(place, key)
    watchers = [
        threading.Thread(target=burst.watch, daemon=True),
        threading.Thread(
            target=lambda: seen.update(watched(plan["seconds"] + 2, plan["hz"], burst.going, nvml)),
            daemon=True,
        ),
    ]
    for one in watchers:
        one.start()
    try:
        burst.load()
    except Stop as why:
        burst.stopped = str(why)
    finally:
        burst.over = True
        burst.cut(burst.streams)
        took, last = burst.now(), edges(server)
        burst.witness.done()
    for one in watchers:
        one.join(3.0)
    after = counters(place, key)
    told = {
        "plan": plan, "version": info.get("version"), "took_s": round(took, 2), "stopped": burst.stopped,
        "requests": [one.report() for one in burst.streams], "host": between(first, last),
        "counters": {name: round(value - before.get(name, 0.0), 6) for name, value in after.items()},
        "looks": burst.looks, "cores": burst.cores.rows, "seen_by": occupancy.door[0],
    }  # fmt: skip
    if "rows" in seen or "csv" in seen:
        return dict(seen, burst=told)
    return {
        "burst": dict(
            told, gpus=seen.get("absent") or seen.get("failed") or "the GPUs did not answer in time"
        )
    }


finish(json.dumps(main(json.loads(sys.argv[1]))))
