"""The keeper's ear, which is the lease of the host, and an understudy that goes on when it is killed.

It gives `Service`. The name of the socket is abstract: binding it is atomic, no file is left behind, and it
is free the moment its process ends. Root and the keeper's own user are heard, nobody else.
"""

# Goes after keeper_change.py
# Goes after keeper_wire.py
# Goes after keeper_offers.py
# Goes after keeper_answer.py
# ruff: noqa: F821

import os
import selectors
import socket
from contextlib import suppress

STAYS_S = 24 * 3600.0  # after the end, for a bot that comes back late
TICK_S = 0.1


class Service(Answers):
    """One process that holds the host for one change: the keeper, or the understudy that becomes it."""

    def __init__(self, name, listener, book, launcher):
        self.name, self.listener, self.launcher = name, listener, launcher
        self.link, self.understudy, self.leaving = None, 0, False
        self.lock = threading.Lock()
        self.change = Change(book, launcher, self.tell)
        OFFERS.name = name

    @property
    def book(self):
        return self.change.book

    def tell(self, book):
        """Let the understudy know, and wait until it does."""
        with self.lock:
            try:
                link = self.link
                if link:
                    put(link, book)
                    link.recv(1)
            except OSError:
                return  # it has died; the loop makes another, which is told all of it

    def double(self):
        """Fork an understudy, before a server's process is made or after it: it knows that process, or nobody does."""
        mine, its = socket.socketpair()
        with self.launcher.forks:
            pid = os.fork()
            if not pid:
                try:
                    self.launcher.forks = threading.Lock()
                    for one in (mine, self.listener, self.link):
                        if one:
                            one.close()
                    self.wait_in_the_wings(its)
                finally:
                    os._exit(0)
            its.close()
            mine.settimeout(5)
            with self.lock:
                self.link, self.understudy = mine, pid
            self.tell(self.book)

    def wait_in_the_wings(self, link):
        """Be the understudy: know what the keeper knows, and take over when it is gone."""
        os.setsid()
        called("psl-understudy")
        book = self.book
        while True:
            told = take(link)
            if told is None:
                break
            if told.get("leave"):
                return
            book = told
            if book["state"] in ENDED:
                self.launcher.let_go()
            with suppress(OSError):  # killed just now: the next look at the link tells
                link.sendall(b".")
        link.close()
        self.take_over(book)

    def take_over(self, book):
        listener = listen(self.name, 15.0)
        if listener is None:
            return  # somebody else holds the host: two would be one too many
        OFFERS.rows.clear()
        book["steps"] = [
            *book["steps"],
            time.strftime("%H:%M:%S ") + "the keeper was killed; its understudy goes on",
        ]
        heir = Service(self.name, listener, book, self.launcher)
        heir.run()

    def resume(self):
        """Go on where the one before stopped; every act looks first."""
        state, act = self.change.state, self.book["act"]
        if state in ENDED:
            return
        if self.book["back"] or (self.book["failed"] and state not in UNTOUCHED):
            self.change.act("withdraw" if state in UNTOUCHED else "restore")
        elif act and state == REACHED.get(act):
            self.change.note(act=None)  # it was done; only its last words were missing
        elif act:
            self.change.act(act)

    def run(self):
        """Serve until it may leave."""
        called("psl-keeper")
        self.double()
        self.resume()
        select = selectors.DefaultSelector()
        select.register(self.listener, selectors.EVENT_READ)
        while not self.leaving:
            if select.select(TICK_S):
                self.hear()
            self.mind()
        self.leave()

    def mind(self):
        """Do what is due: another understudy, the dead-man, the end."""
        if self.understudy and os.waitpid(self.understudy, os.WNOHANG)[0]:
            with self.lock:
                self.link.close()
                self.link, self.understudy = None, 0
            self.double()
        change, book = self.change, self.book
        self.launcher.pid()  # a server that ended is a zombie until its parent has looked
        if change.state in ENDED:
            if not book.get("ended") and not change.at_work:
                self.launcher.let_go()
                book["ended"] = now()
            self.leaving = self.leaving or now() > book.get("ended", now()) + STAYS_S
            return
        why = self.silence()
        if why and book["act"] not in ("restore", "withdraw", "keep") and not change.undo.is_set():
            change.fail("silence", why)
            change.step(why)
            change.turn_back()
        if change.undo.is_set() and not change.at_work:
            change.act("withdraw" if change.state in UNTOUCHED else "restore")

    def silence(self):
        """Return why nobody can be relied on to bring the old server back, or nothing."""
        bounds = self.change.bounds
        if now() > self.book["heard"] + bounds["silence_s"]:
            return f"nobody was heard for {bounds['silence_s']:.0f} s: the host brings the old server back by itself"
        if now() > self.book["began"] + bounds["whole_s"]:
            return f"the whole change took more than {bounds['whole_s']:.0f} s: the old server comes back"
        return ""

    def hear(self):
        """Answer one request."""
        line, _ = self.listener.accept()
        pid, uid, _ = peer(line)
        line.settimeout(2.0)
        try:
            asked = take_line(line)
            if asked["verb"] == "become" and uid in (
                0,
                os.geteuid(),
                *self.launcher.server["uids"],
            ):
                OFFERS.come(asked["token"], line, pid)
                return
            put_line(line, self.answer(asked, uid))
        except (OSError, ValueError, KeyError, TypeError):
            pass  # whoever asked is gone, or speaks another language
        line.close()

    def leave(self):
        """Go, with the understudy."""
        self.listener.close()
        with self.lock:
            if self.link:
                put(self.link, {"leave": True})
        os._exit(0)


REACHED = {"drain": "drained", "stop": "stopped", "start": "ready"}
