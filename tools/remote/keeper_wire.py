"""The keeper's wire: one line of JSON each way over an abstract Unix socket. A prelude of both its ends.

It gives `address_for`, `listen`, `call` and how lines are put and taken.
"""

import json
import os
import socket
import struct
import time

MOST = 8 << 20
ANSWER_WITHIN_S = 8.0


def address_for(port):
    """Return the name of the socket: that of the port, once on each host."""
    return "perfsleuth-" + str(int(port))


def listen(name, within_s):
    """Bind the name, which only one process can; None where somebody else keeps it for so long."""
    until = time.monotonic() + within_s
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    while True:
        try:
            one.bind("\x00" + name)
            one.listen(64)
            return one
        except OSError:
            if time.monotonic() > until:
                one.close()
                return None
            time.sleep(0.02)


def peer(line):
    """Return (pid, uid, gid) of the other end, as the kernel knows it."""
    return struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))


def put_line(line, thing):
    line.sendall(json.dumps(thing).encode() + b"\n")


def take_line(line):
    """Return one object; raise ValueError where the other end says something else or nothing."""
    said = b""
    while not said.endswith(b"\n") and len(said) < MOST:
        part = line.recv(1 << 16)
        if not part:
            break
        said += part
    return json.loads(said.decode())


def put(line, thing):
    """Send one object between the keeper and its understudy."""
    said = json.dumps(thing).encode()
    line.sendall(struct.pack(">I", len(said)) + said)


def take(line):
    """Return the next object, None at the end: the other one has gone."""
    head = _exactly(line, 4)
    said = head and _exactly(line, struct.unpack(">I", head)[0])
    return json.loads(said.decode()) if said else None


def _exactly(line, size):
    said = b""
    while len(said) < size:
        try:
            part = line.recv(size - len(said))
        except OSError:
            return None
        if not part:
            return None
        said += part
    return said


def call(name, asked):
    """Return what the keeper says; None where there is none. Raise PermissionError of a stranger's socket."""
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.settimeout(ANSWER_WITHIN_S)
    try:
        one.connect("\x00" + name)
        if peer(one)[1] not in (0, os.geteuid()):
            raise PermissionError("the name of the keeper is held by a process of another user")
        put_line(one, asked)
        return take_line(one)
    except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError, ValueError):
        return None
    finally:
        one.close()
