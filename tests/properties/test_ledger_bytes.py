"""Any flipped byte of what is exported, and of the file itself, is found or changes nothing that is stored."""

import shutil
import sqlite3

import pytest

from accounting.errors import DpReleaseError
from accounting.ledger import History, Ledger, check_evidence
from tests.accounting.ledger.story import KEY, every_kind

PUBLIC = [KEY.public_key()]
TABLES = ("versions", "entries", "answers", "salts", "hashes", "checkpoints")


def test_every_flipped_byte_of_an_export_is_found():
    ledger = Ledger.in_memory()
    _, late = every_kind(ledger)
    evidence = ledger.evidence("people", late)
    exported = b"".join(ledger.export("people"))
    whole = len(exported.split(b"\n")) - 1
    check_evidence(exported.split(b"\n")[:-1], evidence, PUBLIC)
    for place in range(0, len(exported), 41):
        for bit in (0x01, 0x20):
            damaged = bytearray(exported)
            damaged[place] ^= bit
            *lines, rest = bytes(damaged).split(b"\n")
            if rest == b"" and len(lines) == whole:
                with pytest.raises(DpReleaseError):
                    check_evidence(lines, evidence, PUBLIC)
            else:
                with pytest.raises(DpReleaseError):
                    check_evidence([*lines, rest], evidence, PUBLIC)


def test_any_line_removed_doubled_or_moved_is_found():
    ledger = Ledger.in_memory()
    every_kind(ledger)
    lines = [entry.line for entry in ledger.entries()]
    for place in range(len(lines)):
        for changed in (
            [*lines[:place], *lines[place + 1 :], b"{}"],
            [*lines[: place + 1], *lines[place:]],
            [*lines[:place], *lines[place + 1 : place + 2], lines[place], *lines[place + 2 :]],
        ):
            if changed == lines:
                continue
            history = History()
            with pytest.raises(DpReleaseError):
                [history.apply(line) for line in changed]


def content(path):
    """Return everything that the tables hold, or None where the file cannot be read."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return [connection.execute(f"SELECT * FROM dprelease_{table} ORDER BY 1").fetchall() for table in TABLES]
    except (sqlite3.Error, OverflowError):
        return None
    finally:
        connection.close()


def test_any_flipped_byte_of_the_file_is_found_or_changes_nothing(tmp_path):
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    ledger = Ledger.open(f"sqlite:///{path}")
    notes = every_kind(ledger)
    ledger._store._engine.dispose()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before, size = content(path), path.stat().st_size
    found = silent = 0
    for place in range(101, size, 1499):
        shutil.copy(path, copy)
        with copy.open("r+b") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 0x10]))
        try:
            damaged = Ledger.open(f"sqlite:///{copy}")
            damaged.verify(checkpoints=notes, keys=PUBLIC)
            damaged._store._engine.dispose()
        except DpReleaseError:
            found += 1
        else:
            assert content(copy) == before, f"byte {place} was changed and not found"
            silent += 1
        for leftover in tmp_path.glob("copy.db*"):
            leftover.unlink()
    assert found >= 12
    assert found + silent == len(range(101, size, 1499))
