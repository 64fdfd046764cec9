"""engine is what any serving engine says of itself: launch, log, answers, model."""

from tools.engine.arguments import Arguments
from tools.engine.benchmark import Benchmark
from tools.engine.burst import Burst, BurstDecode, BusyLink
from tools.engine.claim import Claim
from tools.engine.launch import EngineName, Environment, Launch, Value
from tools.engine.launcher import Launcher, LauncherKind, Parent
from tools.engine.log import (
    Capture,
    DecodeLine,
    EarlierRun,
    Notice,
    NoticeKind,
    PrefillLine,
    ServerLog,
)
from tools.engine.model import ModelConfig
from tools.engine.request import Requests
from tools.engine.server import LogMatches, Metrics, ServerInfo, SourceLine, SourceLines
from tools.engine.traffic import Traffic
from tools.engine.trial import Trials

__all__ = [
    "Arguments",
    "Benchmark",
    "Burst",
    "BurstDecode",
    "BusyLink",
    "Capture",
    "Claim",
    "DecodeLine",
    "EarlierRun",
    "EngineName",
    "Environment",
    "Launch",
    "Launcher",
    "LauncherKind",
    "LogMatches",
    "Metrics",
    "ModelConfig",
    "Notice",
    "NoticeKind",
    "Parent",
    "PrefillLine",
    "Requests",
    "ServerInfo",
    "ServerLog",
    "SourceLine",
    "SourceLines",
    "Traffic",
    "Trials",
    "Value",
]
