"""Write down every write to the server's arguments while they are resolved; a part of trace_run.py.

It gives `Recorder`, `plain` and `place`. Nothing of it changes what is written.
"""

import enum
import sys

_STASH = "_resolved_overrides"  # where 0.5.15 and later keep what they have decided
_DEPTH, _ITEMS, _CHARS, _STACK = 5, 400, 400, 6
_OWN = ("__setattr__", "append", "extend", "put", "told")


def _below(path):
    """Return a file as it lies below site-packages; of any other its last two parts."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            return path.rpartition(mark)[2]
    at = path.rfind("/sglang/")
    return path[at + 1 :] if at >= 0 else "/".join(path.split("/")[-2:])


def places():
    """Return [file, line, function] of the frames that led here, the writer first."""
    frame, found = sys._getframe(1), []
    while frame is not None and len(found) < _STACK:
        code = frame.f_code
        if code.co_filename not in ("trace", "<string>") and code.co_name not in _OWN:
            found.append([_below(code.co_filename), frame.f_lineno, code.co_name])
        frame = frame.f_back
    return found


def place():
    """Return the engine's nearest line, as file:line."""
    near = next((each for each in places() if each[0].startswith("sglang/")), None)
    return "{}:{}".format(*near) if near else "a line that is not the engine's"


def _fields(cls):
    """Return the names of a record's fields, be it a dataclass or a msgspec.Struct."""
    names = getattr(cls, "__struct_fields__", None) or getattr(cls, "__dataclass_fields__", ())
    return list(names)


def _members(value):
    return _fields(type(value))


def plain(value, depth=_DEPTH):
    """Return a value as JSON has it, of bounded size."""
    if isinstance(value, enum.Enum):
        return plain(value.value, depth)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value[:_CHARS] if isinstance(value, str) else value
    return _listed(value, depth) if depth else None


def _listed(value, depth):
    if isinstance(value, dict):
        return {str(k)[:_CHARS]: plain(v, depth - 1) for k, v in list(value.items())[:_ITEMS]}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each, depth - 1) for each in list(value)[:_ITEMS]]
    return {name: plain(getattr(value, name, None), depth - 1) for name in _members(value)} or None


class Recorder:
    """Listens to the class of the arguments and to the records inside its fields."""

    def __init__(self, cls):
        self.subject, self.fields = None, set(_fields(cls))
        self.asked, self.decided, self.writes, self.inner, self.heard = {}, {}, [], {}, set()
        self.kept = []  # so that no id is used twice
        self.cls = cls
        self._listen(cls, self.told)

    def _listen(self, cls, tell):
        if cls in self.heard:
            return
        self.heard.add(cls)
        real = cls.__setattr__

        def put(owner, name, value):
            tell(real, owner, name, value)

        cls.__setattr__ = put

    def told(self, real, owner, name, value):
        """Hear of owner.name = value, where owner is the arguments."""
        if self.subject is None:
            self.subject = owner
        if owner is not self.subject:
            return real(owner, name, value)
        if name == _STASH and type(value) is list:
            value = _Stash(self, value)
        before = getattr(owner, name, None)
        real(owner, name, value)
        if name == _STASH:
            return self.decisions(value)
        if sys._getframe(2).f_code.co_filename == "<string>":
            self.asked[name] = plain(value)  # the constructor that dataclasses writes
        elif name in self.fields and not self._repeats(name, value):
            self._note(name, before, value, None)
        return self._inside(name, value)

    def _repeats(self, name, value):
        """Say whether a write only puts what was decided before in its place."""
        return name in self.decided and self.decided[name] is value

    def decisions(self, stash):
        """Hear of the decisions that are new in the list of them."""
        for entry in stash[getattr(stash, "seen", 0) :]:
            if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], dict):
                for name, value in entry[1].items():
                    before = self.decided.get(name, getattr(self.subject, name, None))
                    self._note(name, before, value, str(entry[0])[:200])
                    self.decided[name] = value
                    self._inside(name, value)
        stash.seen = len(stash)

    def _inside(self, name, value):
        """Listen to a record that is a field's value, and to those in it."""
        if not _members(value) or isinstance(value, self.cls) or id(value) in self.inner:
            return
        self.inner[id(value)] = name
        self.kept.append(value)
        self._listen(type(value), self._of_inner)
        for member in _members(value):
            self._inside(name + "." + member, getattr(value, member, None))

    def _of_inner(self, real, owner, name, value):
        before = getattr(owner, name, None)
        real(owner, name, value)
        if id(owner) in self.inner:
            path = self.inner[id(owner)] + "." + name
            self._note(path, before, value, None)
            self._inside(path, value)

    def _note(self, name, before, value, source):
        row = {"field": name, "old": plain(before), "new": plain(value), "source": source}
        self.writes.append(dict(row, places=places()))

    def resolved(self, read=None):
        """Return every field as it is at the end; `read` is the engine's own way to tell, where it has one."""
        if read is not None:
            return {name: plain(read(self.subject, name)) for name in self.fields}
        now = {name: getattr(self.subject, name, None) for name in self.fields}
        return {name: plain(value) for name, value in {**now, **self.decided}.items()}


class _Stash(list):
    """The list of decisions, which says when it grows."""

    def __init__(self, recorder, entries):
        list.__init__(self, entries)
        self.recorder, self.seen = recorder, 0

    def append(self, entry):
        list.append(self, entry)
        self.recorder.decisions(self)

    def extend(self, entries):
        list.extend(self, entries)
        self.recorder.decisions(self)

    def __iadd__(self, entries):
        self.extend(entries)
        return self

    def __reduce__(self):
        return (list, (list(self),))
