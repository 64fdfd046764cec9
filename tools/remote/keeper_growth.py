"""Whether a server that starts still says something: slow, or hung? A part of the keeper."""

import hashlib
import time

SILENT_S = 60.0  # weights of 100 GB load with a line every few seconds


class Growth:
    """Looks at the last lines now and then."""

    def __init__(self, launcher, bound_s):
        self.bound_s, self.look_s = bound_s, max(0.2, min(5.0, bound_s / 20))
        self.launcher, self.mark, self.grew, self.next = launcher, None, time.monotonic(), 0.0

    def look(self):
        """Note whether they are others than at the look before."""
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.look_s
        mark = hashlib.sha256("\n".join(self.launcher.log(20)).encode("utf-8", "replace")).digest()
        if mark != self.mark:
            self.mark, self.grew = mark, time.monotonic()

    def verdict(self, why):
        """Return the sentence for one that is not ready in time."""
        bound_s = self.bound_s
        silent = time.monotonic() - self.grew
        if silent > min(SILENT_S, bound_s / 3):
            said = f"hung: it is not ready after {bound_s:.0f} s and its log is silent since {silent:.0f} s"
        else:
            said = f"slow: it is not ready after {bound_s:.0f} s, though its log still grows"
        return said + (f"; {why}" if why else "")
