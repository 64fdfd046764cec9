"""Watch every GPU for some seconds, without load of our own; arguments: seconds, readings a second.

Goes after nvml_watch.py, which does the watching.
"""

# Goes after nvml_watch.py
# ruff: noqa: F821

import json
import sys

finish(json.dumps(watched(float(sys.argv[1]), float(sys.argv[2]))))
