"""Of a serve log the lines that count, chosen while it streams by: a prelude of serve_log.py.

Traffic is thinned: the newest lines, of older ones runs of a few and what is unusual. Access lines
and prompts are counted, repeated sentences are folded. Memory stays below some 50 MB.
"""

# ruff: noqa: F821

import collections
import re

LINE = 2000  # bytes of a traffic line; the longest real one has 600
ARGUMENTS = 1 << 18  # bytes of the longest line that is kept
# lines that are kept: of traffic the newest (up to twice), a sample and the unusual; others alike
NEWEST, SAMPLED, UNUSUAL, RETRACTED, ALIKE = 1500, 1500, 700, 1000, 12
BLOCK = 16  # older traffic is sampled in runs of lines, so that what comes after what can be seen
OTHERS = 400000  # bytes of lines that are no traffic

_DIGITS = re.compile(rb"\d+")


class Thinned:
    """Keep some of very many, evenly: every k-th, and k doubles when it gets too many."""

    def __init__(self, most):
        self.kept, self.every, self.most, self.count = [], 1, most, 0

    def wants(self):
        self.count += 1
        return self.count % self.every == 0

    def add(self, thing):
        self.kept.append((self.count, thing))
        if len(self.kept) > self.most:
            self.every *= 2
            self.kept = [kept for kept in self.kept if kept[0] % self.every == 0]


class Sieve:
    """Takes the log in pieces, in order, and keeps the lines that count."""

    def __init__(self):
        self.traffic = []  # (number of the line, whether it is unusual, line)
        self.sampled, self.unusual = Thinned(SAMPLED // BLOCK), Thinned(UNUSUAL)
        self.others, self.size = collections.deque(), 0
        self.alike = collections.Counter()
        self.read = self.lines = self.access = self.private = self.health = self.folded = (
            self.batches
        ) = 0
        self.rest, self.skipping, self.last = b"", False, None

    def feed(self, piece):
        self.read += len(piece)
        lines = (self.rest + piece).split(b"\n")
        self.rest = lines.pop()
        if self.skipping:
            if not lines:
                self.rest = b""
                return
            self.skipping = False
            lines[0] = b""
        self.sort(lines)
        if len(self.rest) > ARGUMENTS:  # a line without end: its beginning is enough
            self.sort([self.rest])
            self.rest, self.skipping = b"", True

    def sort(self, lines):  # noqa: C901
        """Tell traffic from access lines and the rest.

        This loop runs over every line of the window: it is flat, and each look at a line counts.
        """
        number, access, keep, other = self.lines, 0, self.traffic.append, self.other
        for line in lines:
            number += 1
            at = line.find(b" batch")
            if at > 5 and len(line) < LINE:
                word = line[at - 6 : at]
                if word == b"Decode":
                    calm = line.endswith(b"#queue-req: 0") or b"#queue-req: 0" in line
                    keep((number, not calm or b"graph: False" in line, line))
                    continue
                if word == b"refill":
                    if b"#new-token: 1, #cached-token: 0," in line and b"#new-seq: 1," in line:
                        self.health += 1
                    else:
                        keep((number, b"#queue-req: 0" not in line or b"graph: True" in line, line))
                    continue
            if b" HTTP/1" in line and (b" 200 OK" in line or b"/health" not in line):
                access += 1
            elif line:
                self.lines = number
                other(line)
        self.lines = number
        self.access += access
        if len(self.traffic) > 2 * NEWEST:
            self.age(len(self.traffic) - NEWEST)

    def age(self, old):
        """Thin what is old: what is unusual with the line before it, of the rest a sample of runs."""
        old -= old % BLOCK
        traffic = self.traffic
        self.batches += old
        for at in range(0, old, BLOCK):
            if self.sampled.wants():
                self.sampled.add(traffic[at : at + BLOCK])
        before = self.last
        for entry in traffic[:old]:
            if entry[1] and self.unusual.wants():
                self.unusual.add([before, entry] if before else [entry])
            before = entry
        self.last = before
        del traffic[:old]

    def other(self, line):
        arguments = b"server_args=" in line[:8000] or b"LLM engine (v" in line[:8000]
        if arguments:
            self.alike.clear()
        elif private(line):
            self.private += 1
            return
        key = _DIGITS.sub(b"0", line[:160])
        self.alike[key] += 1
        if self.alike[key] > (RETRACTED if b"retract" in key.lower() else ALIKE):
            self.folded += 1
            return
        line = without_secrets(line[: ARGUMENTS if arguments else 4000])
        self.others.append((self.lines, line))
        self.size += len(line)
        while self.size > OTHERS and len(self.others) > 1:
            self.size -= len(self.others.popleft()[1])
            self.folded += 1
        if len(self.alike) > 20000:
            self.alike.clear()

    def result(self):
        if self.rest and not self.skipping:
            self.sort([self.rest])
            self.rest = b""
        kept = dict(self.others)
        for thinned in (self.sampled, self.unusual):
            for _, entries in thinned.kept:
                kept.update((number, line) for number, _, line in entries)
        kept.update((number, line) for number, _, line in self.traffic)
        self.batches += len(self.traffic)
        return [kept[number][:ARGUMENTS] for number in sorted(kept) if fit(kept[number])]


def fit(line):
    """Say whether a line may leave: what looks like traffic can be a prompt that speaks of it."""
    return not ((b"'" in line or b'"' in line or b"obj=" in line) and private(line))
