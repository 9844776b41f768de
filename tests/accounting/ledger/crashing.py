"""A program that kills copies of itself at every write point of a ledger, and checks what is left.

It is run by ``test_crash.py`` in a process of its own, so that forking is cheap and safe:
``python -m tests.accounting.ledger.crashing URL STRIDE TIMED`` prints one JSON object.
"""

import gc
import json
import os
import random
import signal
import sys
import time
from fractions import Fraction

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import Engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from accounting.errors import AnswerLost, ConfigError
from accounting.ledger import Ledger, Stored
from tests.accounting.ledger.support import allot, open_rows, reserve

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
PRICE = Fraction(1, 16)


class Points:
    """Counts the moments before and after each statement and commit, and dies at one of them."""

    def __init__(self):
        self.passed = 0
        self.fatal = None
        event.listen(Engine, "before_cursor_execute", self.mark)
        event.listen(Engine, "after_cursor_execute", self.mark)
        commit = PGDialect_psycopg.do_commit

        def do_commit(dialect, connection):
            self.mark()
            commit(dialect, connection)
            self.mark()

        PGDialect_psycopg.do_commit = do_commit

    def mark(self, *_):
        self.passed += 1
        if self.passed == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def story(ledger, name, tell):
    """Do everything that writes, telling each step once it is done; ``trying`` comes before what may give back."""
    open_rows(ledger, name)
    tell("opened")
    account = allot(ledger, name, f"{name}-1", "1/2")
    tell("allotted")
    for request in ("1", "2", "3", "4"):
        grant = reserve(account, request, PRICE, start=request == "4")
        tell(f"reserved {request}")
        if request == "4":
            tell("started 4")
            account.settle(grant, b"answer")
            continue
        if request == "2":
            tell("trying void")
            account.void(grant)
            continue
        account.start(grant)
        tell(f"started {request}")
        if request == "1":
            account.settle(grant, b"answer")
            tell("settled")
    tell("note " + ledger.checkpoint([KEY]))
    tell("trying close")
    account.close()
    tell("closed")
    other = allot(ledger, name, f"{name}-2", "1/4")
    reserve(other, "1", PRICE)
    tell("reserved other")
    ledger.recover(f"{name}-2")
    ledger.close_dataset(name)
    tell("end")


def check(ledger, name, told):
    """Check that what the dead process was told is in the ledger, and that nothing is counted below it."""
    try:
        state = ledger.dataset(name)
    except ConfigError:
        assert not told, told
        return
    releases = {release.release_id: release for release in state.releases}
    assert "allotted" not in told or f"{name}-1" in releases
    if f"{name}-1" not in releases:
        assert state.left == 1
        return
    first = releases[f"{name}-1"]
    voiding = "trying void" in told
    least = sum(PRICE for request in "1234" if f"reserved {request}" in told and (request != "2" or not voiding))
    assert first.granted >= least, (first.granted, least)
    assert first.settled >= (PRICE if "settled" in told else 0)
    if "trying close" not in told:
        assert state.allotted == Fraction(1, 2)
    other = releases.get(f"{name}-2")
    assert state.allotted >= least + (PRICE if "reserved other" in told else 0)
    assert other is None or "reserved other" not in told or other.granted == PRICE
    lost = {(found.release_id, found.request_id): found.status for found in ledger.in_flight(name)}
    account = ledger.resume(f"{name}-1")
    for request in "1234":
        if f"started {request}" in told or (f"reserved {request}" in told and not (request == "2" and voiding)):
            try:
                again = reserve(account, request, PRICE)
            except AnswerLost:
                status = lost[(f"{name}-1", request)]
                assert status == "started" or (f"started {request}" not in told and request != "4"), (request, status)
                assert request != "1" or "settled" not in told
            else:
                assert request in {"1", "4"}, request
                assert isinstance(again, Stored), request
                assert again.answer == b"answer"


def run(ledger, name, die):
    """Run the story in a forked copy that dies by itself; return what it told.

    No connection is open when the copy dies, so that the next one has to recover the database as after a crash; the
    engine stays, because it knows its statements already.
    """
    ledger._store._engine.dispose()
    gc.freeze()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        gc.disable()
        die()
        story(ledger, name, lambda line: os.write(writer, line.encode() + b"\0"))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode().split("\0")[:-1]
    _, status = os.waitpid(child, 0)
    return told, os.waitstatus_to_exitcode(status)


def main(url, stride, timed):
    """Kill at every ``stride``-th point and at ``timed`` random moments; print what was found."""
    points = Points()
    ledger = Ledger.open(url)
    for name in ("first", "second"):
        points.passed, began = 0, time.perf_counter()
        story(ledger, name, lambda _: None)
    duration = time.perf_counter() - began
    total, notes, failures, killed = points.passed, [], [], {}

    def trial(name, die, signals):
        told, code = run(ledger, name, die)
        killed[code] = killed.get(code, 0) + 1
        notes.extend(line.removeprefix("note ") for line in told if line.startswith("note "))
        try:
            assert code in signals, f"ended by {code}"
            check(ledger, name, told)
        except Exception as error:  # noqa: BLE001  # every failure is reported with its position
            failures.append(f"{name} after {told}: {type(error).__name__}: {error}")

    def fatal(position):
        points.passed, points.fatal = 0, position

    for position in range(1, total + 1, stride):
        trial(f"p{position}", lambda position=position: fatal(position), (-signal.SIGKILL, 0))
    for number in range(timed):
        moment = random.Random(number).uniform(0.0005, duration)
        trial(f"t{number}", lambda moment=moment: signal.setitimer(signal.ITIMER_REAL, moment), (-signal.SIGALRM, 0))
    head = Ledger.open(url).verify(checkpoints=notes, keys=[KEY.public_key()])
    deaths = sum(count for code, count in killed.items() if code < 0)
    json.dump({"points": total, "deaths": deaths, "failures": failures, "entries": head.size}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
