"""What stubs in terminals are to become, until they ask for it. A part of the keeper; it gives OFFERS."""

import array
import json
import secrets
import socket


class Offers:
    """What stubs in terminals are to become, by token."""

    def __init__(self):
        self.name, self.rows, self.text = "", {}, ""

    def make(self, told, fds):
        token = secrets.token_hex(8)
        self.rows[token] = {"told": told, "fds": fds, "line": None, "pid": None}
        return token

    def fill(self, token, told, fds):
        self.rows[token].update(told=told, fds=fds)

    def taken(self, token):
        """Return the process of the stub that asked, once there is something to give."""
        return self.rows[token]["pid"]

    def come(self, token, line, pid):
        if token not in self.rows or self.rows[token]["line"]:
            line.close()
            return
        self.rows[token].update(line=line, pid=pid)

    def release(self, token):
        """Send a stub all that it is to become."""
        row = self.rows.pop(token)
        fds = [fd for fd in row["fds"] if fd is not None]
        places = [None if fd is None else fds.index(fd) for fd in row["fds"]]
        sent = json.dumps({"text": self.text, "told": row["told"], "fds": places}).encode() + b"\n"
        pack = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        with row["line"] as line:
            line.settimeout(5)
            first = line.sendmsg([sent[:1024]], pack)
            line.sendall(sent[first:])

    def drop(self, token):
        row = self.rows.pop(token, None)
        if row and row["line"]:
            row["line"].close()


OFFERS = Offers()
