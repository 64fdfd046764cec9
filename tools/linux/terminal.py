"""What a terminal would show: without colours, carriage returns and old progress bars."""

from __future__ import annotations

import re

# ECMA-48 control sequences; each branch stops at the next escape, so the time is linear.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_=>78])")
_SYSLOG_ESCAPE = re.compile(r"#033(?=\[)")  # rsyslog and journald write the escape byte like this
_LOST_ESCAPE = re.compile(r"\[(?:\d{1,3};){0,4}\d{1,3}m")  # pasted from a browser: the byte is gone
_AFTER_BAR = re.compile(r"(?<=it/s\]|s/it\]|.B/s\])(?=[^\s\]])")  # tqdm ends, a log line begins
_LOGGED = re.compile(r"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b")


def shown(text: str) -> str:
    """Return a text without NULs, escapes and CRLF; of a rewritten line its last state stays.

    A log line that was glued to a progress bar becomes a line of its own.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if text.startswith("\ufeff"):
        text = text[1:]
    if "#033[" in text:
        text = _SYSLOG_ESCAPE.sub("\x1b", text)
    if "\x1b" in text:
        text = _ESCAPES.sub("", text).replace("\x1b", "")
    if "[0m" in text or "[0;0m" in text:
        text = _LOST_ESCAPE.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.replace("\r\n", "\n").split("\n"))
    if "/s]" in text or "s/it]" in text:
        text = _AFTER_BAR.sub("\n", text)
    return text


def _last_state(line: str) -> str:
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state.strip()]
    kept = [state for state in states[:-1] if "%|" not in state and _LOGGED.match(state)]
    return "\n".join([*kept, *states[-1:]])
