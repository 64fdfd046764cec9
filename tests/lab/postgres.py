"""A PostgreSQL of our own on loopback, run by a user who is not root."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg

from tests.lab.sshd import free_port

_PLACES = os.pathsep.join(  # Debian keeps its servers beside PATH
    [os.environ.get("PATH", ""), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin")))]
)
PROGRAMS = {name: shutil.which(name, path=_PLACES) for name in ("initdb", "pg_ctl", "postgres")}
MISSING = "PostgreSQL's initdb, pg_ctl and postgres are not here (Debian: apt install postgresql)"


class Cluster:
    """`database()` gives the address of a fresh, empty database, with a password that must not show."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="perfsleuth-pg-", dir="/tmp"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        self._data = self.folder / "data"
        self._run(
            "initdb",
            "-D",
            self._data,
            "-A",
            "trust",
            "-U",
            "sleuth",
            "-N",
            "-E",
            "UTF8",
            "--locale=C",
        )
        self.port = free_port()
        self.start()
        self._count = 0

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run(
            "pg_ctl", "-D", self._data, "-w", "-l", self.folder / "log", "-o", options, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def database(self) -> str:
        self._count += 1
        name = f"sleuth{self._count}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def address(self, name: str) -> str:
        return f"postgresql://sleuth:hunter2@127.0.0.1:{self.port}/{name}"

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object) -> None:
        other: dict[str, Any] = {}
        if os.geteuid() == 0:
            other = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        path = PROGRAMS[program]
        assert path is not None, MISSING
        subprocess.run(
            [path, *map(str, arguments)],
            check=True,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **other,
        )
