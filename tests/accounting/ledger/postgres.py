"""A PostgreSQL server of the tests' own: a temporary folder, loopback only, run by a user without rights."""

import atexit
import contextlib
import functools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

SHARED_MEMORY = Path("/dev/shm")  # syncs in memory: quick, and SIGKILL leaves the same behind as on a disk


def quick_folder() -> Path:
    """Make a temporary folder, in memory where there is enough."""
    roomy = os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free > 2**30
    parent = SHARED_MEMORY if roomy else None
    return Path(tempfile.mkdtemp(prefix="dprelease-", dir=parent))


def binaries() -> Path | None:
    """Return the folder of the newest server that Debian's packages installed, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return found[-1].parent if found else None


class Server:
    """One running server with one database."""

    def __init__(self, parent: Path | None = None) -> None:
        """Start it in a folder of its own, in memory or in the parent that is given."""
        folder = binaries()
        assert folder is not None
        self.bin = folder
        self.home = quick_folder() if parent is None else Path(tempfile.mkdtemp(dir=parent))
        self.data = self.home / "data"
        self.log = self.home / "log"
        self.user: dict[str, Any] = {}
        if os.getuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            account = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.home, account.pw_uid, account.pw_gid)
            if parent is not None:
                parent.chmod(0o755)  # the server's account must get through
            self.user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.run("initdb", "-D", self.data, "-U", "ledger", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def run(self, program: str, *arguments: object) -> None:
        command = [str(self.bin / program), *map(str, arguments)]
        subprocess.run(command, check=True, cwd=self.home, stdout=subprocess.DEVNULL, **self.user)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.home} "
        options += "-c shared_buffers=16MB -c max_connections=40"
        self.run("pg_ctl", "-D", self.data, "-l", self.log, "-o", options, "-w", "start")

    def crash(self) -> None:
        """Kill every process of the server at once, as a power cut would."""
        leader = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
        for process in [leader, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, 9)
        while Path(f"/proc/{leader}").exists():
            time.sleep(0.01)
        (self.data / "postmaster.pid").unlink()

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.home)

    def url(self, schema: str) -> str:
        """Return the URL of an empty schema."""
        import psycopg

        with psycopg.connect(host="127.0.0.1", port=self.port, user="ledger", dbname="postgres") as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"postgresql+psycopg://ledger@127.0.0.1:{self.port}/postgres?options=-csearch_path%3D{schema}"


@functools.cache
def shared_server() -> Server:
    """Start the one server of this process; it stops with the process."""
    running = Server()
    atexit.register(running.stop)
    return running


@pytest.fixture(scope="session")
def server() -> Server:
    """Return the one server of this process."""
    if binaries() is None:
        pytest.skip("PostgreSQL's server is not installed; install Debian's package postgresql to run this test")
    return shared_server()
