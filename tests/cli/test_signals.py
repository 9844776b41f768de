"""Real processes: stopped or killed in the middle of a run, the ledger is right and the run can be gone on with."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.shell import manifest

PROGRAM = """
import os, pathlib, sys, time
from mechanisms.independent import Independent
from release.cli import main

whole = Independent.run

def run(self, table, rng, watch=None, *, rows=None):
    if sys.argv[1] == "before":
        pathlib.Path("ready").touch()
        time.sleep(60)
    result = whole(self, table, rng, rows=rows)
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), 9)
    pathlib.Path("ready").touch()
    time.sleep(60)
    return result

Independent.run = run
main(["run", "--yes"])
"""


def start(folder: Path, when: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, when], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def signalled(folder: Path, when: str, number: signal.Signals) -> tuple[int, str]:
    process = start(folder, when)
    while not (folder / "ready").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    return process.returncode, err.decode()


def dataset(give) -> dict:
    (state,) = give("ledger show --json").document["datasets"]
    return state


def test_stopped_after_an_answer(workspace, give):
    code, err = signalled(workspace, "after", signal.SIGTERM)
    assert code == 5, err
    assert "ρ = 0.25 of the release's ρ = 0.25 was spent" in err
    check_that_it_goes_on(workspace, give)


def test_stopped_before_the_first_question(workspace, give):
    code, err = signalled(workspace, "before", signal.SIGINT)
    assert code == 130, err
    assert dataset(give)["left"] == "1/2"


def test_killed_after_an_answer_and_gone_on_with_by_one_process_only(workspace, give):
    process = start(workspace, "killed")
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    release_id = dataset(give)["releases"][0]["release"]
    held = os.open(workspace / "runs" / release_id, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    refused = give(f"run --yes --resume {release_id}")
    os.close(held)
    assert refused.code == 2
    assert "another process" in refused.err
    check_that_it_goes_on(workspace, give)


def check_that_it_goes_on(workspace: Path, give) -> None:
    before = dataset(give)
    assert (before["settled"], before["in_flight"]) == ("1/4", "0/1")
    release_id = before["releases"][0]["release"]
    assert not (workspace / "releases" / release_id).exists()
    resumed = give(f"run --yes --resume {release_id}")
    assert resumed.code == 0, resumed.err
    assert dataset(give)["settled"] == "1/4"
    assert manifest(workspace / "releases" / release_id)["settled"] == "1/4"
    assert give("ledger verify").code == 0
