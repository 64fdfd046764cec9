"""Print a file of text that was named, if it holds what is looked for; else JSON that says why not.

Arguments: the path, and the pattern (of our own) of which one line must be in it. Goes after given.py.
"""

# Goes after given.py
# ruff: noqa: F821
# What has no definition here is that of given.py, whose text goes before this one.

import json
import re
import sys

MOST = 1 << 20


def main(path, pattern):
    """Return the text, or the answer that says why there is none."""
    file, trouble = given(path)
    if file is None:
        return json.dumps(trouble)
    with file:
        text = file.read(MOST).decode("utf-8", "replace")
    if not text.strip():
        return json.dumps({"absent": path + " is empty"})
    if not re.search(pattern, text, re.MULTILINE):
        return json.dumps({"absent": path + " holds nothing of the kind that is asked for"})
    return text


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:3]))
