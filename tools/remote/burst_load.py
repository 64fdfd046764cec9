"""The requests of a burst: what is asked, when each token came, how it ended. A prelude of burst.py.

It gives `Stream`, `words` and `task`. Every prompt has a head that was never seen before, so that no prefix
cache helps and none need be flushed.
"""

# Goes after hang_up.py
# ruff: noqa: F821
# What has no definition here is that of own_api.py and hang_up.py, whose text goes before this one.

import http.client
import json
import random
import re
import string
import threading
import time

# What the engine tells of one request, by version 0.4.6 to 0.5.23; numbers alone are kept.
META = ("prompt_tokens", "completion_tokens", "cached_tokens", "e2e_latency", "queue_time", "first_token_latency",
        "spec_verify_ct", "spec_accept_length", "spec_accept_rate", "decode_throughput", "num_retractions")  # fmt: skip
TASKS = (
    "Write a Python class for a bounded queue with tests.",
    "Explain step by step how a bicycle stays upright.",
    "Write a C function that parses an IPv4 address, with comments.",
    "Tell the history of the printing press in short paragraphs.",
    "Write SQL for a library: tables, indexes and ten queries.",
    "Describe how to bake a sourdough bread, with times and temperatures.",
    "Write a shell script that rotates log files, and explain each line.",
    "Summarise how a jet engine works for a student of twelve.",
)
_LETTERS = 5
# A chunk repeats all that was generated: reading it whole would cost the host a core. Quotes within a text are escaped.
COUNT = re.compile(rb'"completion_tokens": ?(\d+)')
UNFINISHED = re.compile(rb'"finish_reason": ?null')


def words(number):
    """Return so many random words: text for every tokenizer, and no prefix that was seen before."""
    return " ".join(
        "".join(random.choices(string.ascii_lowercase, k=_LETTERS)) for _ in range(number)
    )


def task(number):
    """Return a prompt that a model answers at length, with a head of its own."""
    return f"[{words(3)}] {TASKS[number % len(TASKS)]}"


class Stream:
    """One streamed request in a thread of its own."""

    def __init__(self, place, key, rid, kind, streams, prompt, new_tokens, start):
        self.request, self.rid, self.start = Request(place, key, 60.0), rid, start
        self.told = {
            "kind": kind,
            "streams": streams,
            "chars": len(prompt),
            "new_tokens": new_tokens,
        }
        self.chunks, self.meta, self.ended, self.sent = [], {}, "", 0.0
        sampling = {"temperature": 0, "max_new_tokens": new_tokens, "ignore_eos": True}
        self.body = {"rid": rid, "text": prompt, "stream": True, "sampling_params": sampling}
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    @property
    def running(self):
        """Say whether it is under way."""
        return self.thread.is_alive()

    @property
    def tokens(self):
        """Return how many tokens have come."""
        return self.chunks[-1][1] if self.chunks else 0

    def cut(self):
        """Hang up."""
        if self.running:
            self.ended = self.ended or "cut"
        self.request.hang_up()

    def report(self):
        """Return what came; times in seconds since the start of the burst, of chunks in 0.1 ms since it was sent."""
        kept = {
            name: self.meta[name] for name in META if isinstance(self.meta.get(name), (int, float))
        }
        return dict(
            self.told, sent_s=round(self.sent, 4), chunks=self.chunks, meta=kept, ended=self.ended
        )

    def _run(self):
        self.sent = time.monotonic() - self.start
        try:
            answer = self.request.send("POST", "/generate", self.body)
            if answer.status != 200:
                self.ended = f"status {answer.status}"
                return
            for line in answer:
                self._take(line)
            self.ended = self.ended or ("done" if self.meta.get("finish_reason") else "broken off")
        except (OSError, ValueError, http.client.HTTPException) as why:
            self.ended = self.ended or f"{type(why).__name__}"
        finally:
            self.request.close()

    def _take(self, line):
        if not line.startswith(b"data: {"):
            return
        at = time.monotonic() - self.start - self.sent
        told = COUNT.search(line, line.rfind(b'"meta_info"'))
        if told is None or not UNFINISHED.search(line):
            said = json.loads(line[6:])
            if "error" in said:
                self.ended = "the server answered with an error"
                return
            self.meta = said.get("meta_info") or {}
        if told and int(told.group(1)) > self.tokens:
            self.chunks.append([round(at * 1e4), int(told.group(1))])
