"""Secrets on the whole way: from files and from a host to the report, the story and the case file."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bot import commands
from tests.lab.engine import Engine
from tests.lab.sshd import Lab, descendants

KEY = "Zq7XkP2mVw9RtLb4"  # nothing about it looks like a key: only its place tells
PROMPT = "MyPrivatePromptAboutLlamas"
DECODE = (
    "[2026-01-01 00:00:01] Decode batch, #running-req: 1, #token: 34, token usage: 0.00, "
    "cuda graph: False, gen throughput (token/s): 5.16, #queue-req: 0, \n"
)
FLAGS = (
    f"--api-key {KEY}",
    f"--api-key={KEY}",
    f"--api-k {KEY}",
    f"--api={KEY}",
    f"--admin-api-key '{KEY}'",
    f"--ssl-keyfile-password {KEY}",
    f'--model-loader-extra-config \'{{"password":"{KEY}"}}\'',
    f"--model-path https://user:{KEY}@h/x",
    f"--tool-server http://u:{KEY}@h",
    f"--model-path 'https://h/x?X-Amz-Signature={KEY}'",
)
PLACES = {
    "a command line": "{}\n",
    "ps": "    PID TTY STAT TIME COMMAND\n   1234 ? Sl 0:10 {}\n",
    "ps aux": "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\nroot 1234 99.0 1.0 1 1 ? Sl 10:00 0:10 {}\n",
    "top": "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
    "   1234 root      20   0 1g 1g 1g R 100.0 1.0 10:00.00 {}\n",
    "a unit": f"[Service]\nExecStart=/usr/bin/{{}}\nEnvironment=HF_TOKEN={KEY}\n",
    "compose": f"services:\n  s:\n    image: lmsysorg/sglang\n    environment:\n      - HF_TOKEN={KEY}\n      - NCCL_DEBUG=INFO\n"
    f"      - MYSQL_PWD={KEY}\n    command: {{}}\n",
    "the journal": "Sep 10 12:00:01 host sglang[12]: [2026-09-10 12:00:01] INFO start {}\n",
    "nvidia-smi": "+----+\n| NVIDIA-SMI 580.1  Driver Version: 580.1  CUDA Version: 13.0 |\n| Processes: |\n"
    "|    0   N/A  N/A            1234      C   {}   1000MiB |\n+----+\n",
    "nvidia-smi -q": "==============NVSMI LOG==============\n\nDriver Version : 580.1\nAttached GPUs : 1\nGPU 00000000:01:00.0\n"
    "    Product Name : NVIDIA A6000\n    Processes\n        Process ID : 1234\n            Type : C\n            Name : {}\n",
    "nvidia-smi as CSV": "pid, process_name, used_gpu_memory [MiB]\n1234, {}, 1000 MiB\n",
    "a shell": "root@h:~# {}\nroot@h:~# nvidia-smi -L\nGPU 0: NVIDIA RTX A6000 (UUID: GPU-11111111-1111-1111-1111-111111111111)\n",
    "a text that nobody knows": "dear colleague, I typed {}\n",
}
INNER = {
    "model_path": "m",
    "tp_size": 1,
    "port": 1,
    "api_key": KEY,
    "tomorrow": KEY,
    "nested": {"token": KEY},
}
INFO = INNER | {
    "internal_states": [INNER | {"last_gen_throughput": 5.0}], "version": "0.5.9",
    "launch_command": f"x --api-key {KEY}", "env_vars": {"A": KEY},
}  # fmt: skip
DUMP = f"[2026-01-01 00:00:00] server_args={{'model_path': 'm', 'api_key': '{KEY}', 'tomorrow': '{KEY}', 'x': {{'a': ['{KEY}']}}}}"
ARGV = ["python", "-m", "sglang.launch_server", "--model-path", "m", "--api-key", KEY]
TEXTS = {
    "variables": f"HF_TOKEN={KEY}\nNCCL_DEBUG=INFO\nDB_PASS={KEY}\nFOO={KEY}\nMYSQL_PWD={KEY}\nSGLANG_X=http://u:{KEY}@h\n",
    "variables of a file": f"# mine\nNCCL_DEBUG=INFO\nSECRET_SAUCE='{KEY}'\nfoo_pwd={KEY}\n",
    "a dump as keywords": f"[2026-01-01 00:00:00] server_args=ServerArgs(model_path='m', api_key='{KEY}', tomorrow='{KEY}')\n{DECODE}",
    "a dump as a dict": f"{DUMP}\n{DECODE}",
    "a dump that breaks off in a key": DUMP[: DUMP.index(KEY) + 9],
    "a dump that breaks off later": DUMP[: DUMP.rindex(KEY) + 9],
    "vLLM's dump": f"INFO 09-10 10:00:00 [utils.py:253] non-default args: {{'model': 'm', 'api_key': ['{KEY}'], 'hf_token': '{KEY}'}}\n",
    "vLLM's other dump": f"INFO 09-10 10:00:00 [core.py:58] Initializing a V1 LLM engine (v0.11.0) with config: model='m', x={KEY}\n",
    "requests": f"{DECODE}[2026-01-01 00:00:02] Receive: obj=GenerateReqInput(text='{PROMPT}', sampling_params={{}})\n",
    "a torn request": f"{DECODE}[2026-01-01 00:00:02] Receive: obj=GenerateReqInput(text='one\n{PROMPT} two\n{PROMPT}')\n{DECODE}",
    "requests as events": f'{DECODE}[2026-01-01 00:00:02] {{"event": "request.received", "obj": {{"text": "{PROMPT}"}}}}\n',
    "a request": json.dumps({"model": "m", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 3}),
    "half a request": f'{{"model":"m","messages":[{{"role":"user","content":"{PROMPT}',
    "a crash dump": json.dumps({"server_args": INNER, "requests": [{"obj": {"text": PROMPT}, "out": {"text": PROMPT}}]}),
    "server_info": json.dumps(INFO),
    "server_info, cut": json.dumps(INFO)[:-40],
    "a benchmark": json.dumps({"backend": "sglang", "duration": 1.0, "completed": 3, "output_throughput": 50.0,
                               "server_info": INFO, "generated_texts": [PROMPT], "errors": [KEY]}) + "\n",
    "docker inspect": json.dumps([{"Id": "a" * 64, "Path": "python", "Args": ARGV[1:],
                                   "Config": {"Env": [f"HF_TOKEN={KEY}", f"MY_PASSWORD={KEY}"], "Cmd": ARGV}}], indent=1),
    "a pod": f"spec:\n  containers:\n  - name: s\n    image: sglang\n    command: {json.dumps(ARGV)}\n    env:\n    - name: HF_TOKEN\n      value: {KEY}\n",
    "a model": json.dumps({"model_type": "llama", "num_hidden_layers": 2, "auth_token": KEY, "_name_or_path": f"https://u:{KEY}@h/m"}),
    "a letter": f"password: {KEY}\nAuthorization: Bearer {KEY}\nmongodb://root:{KEY}@db/x\nmysql -uroot -p{KEY}\nprompt: '{PROMPT}'\n",
    "metrics": f'sglang:num_running_reqs{{model_name="https://u:{KEY}@h/m",api_key="{KEY}"}} 1.0\n',
    "the kernel's log": f"[    0.000000] Command line: root=/dev/sda password={KEY}\n[    1.0] NVRM: Xid (PCI:0000:01:00): 79, name=x --api-key {KEY}\n",
    "NCCL's log": f"h:1:1 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\nh:1:1 [0] NCCL INFO x http://u:{KEY}@h token={KEY}\n",
    "source": f"/x/sglang/srt/server_args.py:12:    api_key = '{KEY}'\n/x/sglang/srt/server_args.py:13:    tp_size = 1\n",
    "a shell that asks": f"$ curl -H 'Authorization: Bearer {KEY}' -u me:{KEY} http://h/server_info\n{json.dumps(INFO)}\n",
}  # fmt: skip
ALL = TEXTS | {
    f"{flag.split(KEY)[0]} in {place}": form.format(
        f"python -m sglang.launch_server --model-path m --tp 2 {flag} --port 1"
    )
    for place, form in PLACES.items()
    for flag in FLAGS
}


@pytest.mark.parametrize("name", ALL)
def test_what_stands_in_a_file_is_not_told_and_not_kept(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text(ALL[name])
    kept = tmp_path / "kept.json"
    for as_json in (True, False):
        commands.diagnose([tmp_path / "text"], "slow?", kept, as_json=as_json)
    said = capsys.readouterr()
    for text in (said.out, said.err, kept.read_text()):
        assert KEY[:8] not in text
        assert PROMPT not in text


def test_what_a_host_holds_is_not_told_not_kept_and_not_on_its_process_list(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine(tmp_path)
    shell = subprocess.Popen(["bash", "-c", f"X='/usr/bin/{KEY}'; while :; do :; done"])
    try:
        with engine.log.open("a") as log:
            log.write(
                f"{DUMP}\n[2026-01-01 00:00:02] Receive: obj=GenerateReqInput(text='{PROMPT}')\n--api-k {KEY}\n{DECODE}"
            )
        settings = tmp_path / "hosts.toml"
        settings.write_text(f'[hosts.lab]\nssh_config = "{lab.config}"\nport = {engine.port}\n')
        monkeypatch.setenv("PERFSLEUTH_HOSTS", str(settings))
        monkeypatch.setattr(commands.settings.load, "__defaults__", (os.environ,))
        with _watched(lab) as listed:
            commands.capture("lab", tmp_path / "kept.json")
    finally:
        for process in (shell, engine.process):
            process.kill()
            process.wait()
    said = capsys.readouterr()
    kept = (tmp_path / "kept.json").read_text()
    assert "Decode batch" in kept
    for text in (said.out, said.err, kept, b"\n".join(listed).decode("utf-8", "replace")):
        for secret in (
            KEY,
            PROMPT,
            "lab-secret-that-nobody-may-see",
            "hf_labSecretThatNobodyMaySee123",
        ):
            assert secret not in text


@contextmanager
def _watched(lab: Lab) -> Iterator[set[bytes]]:
    """Look again and again at what the lab's process list shows while something is asked."""
    listed: set[bytes] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            for pid in descendants(lab.sshd.process.pid):
                with suppress(OSError):
                    listed.add(Path(f"/proc/{pid}/cmdline").read_bytes())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield listed
    finally:
        over.set()
        thread.join()
    assert any(b"zlib" in line for line in listed), "the runner was not seen"
