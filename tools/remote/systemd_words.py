"""Command lines as systemd writes them: taken apart with the place of each word, and put together again.

It gives `directives`, `exec_starts`, `words_of`, `quoted`, `assignment` and `line_without`. After systemd.syntax(7) and
systemd.service(5) of systemd 252, "Command lines"; src/basic/extract-word.c for what the pages leave open.
"""

import re

_PREFIXES = "@-:+!|"
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " ",
            "\\": "\\", '"': '"', "'": "'"}  # fmt: skip
_CODE = re.compile(r"x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_AS_IT_IS = re.compile(r"[\w@+=:,./-]+\Z", re.ASCII)


def logical_lines(text):
    """Yield lines with continuations joined, as systemd joins them; comments between them are left out."""
    joined = None
    for line in text.split("\n"):
        bare = line.lstrip(" \t")
        if bare[:1] in ("#", ";"):
            continue
        whole = line if joined is None else joined + line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            joined = whole[:-1] + " "
            continue
        joined = None
        yield whole.strip()
    if joined is not None:
        yield joined.strip()


def directives(text, section="Service"):
    """Yield (name, value) of one section of a unit's file."""
    inside = False
    for line in logical_lines(text):
        if line.startswith("[") and line.endswith("]"):
            inside = line[1:-1] == section
        elif inside and "=" in line:
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


def exec_starts(texts):
    """Return the command lines in force, from the unit's file and its drop-ins in their order."""
    found = []
    for text in texts:
        for name, value in directives(text):
            if name == "ExecStart":
                found = [*found, value] if value else []
    return found


class Word:
    """One word: its text, where it stands, and whether systemd replaces a part of it ($NAME, %i)."""

    def __init__(self, text, start, end, raw):
        self.text, self.start, self.end, self.raw = text, start, end, raw
        self.literal = not re.search(
            r"(?<!%)(?:%%)*%(?!%)[A-Za-z]", raw
        ) and "$" not in text.replace("$$", "")
        if self.literal:
            self.text = text.replace("$$", "$").replace("%%", "%")


def _unescaped(line, at):
    """Return the text of the escape after a backslash, and where it ends."""
    found = _CODE.match(line, at)
    if found:
        base = 8 if found.group(2) else 16
        return chr(int(next(filter(None, found.groups())), base)), found.end()
    if at < len(line) and line[at] in _ESCAPES:
        return _ESCAPES[line[at]], at + 1
    return "\\" + line[at : at + 1], at + 1


def _word(line, at):
    text, quote = "", ""
    while at < len(line) and (quote or line[at] not in " \t\r\n"):
        char = line[at]
        if char == "\\":
            piece, at = _unescaped(line, at + 1)
            text += piece
            continue
        at += 1
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        else:
            text += char
    if quote:
        raise ValueError("a quotation mark is not closed")
    return text, at


def words_of(line):
    """Return the words of a command line; ValueError where it is several commands or not well formed."""
    found, at = [], 0
    while True:
        while at < len(line) and line[at] in " \t\r\n":
            at += 1
        if at >= len(line):
            return found
        if re.match(r";(?:\s|\Z)", line[at:]):
            raise ValueError("it holds several commands")
        start = at
        text, at = _word(line, at)
        found.append(Word(text, start, at, line[start:at]))


def prefixes_of(line):
    """Return the signs before the program: `-`, `@`, `:`, `+`, `!`."""
    return line[: len(line) - len(line.lstrip(_PREFIXES))]


def _escaped(text):
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found.group()):02x}", out) + '"'


def quoted(word, prefixes=""):
    """Return a word as it is written into ExecStart, so that systemd hands on exactly this one.

    Behind the prefix `:` systemd replaces no variables, and `$` stands for itself.
    """
    if _AS_IT_IS.match(word):
        return word
    return _escaped(word if ":" in prefixes else word.replace("$", "$$"))


def assignment(name, value):
    """Return what Environment= takes: there `$` stands for itself."""
    return _escaped(name + "=" + value)


def line_without(line, gone, added):
    """Return a command line without the words of these indices, with others at its end, the rest as written."""
    words, kept, at = words_of(line), "", 0
    for index, word in enumerate(words):
        if index in gone:
            kept += line[at : word.start].rstrip()
            at = word.end
    kept = (kept + line[at:]).rstrip()
    return " ".join([kept, *(quoted(word, prefixes_of(line)) for word in added)])
