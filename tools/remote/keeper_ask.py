"""Ask the keeper of this host something; argument: JSON with port, verb, name, fence and what the verb needs."""

# Goes after keeper_wire.py
# ruff: noqa: F821

import sys


def asked_of_keeper(asked, within_s=3.0):
    """Return its answer; a keeper that was killed a moment ago has an understudy that is about to answer."""
    until = time.monotonic() + within_s
    while True:
        try:
            told = call(address_for(asked["port"]), asked)
        except PermissionError as why:
            return {"failed": str(why)}
        except OSError as why:
            told = {"failed": "the keeper does not answer: " + str(why)}
        if told is not None:
            return told
        if time.monotonic() > until or not asked.get("wait"):
            return {"absent": "no keeper answers on this host"}
        time.sleep(0.1)


print(json.dumps(asked_of_keeper(json.loads(sys.argv[1]))))
