"""Keep of a command line what the allow-list names: a prelude, after PUBLIC_NAMES, SECRET_NAMES.

The two sets come from tools/knowledge/fields.py; here they are used before anything is printed.
"""

# ruff: noqa: F821


def known(flag):
    """Say whether a flag, or what it abbreviates, is on the allow-list and can be no secret."""
    name = flag.lstrip("-").split(".")[0].replace("-", "_")
    name = name[3:] if name.startswith("no_") else name
    if name in PUBLIC_NAMES:
        return True
    begun = [known for known in PUBLIC_NAMES if known.startswith(name)]
    return bool(begun) and not any(secret.startswith(name) for secret in SECRET_NAMES)


def allowed(argv):
    """Return the words of a command line, without the values of flags that are not known."""
    kept, keep = [], True
    for word in argv:
        name, equals, _ = word.partition("=")
        if word.startswith("--"):
            keep = known(name)
            kept.append(word if keep or not equals else name + "=<dropped>")
        else:
            kept.append(word if keep else "<dropped>")
    return kept
