"""What the keeper says to a request, and what it begins because of it. A part of the keeper.

It gives `Answers`: who does not hold the host learns so, and a verb that does not fit the state changes nothing.
"""

# Goes after keeper_change.py
# ruff: noqa: F821

import os

FROM = {
    "drain": ("armed",),
    "stop": ("armed", "drained"),
    "start": ("stopped",),
    "keep": ("ready",),
    "dismiss": (*ENDED, *UNTOUCHED),
}


class Answers:
    """The part of the service that has a change, a book and a launcher, and is asked about them."""

    def answer(self, asked, uid):
        """Return what is said to a request; begin an act where it may begin."""
        verb = asked["verb"]
        if uid not in (0, os.geteuid()):
            return {"refused": "this keeper listens to its own user and to root alone"}
        if verb == "look":
            return self.status()
        stranger = self.stranger(asked)
        if stranger:
            return stranger
        self.change.note(fence=asked["fence"], heard=now())
        if verb == "log":
            lines = self.launcher.log(min(int(asked["lines"]), 2000))
            return {"lines": hidden(lines, self.launcher)}
        self.begin(verb, asked)
        return self.status()

    def stranger(self, asked):
        """Return what one is told who does not hold the host, or None."""
        book = self.book
        if asked["name"] != book["name"]:
            if asked["verb"] == "begin" and self.change.state in ENDED:
                self.leaving = True
                return {"gone": True}
            held = f"the host is held by {book['name']} (fence {book['fence']})"
            return {"refused": f"{held}, which is {self.change.state}"}
        if asked["fence"] < book["fence"]:
            over = f"fence {asked['fence']} is older than {book['fence']}"
            return {"refused": f"{book['name']} was taken over since: {over}"}
        return None

    def begin(self, verb, asked):
        """Begin what is asked for where the state allows it; else nothing happens, and the status says how it is."""
        change, state = self.change, self.change.state
        if verb in ("restore", "withdraw"):
            if state not in ENDED and (state in UNTOUCHED or verb == "restore"):
                change.turn_back()
            return
        if state not in FROM.get(verb, ()) or not change.at_rest() or change.state != state:
            return  # what was under way may have moved on while its last words were waited for
        if verb == "dismiss":
            if state in UNTOUCHED:
                change.do_withdraw()
            self.leaving = True
        elif not change.undo.is_set():
            if verb == "drain":
                change.note(drain_s=float(asked["bound_s"]))
            change.act(verb)

    def status(self):
        """Return how it is, without secrets."""
        book, bounds = self.book, self.change.bounds
        names = ("name", "fence", "state", "old", "new", "failed", "ready_after_s", "steps", "act")
        told = {name: book[name] for name in names}
        if told["failed"]:
            told["failed"] = dict(
                told["failed"], tail=hidden(told["failed"]["tail"], self.launcher)
            )
        told["running_requests"] = book["running"] if book["state"] == "draining" else None
        over = book["state"] in ENDED
        told["silence_left_s"] = (
            None if over else round(max(0.0, book["heard"] + bounds["silence_s"] - now()), 1)
        )
        return dict(told, keeper=1, pid=os.getpid())
