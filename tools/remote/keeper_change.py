"""One change, as the host carries it out: each act looks first, and may be repeated.

It gives `Change`. A failure of the new server is undone at once and by itself; so is silence of whoever drives.
"""

# Goes after keeper_book.py
# ruff: noqa: F821

import threading

UNTOUCHED = ("armed", "draining", "drained")
ENDED = ("kept", "restored", "withdrawn", "lost")


class Change(Book):
    """The acts."""

    @property
    def at_work(self):
        return self.thread is not None and self.thread.is_alive()

    def at_rest(self):
        """Say whether an act may begin: one that has reached its state needs a moment for its last words."""
        if self.thread is not None:
            self.thread.join(5.0)
        return not self.at_work

    def turn_back(self):
        """Have the change undone as soon as what is under way has ended or stopped waiting."""
        if self.state not in ENDED and self.book["act"] != "restore":
            self.note(back=True)
            self.undo.set()

    def act(self, name):
        """Begin an act; the understudy would begin it again."""
        self.undo.clear()
        self.note(act=name, back=name == "restore")
        self.thread = threading.Thread(target=self._carry_out, args=(name,), daemon=True)
        self.thread.start()

    def _carry_out(self, name):
        try:
            getattr(self, "do_" + name)()
        except Cancelled:
            self.step("stopped waiting: the change is taken back")
        except (
            Exception
        ) as why:  # a bug, or a host that denies what it granted: the old one comes back
            self.step(f"{name} failed: {type(why).__name__}: {why}"[:300])
            self.fail("other", f"the keeper could not {name}: {why}"[:300])
            if name == "restore":
                self.lose("other", str(why))
            elif name == "withdraw":
                self.note(state="withdrawn")
            else:
                self.turn_back()
        self.note(act=None)

    def do_drain(self):
        self.note(state="draining")
        bound_s, quiet, count = self.book["drain_s"], 0, None
        until = now() + bound_s
        while quiet < 2 and now() < until:
            door = Door(self.book["old"]["pid"], self.port, *self.launcher.door)
            count = door.busy()
            quiet = quiet + 1 if not count else 0
            self.note(running=count)
            self.pause(0.3 if quiet else 1.0)
        left = f"{count} requests still run after {bound_s:.0f} s" if count else "no request runs"
        self.step(
            "drained: " + ("how busy it is cannot be seen" if count is None and bound_s else left),
            state="drained",
        )

    def do_stop(self):
        self.step(f"stopping the old server, process {self.book['old']['pid']}", state="stopping")
        try:
            self.launcher.stop(self.bounds["stop_s"])
        except Stuck as why:
            self.stuck(str(why))
            return
        self.book["old"]["healthy"] = False
        self.step("the old server has ended", state="stopped")

    def stuck(self, why):
        """The old one does not end: say how it is, and touch nothing more."""
        self.fail("would_not_stop", why)
        healthy = not self.serving(self.book["old"])
        self.book["old"]["healthy"] = healthy
        self.step(
            why + ("; it still serves" if healthy else ""), state="restored" if healthy else "lost"
        )

    def do_start(self):
        if self.state != "starting":
            self.step("starting the new server", state="starting", started=now())
        try:
            self.come_up("new", self.launcher.start_new)
        except NotStarted as why:
            self.fail("other", str(why.args[0]), why.args[1])
            self.turn_back()
            return
        took = round(now() - self.book["started"], 1)
        said = f"the new server is ready after {took} s, process {self.book['new']['pid']}"
        self.step(said, state="ready", ready_after_s=took)

    def do_keep(self):
        for remark in self.launcher.settle(kept=True):
            self.step(remark)
        self.step("the new server stays", state="kept")

    def do_withdraw(self):
        self.launcher.abandon()
        self.step("nothing was changed: the old server runs as it did", state="withdrawn")

    def do_restore(self):
        """End the new one, bring the old one back; a second try, then a person is needed."""
        self.note(state="restoring")
        for number in (1, 2):
            try:
                self.bring_back()
                break
            except Stuck as why:
                self.lose("would_not_stop", str(why))
                return
            except Exception as why:  # a bug too: whatever it is, the old server must come back
                self.step(
                    f"the old server did not come back: {why.args[0] if why.args else why!r}"[:300]
                )
                if number == 2:
                    self.lose(
                        "other",
                        f"the old server did not come back: {why.args[0] if why.args else why!r}"[
                            :300
                        ],
                    )
                    return
                self.launcher.simply()
        for remark in self.launcher.settle(kept=False):
            self.step(remark)
        self.step(f"the old server runs again, process {self.book['old']['pid']}", state="restored")

    def bring_back(self):
        if self.book["up"] == "old" and self.launcher.pid() and not self.serving(self.book["old"]):
            return
        same = self.same_again()
        if same:
            self.step(
                f"process {same} runs the old command line already: something else started it"
            )
            self.note(old=self.described(same))
            return
        if self.launcher.pid():
            self.step("stopping what was started")
        self.launcher.stop(self.bounds["stop_s"])
        self.note(up=None)
        if self.book["new"]:
            self.book["new"]["healthy"] = False
        self.step("starting the old server again")
        self.come_up("old", self.launcher.start_old)

    def lose(self, how, sentence):
        self.fail(how, sentence)
        for line in self.launcher.by_hand():
            self.step("by hand: " + line)
        self.note(state="lost")
