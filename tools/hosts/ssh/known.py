"""Which host keys are known: known_hosts, read line by line as OpenSSH reads it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tools.errors import HostKeyRefused
from tools.hosts.ssh.route import Route

_RSA = ("rsa-sha2-512", "rsa-sha2-256")


@dataclass
class Known:
    """What known_hosts holds for one host: (type, key) pairs, and where the first was written."""

    trusted: set[tuple[str, bytes]] = field(default_factory=set)
    elsewhere: set[tuple[str, bytes]] = field(default_factory=set)  # of the same host on port 22
    revoked: set[bytes] = field(default_factory=set)
    authority: bool = False
    where: str = ""

    def preferred(self, offered: Iterable[str]) -> tuple[str, ...]:
        """Order key algorithms so that a host shows the key that is known."""
        names = {name for name, _ in self.trusted or self.elsewhere}
        names |= set(_RSA) if "ssh-rsa" in names else set()
        return tuple(sorted(offered, key=lambda name: name not in names))

    def check(self, route: Route, name: str, key: bytes) -> None:
        """Raise HostKeyRefused unless this very key is known and not revoked."""
        shown, ssh = route.shown, f"ssh {route.alias}"
        offer = f"{name} {fingerprint(key)}"
        if key in self.revoked:
            raise HostKeyRefused(
                f"the host key of {shown} is marked as revoked ({offer}): do not use this host"
            )
        if (name, key) in self.trusted | self.elsewhere:
            return
        if self.trusted:
            raise HostKeyRefused(
                f"the host key of {shown} is not the one in {self.where}: it offers {offer}. It was reinstalled, or "
                "somebody stands in between: compare that fingerprint with what its administrator says, and only then "
                f'remove the old key with: ssh-keygen -R "{route.known_as}"'
            )
        because = (
            " (its certificate authority is known, but host certificates cannot be checked here)"
            if self.authority
            else ""
        )
        raise HostKeyRefused(
            f"the host key of {shown} is unknown{because}: it offers {offer}. Connect once by hand with `{ssh}`, "
            "compare that fingerprint with what its administrator says, and accept it there"
        )


def fingerprint(key: bytes) -> str:
    """Return the fingerprint as `ssh-keygen -l` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def known_keys(route: Route) -> Known:
    """Read all that known_hosts files say of one host; a line that cannot be read is passed over."""
    known = Known()
    plain = route.hostname.lower()
    for path, marker, names, kind, key in _lines(route.known_hosts):
        if _matches(names, route.known_as):
            _note(known, path, marker, kind, key)
        elif not route.key_alias and not marker and _matches(names, plain):
            known.elsewhere.add((kind, key))
    return known


def _note(known: Known, path: Path, marker: str, kind: str, key: bytes) -> None:
    if marker == "@revoked":
        known.revoked.add(key)
    elif marker == "@cert-authority":
        known.authority = True
    elif not marker:
        known.trusted.add((kind, key))
        known.where = known.where or str(path)


def _lines(paths: Iterable[Path]) -> Iterator[tuple[Path, str, str, str, bytes]]:
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            words = line.split()
            marker = words.pop(0) if words and words[0].startswith("@") else ""
            if len(words) < 3 or words[0].startswith("#"):
                continue
            try:
                yield path, marker, words[0], words[1], base64.b64decode(words[2], validate=True)
            except (binascii.Error, ValueError):
                continue


def _matches(names: str, name: str) -> bool:
    """Match a name as sshd(8) says: hashed, or comma-separated patterns of which `!` takes back."""
    if names.startswith("|1|"):
        return _hashed(names, name)
    found = False
    for pattern in names.lower().split(","):
        if _wild(pattern.removeprefix("!"), name):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _wild(pattern: str, name: str) -> bool:
    return fnmatchcase(name, re.sub(r"\[", "[[]", pattern))  # only * and ? are wild here


def _hashed(names: str, name: str) -> bool:
    parts = names.split("|")
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in parts[2:4])
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)
