"""The last results that bench_serving or vllm bench left in files; its figures alone, newest last.

Arguments: the file, or nothing to look in the home folder, /tmp and their folders. A line holds the
server's arguments and maybe prompts: they are dropped here.
"""

# Goes after given.py
# ruff: noqa: F821
# What has no definition here is that of given.py, whose text goes before this one.

import glob
import json
import os
import sys

FIGURES = ("backend", "endpoint_type", "dataset_name", "request_rate", "tag", "date", "num_prompts", "max_concurrency",
           "completed", "failed", "duration", "total_input_tokens", "total_output_tokens", "request_throughput",
           "input_throughput", "output_throughput", "concurrency", "accept_length", "mean_ttft_ms", "median_ttft_ms",
           "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "p99_tpot_ms", "mean_itl_ms", "median_itl_ms", "p99_itl_ms",
           "max_itl_ms")  # fmt: skip
# the default names: sglang_1129_32_random.jsonl; vllm's openai-infqps-concurrency8-MODEL-20261129-101010.json
PATTERNS = (
    "*_[0-9][0-9][0-9][0-9]_*_*.jsonl",
    "*qps-*-[0-9]*.json",
    "bench*.jsonl",
    "result*.jsonl",
)


def results(path):
    found, file = [], given(path)[0]
    if file is None:
        return []
    try:
        with file:
            for line in file.read(16 << 20).decode("utf-8", "replace").splitlines()[-64:]:
                try:
                    said = json.loads(line)
                except ValueError:
                    continue
                if isinstance(said, dict) and "duration" in said and "completed" in said:
                    found.append(
                        {
                            key: said[key]
                            for key in FIGURES
                            if isinstance(said.get(key), (int, float, str))
                        }
                    )
    except OSError:
        pass
    return found


def when(path):
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0


def main():
    asked = sys.argv[1:2]
    folders = [os.path.expanduser("~"), os.path.expanduser("~/*"), "/tmp"]
    paths = asked or [
        path
        for folder in folders
        for pattern in PATTERNS
        for path in glob.glob(os.path.join(folder, pattern))
    ]
    for path in sorted(set(paths), key=when, reverse=True)[:32]:
        found = results(path)
        if found:
            return "\n".join(json.dumps(one) for one in found[-8:])
    why = (
        f"no benchmark result in {asked[0]}"
        if asked
        else "no result of bench_serving or vllm bench in the home folder or /tmp"
    )
    return json.dumps({"absent": why})


print(main())
