"""Run the engine's own bench_serving against the server of this host, bounded, in the server's environment.

Argument: JSON with port, requests, at_once, input_tokens, output_tokens, seed, others, limit_s. It prints the
figures of the result as one line of JSON. The data are random token ids, made on the spot: nothing is fetched, no
cache is flushed, no file is left.
"""

# Goes after allow.py
# Goes after occupancy.py
# Goes after find_package.py
# Goes after find_pynvml.py
# ruff: noqa: F821
# What has no definition here is that of the texts before this one, and KEPT_FIGURES.

import signal
import subprocess
import sys

MODULES = ("benchmark/serving.py", "bench_serving.py")  # since 0.5.15, and before
# What a version may lack; all others are known from 0.4.6 to 0.5.23.
OPTIONAL = (("--ready-check-timeout-sec", "10"),)
ENVIRONMENT = ("HOME", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "HF_HOME", "HF_HUB_CACHE", "CUDA_HOME",
               "CUDA_VISIBLE_DEVICES", "SGLANG_USE_CPU_ENGINE", "SGLANG_USE_MODELSCOPE")  # fmt: skip
TAIL = 4000  # characters of its last words


def interpreter(server, package):
    """Return the Python of the server's environment: /proc/PID/exe is what a virtual one points to."""
    known = {}
    for part in _of(server["pid"], "environ").split("\0"):
        name, _, value = part.partition("=")
        known[name] = value
    tops = [
        known.get("VIRTUAL_ENV"),
        known.get("CONDA_PREFIX"),
        package.partition("/lib/python3")[0],
    ]
    first = server["argv"][0]
    named = (
        [first] if first.startswith("/") and os.path.basename(first).startswith("python") else []
    )
    for path in [
        *named,
        *(os.path.join(top, "bin/python3") for top in tops if top),
        server["python"],
    ]:
        if path and os.access(path, os.X_OK):
            return path, {name: known[name] for name in ENVIRONMENT if name in known}
    return None, {}


def fits(info, plan):
    """Return why the server has no room for it, or None."""
    one = plan["input_tokens"] + plan["output_tokens"]
    if one > (info.get("max_req_input_len") or one) - 8:
        return f"a request of {one} tokens does not fit in its context; ask for fewer"
    if 2 * one * plan["at_once"] > (info.get("max_total_num_tokens") or 1 << 40):
        return f"{plan['at_once']} requests of {one} tokens take more than half of its KV pool; ask for fewer"
    return None


def command(python, package, plan, place, info, result):
    """Return the command line."""
    file = next(name for name in MODULES if os.path.isfile(os.path.join(package, name)))
    text = (_raw(os.path.join(package, file), 1 << 20) or b"").decode("utf-8", "replace")
    tokenizer = info.get("tokenizer_path") or info.get("model_path")
    argv = [python, "-m", "sglang." + file[:-3].replace("/", "."), "--backend", "sglang",
            "--base-url", address_of(place), "--model", tokenizer, "--tokenizer", tokenizer,
            "--dataset-name", "random-ids", "--random-input-len", str(plan["input_tokens"]),
            "--random-output-len", str(plan["output_tokens"]), "--random-range-ratio", "1.0",
            "--num-prompts", str(plan["requests"]), "--max-concurrency", str(plan["at_once"]),
            "--seed", str(plan["seed"]), "--warmup-requests", "1", "--disable-tqdm",
            "--output-file", f"/proc/self/fd/{result}"]  # fmt: skip
    for flag, value in OPTIONAL:
        argv += [flag, value] if f'"{flag}"' in text else []
    return argv


def become(server):
    """In the child: be the server's own user, where this is root."""
    if os.geteuid() == 0 and server["uid"]:
        os.setgroups([])
        os.setgid(os.stat(f"/proc/{server['pid']}").st_gid)
        os.setuid(server["uid"])


def run(argv, environment, server, plan, occupancy, result):
    """Run it to its end; return why it was ended, or how it ended by itself."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    own = {
        "env": environment,
        "cwd": "/",
        "pass_fds": [result],
        "preexec_fn": lambda: become(server),
    }
    child = subprocess.Popen(argv, **quiet, **own)
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    said, ends, busy, why = "", time.monotonic() + plan["limit_s"], 0, None
    while why is None:
        try:
            said = child.communicate(timeout=1.0)[0].decode("utf-8", "replace")
            break
        except subprocess.TimeoutExpired:
            found = occupancy.look()
            others = sum(found) - plan["at_once"] if found else 0
            busy = busy + 1 if others > plan["others"] else 0
            if busy >= 2:
                why = f"the server turned busy: {others} requests of others, so the benchmark was ended"
            elif time.monotonic() > ends:
                why = f"bench_serving did not end within {plan['limit_s']:.0f} s and was ended: ask for fewer requests"
    if why:
        child.kill()
        child.communicate()
        return why
    if child.returncode:
        words = [line for line in said[-TAIL:].splitlines() if line.strip()]
        told = words[-1][:300] if words else "it said nothing"
        key = environment.get("OPENAI_API_KEY")
        return f"bench_serving ended with status {child.returncode}: {told.replace(key, '<dropped>') if key else told}"
    return None


def figures(result):
    """Return the last line of the result, cut down to its figures."""
    os.lseek(result, 0, os.SEEK_SET)
    with os.fdopen(result, "rb") as file:
        lines = file.read(64 << 20).decode("utf-8", "replace").strip().splitlines()
    said = json.loads(lines[-1]) if lines else {}
    return {
        key: said[key]
        for key in sorted(KEPT_FIGURES)
        if isinstance(said.get(key), (int, float, str))
    }


def main(plan):
    """Return what is printed."""
    found = server_at(plan["port"])
    if isinstance(found, dict):
        return {name: found[name] for name in ("absent", "failed") if name in found}
    server, place, key, info = found
    if server is None or server["root"]:
        return {"failed": "its environment is not on this side of its container: run `python3 -m sglang.bench_serving`"
                " in there, or measure with --burst, which needs none"}  # fmt: skip
    package = find_package(server, "sglang")
    python, environment = interpreter(server, package["path"]) if package else (None, {})
    if python is None:
        return {"failed": f"its environment may not be read by this user: run as {readers(server)}"}
    if os.geteuid() not in (0, server["uid"]) and not trusted(
        os.path.join(package["path"], "__init__.py")
    ):
        return {"failed": f"its environment belongs to {server['user']}: run as {readers(server)}"}
    occupancy = Occupancy(server, place, key)
    why = fits(info, plan) or refusal(occupancy, plan["others"])
    if why:
        return {"failed": why}
    environment.update(PATH=os.path.dirname(python) + ":/usr/bin:/bin", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1",
                       HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")  # fmt: skip
    if key:
        environment["OPENAI_API_KEY"] = key
    result = os.memfd_create("result", 0)
    argv = command(python, package["path"], plan, place, info, result)
    why = run(argv, environment, server, plan, occupancy, result)
    told = {} if why else figures(result)
    return (
        told
        if told.get("completed")
        else {"failed": why or "bench_serving ended well and wrote no result"}
    )


say(main(json.loads(sys.argv[1])))
