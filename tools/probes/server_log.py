"""What the server wrote into its log: start-up, traffic, refusals, troubles."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from pydantic import Field

from tools.engine import ServerLog
from tools.engine.prompts import cleaned
from tools.errors import Absent, Failed, Unreadable
from tools.host import Command, script
from tools.linux.wrappers import unwrap
from tools.probe import JSON, Probe
from tools.sglang.args import clean_dumps, read_dump
from tools.sglang.log import read_log as read_sglang
from tools.vllm.log import read_log as read_vllm

HEADER = "perfsleuth-log "
_LOOK = 400_000  # characters at either end of a text by which a log is known

_SGLANG = re.compile(
    r"\b(?:Decode|Prefill) batch(?: \[\w{1,20}\])?[.,] #|\bserver_args=(?:ServerArgs\(|\{)"
    r"|The server is fired up and ready to roll|max_total_num_tokens=\d|#retracted_reqs: "
    r"|\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?: [A-Z_]{2,7}\d{1,4}){1,6}\] \S"
    r"|Capture (?:\w{1,20} ){0,3}(?:cuda|CUDA) graph (?:begin|end|bs)"
    r"|sglang serve: error: |launch_server\.py: error: |sglang is using nccl=="
    r"|(?:Custom|custom) ?[Aa]ll-?[Rr]educe\w{0,3} is disabled|\bLoad weight (?:begin|end)\. "
    r"|File \"[^\"\n]{1,200}/sglang/(?:srt|cli|launch_server)"
    r"|\bInit (?:torch distributed|parallel) (?:begin|ends)|kill_process_tree called"
    r"|Scheduler hit an exception"
)
_VLLM = re.compile(
    r"Avg prompt throughput: [\d.]{1,12} tokens/s, Avg gen|LLM engine \(v?\d|vLLM API server version"
    r"|\b(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./]{1,60}:\d{1,6}\] "
    r"|\((?:APIServer|EngineCore\w{0,8}|Worker\w{0,12}) pid=\d+\) "
)
# SGLang up to 0.4 imports vLLM, which then prints lines of its own
_SURELY_SGLANG = re.compile(r"\b(?:Decode|Prefill) batch[.,] #|\bserver_args=|\bsglang\b")
_OTHER = re.compile(
    r"\s*(?:diff --git|commit [0-9a-f]{40}|def \w+\()"
)  # sources that speak of a log


class ReadServerLog(Probe[ServerLog]):
    """Read the serve log: start-up and last run of an SGLang or vLLM server, filtered on the host.

    A person would type: tail -c 48M LOG | grep -E 'server_args|batch|disabled|error', or
    docker logs --tail, or journalctl -u UNIT. It is found through /proc/PID/fd if no path is given.
    """

    drops_arguments: ClassVar[bool] = True

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")
    log_path: str | None = Field(None, max_length=1000, description="the log's path on the host")
    window_mb: int = Field(48, ge=1, le=2048, description="how much of the end is read closely, MB")

    def command(self) -> Command:
        """Run our filter where the log lies."""
        path = self.log_path or ""
        return script(
            "serve_log",
            str(self.port or 0),
            str(self.window_mb),
            *(("./" + path if path.startswith("-") else path,) if path else ()),
            after=("find_server", "log_source", "log_sieve"),
            limit_s=60,
            max_bytes=4 << 20,
        )

    def recognises(self, text: str, /) -> bool:
        """Lines that only an engine prints, wherever the fragment begins and ends."""
        if text.startswith(HEADER):
            return True
        looked = text if len(text) <= 2 * _LOOK else text[:_LOOK] + "\n" + text[-_LOOK:]
        looked = unwrap(looked)
        return not _OTHER.match(looked) and bool(_SGLANG.search(looked) or _VLLM.search(looked))

    def lying_at(self, path: str, /) -> ReadServerLog:
        """Ask for the log that lies there, whichever server wrote it."""
        return self.model_copy(update={"log_path": path, "port": None})

    def clean(self, text: str, /) -> str:
        """Drop prompts, arguments that are off the allow-list, and secrets."""
        return cleaned(clean_dumps(text))

    def parse(self, stdout: str, /) -> ServerLog:
        """Read what our filter printed, or a pasted log."""
        head, body = parted(stdout)
        if not body.strip() and head:
            raise Absent(f"the log holds nothing ({head.get('source', 'no path')})")
        text = unwrap(body)
        vllm = not _SURELY_SGLANG.search(text) and bool(_VLLM.search(text))
        log = read_vllm(text, read_dump) if vllm else read_sglang(text)
        read = (
            log.decode or log.prefill or log.notices or log.captures or log.resolved or log.started
        )
        if not read and not self.recognises(body):
            raise Unreadable("no line of an SGLang or vLLM serve log is in it")
        update = {
            "cut_lines": _count(head.get("cut_lines")),
            "health_prefills": log.health_prefills + _count(head.get("health")),
        }
        return log.model_copy(update=update) if head else log


def parted(stdout: str) -> tuple[dict[str, Any], str]:
    """Part what a script of ours printed into its header and the lines; a pasted log has no header.

    Raises Absent and Failed where the script says so instead.
    """
    first, _, rest = stdout.partition("\n")
    if first.startswith("{") and len(first) < 4000 and ('"absent"' in first or '"failed"' in first):
        try:
            said = json.loads(first)
        except ValueError:
            return {}, stdout
        if isinstance(said, dict) and isinstance(said.get("absent"), str):
            raise Absent(said["absent"][:600])
        if isinstance(said, dict) and isinstance(said.get("failed"), str):
            raise Failed(said["failed"][:600])
    if not first.startswith(HEADER):
        return {}, stdout
    try:
        head = JSON.decode(first[len(HEADER) :])
    except ValueError:
        raise Unreadable("the first line is not the header that our filter prints") from None
    return (head if isinstance(head, dict) else {}), rest


def _count(told: object) -> int:
    return told if isinstance(told, int) else 0
