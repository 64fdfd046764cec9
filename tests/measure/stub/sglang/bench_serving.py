"""Plays the engine's benchmark: notes how it was called, writes a result with keys in it as the real one does."""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from pathlib import Path

# what the version at hand knows: "--ready-check-timeout-sec"
SECRETS = {
    "server_info": {"api_key": os.environ.get("OPENAI_API_KEY"), "model_path": "/models/stub"}
}

if __name__ == "__main__":
    arguments = {flag: value for flag, value in pairwise(sys.argv) if flag.startswith("--")}
    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    if os.environ.get("VIRTUAL_ENV") == "fails":
        sys.exit(f"could not log in with {os.environ.get('OPENAI_API_KEY')}")
    Path.home().joinpath("called.jsonl").open("a").write(json.dumps(sys.argv[1:]) + "\n")
    result = {"backend": "sglang", "dataset_name": arguments["--dataset-name"],
              "max_concurrency": int(arguments["--max-concurrency"]), "completed": int(arguments["--num-prompts"]),
              "duration": 2.5, "total_input_tokens": 640, "total_output_tokens": 640, "output_throughput": 256.0,
              "input_throughput": 256.0, "mean_ttft_ms": 31.0, "median_ttft_ms": 30.0, "median_tpot_ms": 4.0,
              "request_rate": float(offline), "generated_texts": ["a secret of a user"]}  # fmt: skip
    with Path(arguments["--output-file"]).open("a") as file:
        file.write(json.dumps(result | SECRETS) + "\n")
