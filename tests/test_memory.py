"""The bot's threads share two arenas of malloc, its caches are small, and free memory goes back."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy.pool import QueuePool

from bot.store.database import Database, read_url

_GLIBC = platform.libc_ver()[0] == "glibc"
pytestmark = pytest.mark.skipif(not _GLIBC, reason="the C library is not glibc")

# Each thread allocates by malloc itself, so that it needs an arena, while all of them live.
_ARENAS = """
import ctypes, sys, threading
from bot.memory import bound
if sys.argv[1] == "bound":
    bound()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(9)
def work():
    libc.malloc(5000)
    together.wait(60)
    together.wait(60)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
together.wait(60)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
together.wait(60)
"""

_TRIMMED = """
import ctypes, re
from bot.memory import give_back
def rss_kb():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1])
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
pieces = [libc.malloc(60_000) for _ in range(1000)]
for piece in pieces:
    libc.memset(piece, 1, 60_000)
last = libc.malloc(60_000)  # so that what is free does not lie at the end
for piece in pieces:
    libc.free(piece)
before = rss_kb()
give_back()
print(before - rss_kb())
"""


def _run(code: str, *arguments: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    run = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        run, env=environ, capture_output=True, check=True, text=True, timeout=120
    ).stdout


def test_the_threads_share_two_arenas() -> None:
    assert _run(_ARENAS, "bound").count("<heap nr=") <= 2


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="glibc bounds them by the cores")
def test_without_the_bound_there_are_more() -> None:
    """So that the test above can fail."""
    assert _run(_ARENAS, "free").count("<heap nr=") > 2


def test_the_caches_of_all_connections_to_a_file_stay_below_16_mb(tmp_path: Path) -> None:
    database = Database(read_url(f"sqlite:///{tmp_path / 'store.sqlite'}"), time.time)
    with database.reading() as connection:
        kept = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
    database.close()
    pool = database.engine.pool
    assert isinstance(pool, QueuePool)
    assert 0 < -kept * pool.size() <= 16 * 1024


def test_what_is_free_goes_back() -> None:
    assert int(_run(_TRIMMED)) > 30_000
