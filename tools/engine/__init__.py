"""engine is what any serving engine says of itself: launch, log, answers, model."""

from tools.engine.benchmark import Benchmark
from tools.engine.launch import EngineName, Environment, Launch, Value
from tools.engine.log import Capture, DecodeLine, Notice, NoticeKind, PrefillLine, ServerLog
from tools.engine.model import ModelConfig
from tools.engine.server import LogMatches, Metrics, ServerInfo, SourceLine, SourceLines

__all__ = [
    "Benchmark",
    "Capture",
    "DecodeLine",
    "EngineName",
    "Environment",
    "Launch",
    "LogMatches",
    "Metrics",
    "ModelConfig",
    "Notice",
    "NoticeKind",
    "PrefillLine",
    "ServerInfo",
    "ServerLog",
    "SourceLine",
    "SourceLines",
    "Value",
]
