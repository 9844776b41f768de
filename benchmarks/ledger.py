"""The speed of the ledger with real syncs to disk, and of verifying 10,000 entries: ``python -m benchmarks.ledger``.

SQLite is measured in a folder of temporary files, which must be on a disk (``TMPDIR``): in memory a sync costs nothing.
PostgreSQL is measured where Debian's package is installed, on a server of the benchmark's own on the same disk.
"""

import contextlib
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from accounting.budget import Cap, Rho
from accounting.events import GaussianEvent
from accounting.exact import to_text
from accounting.ledger import Account, Grant, Ledger
from accounting.ledger.store import Store, Writing
from accounting.unit import RowUnit
from benchmarks.report import Report, arguments, progress
from tests.accounting.ledger.postgres import Server, binaries

ENTRIES = 10_000
EVENT = GaussianEvent(Fraction(1), Fraction(10**6))
QUESTION = {"question": "total", "variance": to_text(EVENT.variance)}
DIGEST = hashlib.sha256(b"question").hexdigest()


class OneTransaction:
    """A store whose transactions are all one, to fill a ledger quickly."""

    def __init__(self, view: Writing, identity: str) -> None:
        self.view = view
        self.identity = identity

    @contextmanager
    def write(self) -> Iterator[Writing]:
        """Give the open transaction."""
        yield self.view

    read = write


def account_of(ledger: Ledger, label: str) -> Account:
    """Open a dataset and allot a release of it."""
    ledger.open_dataset(label, unit=RowUnit(), cap=Cap(Rho(Fraction(10))))
    share = Cap(Rho(Fraction(5)))
    return ledger.allot(
        label, f"{label}-1", share, purpose="audit", noise="os", context={"mechanism": "none"}, commitment=None
    )


def ask(account: Account, request: str) -> None:
    """Ask one question the whole way, as the curator does."""
    grant = account.authorise(request, DIGEST, EVENT, QUESTION, start=True)
    assert isinstance(grant, Grant)
    account.settle(grant, b"[1,2,3,4]")


def step_times(ledger: Ledger, label: str, questions: int) -> dict[str, float]:
    """Return the median milliseconds of each step of a question, and the mean of its CPU; a step is one transaction."""
    account = account_of(ledger, label)
    processor = 0.0
    times: dict[str, list[float]] = {"reserve and start": [], "settle": [], "both": []}
    for number in range(questions + 5):
        if number == 5:
            processor = time.process_time()
        before = time.perf_counter()
        grant = account.authorise(str(number), DIGEST, EVENT, QUESTION, start=True)
        granted = time.perf_counter()
        assert isinstance(grant, Grant)
        account.settle(grant, b"[1,2,3,4]")
        settled = time.perf_counter()
        for step, seconds in zip(times, (granted - before, settled - granted, settled - before), strict=True):
            times[step].append(seconds * 1000)
    processor = (time.process_time() - processor) / questions * 1000
    return {step: statistics.median(values[5:]) for step, values in times.items()} | {"CPU": processor}


def sync_time(folder: Path) -> float:
    """Return the median milliseconds of one small write with its sync, as the disk's share of a step."""
    times = []
    with (folder / "probe").open("wb", buffering=0) as file:
        for _ in range(60):
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def memory_time(rounds: int) -> float:
    """Return the least microseconds of a question's bookkeeping in memory; other load adds nothing to the least."""
    account = account_of(Ledger.in_memory(), "memory")
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        for offset in range(20):
            ask(account, f"{number}-{offset}")
        times.append((time.perf_counter() - start) / 20 * 1e6)
    return min(times)


def filled(folder: Path) -> Ledger:
    """Return a ledger of 10,000 entries: questions of ten releases, and one checkpoint."""
    ledger = Ledger.open(f"sqlite:///{folder}/large.db")
    accounts = [account_of(ledger, f"set-{number}") for number in range(10)]
    store: Store = ledger._store  # noqa: SLF001  # filling through single transactions would measure the disk for minutes
    with store.write() as view:
        for number in range((ENTRIES - 20) // 30 + 1):
            for account in accounts:
                account._store = OneTransaction(view, ledger.identity)  # noqa: SLF001  # as above
                ask(account, str(number))
    return ledger


def main() -> None:
    """Measure."""
    options = arguments(__doc__ or "")
    report = Report("ledger")
    questions = 40 if options.quick else 300
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sync = report.figures["milliseconds of a sync"] = sync_time(folder)
        progress(f"one sync of this disk: {sync:.2f} ms")
        with contextlib.ExitStack() as servers:
            stores = {"SQLite": f"sqlite:///{folder}/steps.db"}
            if binaries() is not None:
                server = Server(folder)
                servers.callback(server.stop)
                stores["PostgreSQL"] = server.url("benchmark")
            for store, url in stores.items():
                steps = step_times(Ledger.open(url), "steps", questions)
                report.figures[f"milliseconds of each step on {store}"] = steps
                report.bar(f"milliseconds of reserve, start and settle on {store}", steps["both"], "<=", 10)
        report.bar("microseconds of a question in memory", memory_time(20 if options.quick else 100), "<=", 50)
        large = filled(folder)
        start = time.process_time()
        size = large.verify().size
        report.bar(f"CPU seconds to verify {size} entries", time.process_time() - start, "<=", 2.0)
        note = large.checkpoint([Ed25519PrivateKey.generate()])
        start = time.perf_counter()
        proof = large.evidence("set-3", note)["inclusion"]
        report.figures["milliseconds of an inclusion proof"] = (time.perf_counter() - start) * 1000
        assert isinstance(proof, list)
        report.bar("hashes in an inclusion proof", len(proof), "<=", (size - 1).bit_length())
    report.finish(options.out)


if __name__ == "__main__":
    main()
