"""Whatever is done to a stored ledger is found, and named: on SQLite and on PostgreSQL."""

import hashlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import create_engine, text

from accounting.errors import ConfigError, LedgerError, VerificationFailed
from accounting.events import GaussianEvent
from accounting.exact import from_text
from accounting.ledger import Damage, Ledger, LedgerDamaged
from accounting.ledger.content import from_line, to_line
from accounting.ledger.merkle import completed, leaf_hash, place, stored
from accounting.ledger.notes import sign_note
from tests.accounting.ledger.story import KEY, every_kind
from tests.accounting.ledger.support import digest_of, open_rows

PUBLIC = [KEY.public_key()]
OTHER = Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32)
TABLES = ("entries", "answers", "salts", "hashes", "checkpoints", "versions")


class Tamper:
    """What somebody with full rights to the database can do to it."""

    def __init__(self, url):
        self.url = url
        self.engine = create_engine(url)
        with self.engine.begin() as connection:
            for table in TABLES:
                if url.startswith("sqlite"):
                    for suffix in ("no_update", "no_delete", "no_replace"):
                        connection.execute(text(f"DROP TRIGGER dprelease_{table}_{suffix}"))
                else:
                    connection.execute(text(f"ALTER TABLE dprelease_{table} DISABLE TRIGGER ALL"))

    def do(self, statement, **values):
        with self.engine.begin() as connection:
            done = connection.execute(text(statement), values)
            return done.fetchall() if done.returns_rows else done.rowcount

    def line(self, number):
        return bytes(self.do("SELECT line FROM dprelease_entries WHERE number = :n", n=number)[0][0])

    def write(self, number, line):
        assert self.do("UPDATE dprelease_entries SET line = :line WHERE number = :n", n=number, line=line) == 1

    def rehash(self):
        """Make the stored hashes those of the entries that are there now."""
        self.do("DELETE FROM dprelease_hashes")
        hashes = []
        for number, line in self.do("SELECT number, line FROM dprelease_entries ORDER BY number"):
            new = completed(number, leaf_hash(bytes(line)), hashes.__getitem__)
            for offset, found in enumerate(new):
                self.do("INSERT INTO dprelease_hashes VALUES (:n, :hash)", n=len(hashes) + offset, hash=found)
            hashes += new

    def cut(self, size, *, clean):
        self.do("DELETE FROM dprelease_entries WHERE number >= :n", n=size)
        if clean:
            self.do("DELETE FROM dprelease_hashes WHERE number >= :n", n=stored(size))
            self.do("DELETE FROM dprelease_answers WHERE number >= :n", n=size)
            self.do("DELETE FROM dprelease_checkpoints WHERE size > :n", n=size)
            self.do(
                "DELETE FROM dprelease_salts WHERE release NOT IN "
                "(SELECT release FROM dprelease_entries WHERE release IS NOT NULL)"
            )

    def rechain(self, change):
        """Rewrite the whole history from the first changed entry on, consistently."""
        heads = {}
        for number, old in self.do("SELECT number, line FROM dprelease_entries ORDER BY number"):
            body = from_line(bytes(old))
            body = {**body, "previous": heads.get(body["label"]), **change(body)}
            line = to_line(body)
            heads[body["label"]] = hashlib.sha256(line).hexdigest()
            self.write(number, line)
        self.rehash()


def keep(url):
    """Return a ledger, what somebody kept of it elsewhere, and a way to tamper with it."""
    ledger = Ledger.open(url)
    notes = every_kind(ledger)
    excerpt = [entry.line for entry in ledger.entries("people")]
    ledger.verify(checkpoints=notes, excerpts=[excerpt], keys=PUBLIC)
    return ledger, notes, excerpt, Tamper(url)


@pytest.fixture
def everywhere(sql_url):
    """Keep a ledger on each SQL store."""
    found = keep(sql_url)
    yield found
    found[-1].engine.dispose()


@pytest.fixture
def kept(url_of):
    """Keep a ledger on SQLite: what is found does not depend on the database."""
    found = keep(url_of("sqlite"))
    yield found
    found[-1].engine.dispose()


def damage(ledger, **kept):
    with pytest.raises(LedgerDamaged) as found:
        ledger.verify(**kept)
    return found.value.kind, found.value.entry, str(found.value)


def test_an_edited_entry(everywhere):
    ledger, _, _, tamper = everywhere
    tamper.write(5, tamper.line(5).replace(b'"date":"2', b'"date":"1'))
    assert damage(ledger) == (Damage.EDITED, 5, "entry 5: was edited: it is not what was written")


def test_an_entry_edited_together_with_its_hash(kept):
    ledger, _, _, tamper = kept
    line = tamper.line(5).replace(b'"date":"2', b'"date":"1')
    tamper.write(5, line)
    tamper.do("UPDATE dprelease_hashes SET hash = :hash WHERE number = :n", n=place(0, 5), hash=leaf_hash(line))
    kind, entry, sentence = damage(ledger)
    assert (kind, entry) == (Damage.CHAIN, 6)
    assert "does not continue the chain of its dataset" in sentence


def test_an_entry_that_says_the_impossible(kept):
    ledger, _, _, tamper = kept
    tamper.rechain(lambda body: {"dataset": {**body["dataset"], "cap": "9/1"}} if body["kind"] == "allotted" else {})
    kind, _, sentence = damage(ledger)
    assert kind is Damage.RULES
    assert "states other totals of its dataset than its history gives" in sentence


def test_a_removed_entry(kept):
    ledger, _, _, tamper = kept
    tamper.do("DELETE FROM dprelease_entries WHERE number = 7")
    assert damage(ledger) == (Damage.MISSING, 7, "entry 7: is missing; it was removed")


def test_reordered_entries(kept):
    ledger, _, _, tamper = kept
    fourth, fifth = tamper.line(4), tamper.line(5)
    tamper.write(4, fifth)
    tamper.write(5, fourth)
    assert damage(ledger) == (Damage.REORDERED, 4, "entry 4: holds entry 5; entries were reordered")


def test_an_end_that_was_cut_off(kept):
    ledger, _, _, tamper = kept
    tamper.cut(15, clean=False)
    kind, _, sentence = damage(ledger)
    assert kind is Damage.TRUNCATED
    assert "ends after 15 entries, but hashes of later ones are stored" in sentence


def test_an_end_that_was_cut_off_without_a_trace(everywhere):
    ledger, notes, excerpt, tamper = everywhere
    tamper.cut(15, clean=True)
    ledger.verify(checkpoints=notes[:1], keys=PUBLIC)
    kind, _, sentence = damage(ledger, checkpoints=notes, keys=PUBLIC)
    assert kind is Damage.RESTORED
    assert "covers 26 entries and the ledger has 15: an older copy was put back, or its end was cut off" in sentence
    kind, entry, sentence = damage(ledger, excerpts=[excerpt])
    assert (kind, entry) == (Damage.RESTORED, 15)
    assert "is in the release, and the ledger ends before it" in sentence
    for call in (lambda: ledger.evidence("people", notes[1]), lambda: ledger.consistency(notes[0], notes[1])):
        with pytest.raises(LedgerDamaged, match="an older copy was put back"):
            call()


def test_an_old_file_that_was_put_back_and_went_on(tmp_path):
    path, copy = tmp_path / "ledger.db", tmp_path / "old.db"
    ledger = Ledger.open(f"sqlite:///{path}")
    open_rows(ledger, "a")
    ledger._store._engine.dispose()
    shutil.copy(path, copy)
    ledger = Ledger.open(f"sqlite:///{path}")
    ledger.record_look("a", "schema-check", digest_of("1"))
    open_rows(ledger, "b")
    note, excerpt = ledger.checkpoint([KEY]), [entry.line for entry in ledger.entries("a")]
    ledger._store._engine.dispose()
    shutil.copy(copy, path)
    restored = Ledger.open(f"sqlite:///{path}")
    restored.verify()
    assert damage(restored, checkpoints=[note], keys=PUBLIC)[0] is Damage.RESTORED
    for number in range(3):
        restored.record_look("a", "report", digest_of(str(number)))
    restored.verify()
    kind, _, sentence = damage(restored, checkpoints=[note], keys=PUBLIC)
    assert kind is Damage.FORKED
    assert "the first 3 entries are not those that the checkpoint was signed for" in sentence
    kind, entry, sentence = damage(restored, excerpts=[excerpt])
    assert (kind, entry) == (Damage.FORKED, 1)
    assert "is another one in the release: the history was rewritten or forked" in sentence


def test_a_history_that_was_rewritten_consistently(everywhere):
    ledger, notes, _, tamper = everywhere
    excerpt = [entry.line for entry in ledger.entries("visits")]
    tamper.rechain(lambda body: {"date": "2001-01-01"} if body["number"] == 1 else {})
    assert damage(ledger)[0] is Damage.FORKED  # the checkpoints that the ledger itself keeps
    tamper.do("DELETE FROM dprelease_checkpoints")
    ledger.verify()
    assert damage(ledger, checkpoints=notes[:1], keys=PUBLIC)[0] is Damage.FORKED
    assert damage(ledger, excerpts=[excerpt])[:2] == (Damage.FORKED, 1)


def test_a_signed_raise_anchors_the_history_before_it(kept):
    ledger, _, _, tamper = kept
    tamper.rechain(lambda body: {"date": "2001-01-01"} if body["number"] == 2 else {})
    kind, _, sentence = damage(ledger)
    assert kind is Damage.RULES
    assert "has an approval of something else" in sentence


def test_keys_under_which_an_entry_is_filed(kept):
    ledger, _, _, tamper = kept
    for column, value in (("label", "visits"), ("subject", "dataset"), ("release", "p2"), ("request", "7")):
        old = tamper.do(f"SELECT {column} FROM dprelease_entries WHERE number = 5")[0][0]
        tamper.do(f"UPDATE dprelease_entries SET {column} = :value WHERE number = 5", value=value)
        assert damage(ledger) == (Damage.EDITED, 5, "entry 5: is filed under other keys than it has")
        tamper.do(f"UPDATE dprelease_entries SET {column} = :value WHERE number = 5", value=old)
    ledger.verify()


def test_the_stored_tree(kept):
    ledger, _, _, tamper = kept
    inner = place(1, 0)
    tamper.do("UPDATE dprelease_hashes SET hash = :hash WHERE number = :n", n=inner, hash=bytes(32))
    kind, _, sentence = damage(ledger)
    assert (kind, sentence) == (Damage.TREE, "the stored hashes of the Merkle tree are not those of the entries")
    tamper.rehash()
    ledger.verify()
    tamper.do("DELETE FROM dprelease_hashes WHERE number >= :n", n=stored(20))
    assert damage(ledger)[:2] == (Damage.TREE, 20)
    with pytest.raises(LedgerDamaged, match="a hash of the Merkle tree is missing"):
        ledger.checkpoint([KEY])


def test_stored_answers(everywhere):
    ledger, _, _, tamper = everywhere
    entry = tamper.do("SELECT min(number) FROM dprelease_answers")[0][0]
    tamper.do("UPDATE dprelease_answers SET answer = :answer WHERE number = :n", n=entry, answer=b"forged")
    assert damage(ledger)[:2] == (Damage.ANSWER, entry)
    account = ledger.resume("p1")
    body = next(ledger.entries(kind="settled")).body
    reserved = next(ledger.entries(kind="reserved")).body
    event = {"question": "total", "variance": reserved["event"]["variance"]}
    with pytest.raises(LedgerError, match=r"the stored answer of entry .* is damaged"):
        account.authorise("1", body["digest"], GaussianEvent(1, from_text(event["variance"])), event)
    tamper.do("DELETE FROM dprelease_answers WHERE number = :n", n=entry)
    kind, found, sentence = damage(ledger)
    assert (kind, found) == (Damage.ANSWER, entry)
    assert "is missing" in sentence
    with pytest.raises(LedgerError, match=r"the stored answer of entry .* is damaged"):
        account.authorise("1", body["digest"], GaussianEvent(1, from_text(event["variance"])), event)


def test_stored_salts(kept):
    ledger, _, _, tamper = kept
    tamper.do("UPDATE dprelease_salts SET salt = :salt WHERE number = 0", salt=bytes(32))
    kind, _, sentence = damage(ledger)
    assert (kind, sentence) == (Damage.SALT, "the stored salt of release 'p1' is not the one of its commitment")
    tamper.do("DELETE FROM dprelease_salts WHERE number = 0")
    kind, _, sentence = damage(ledger)
    assert (kind, sentence) == (Damage.SALT, "the salt of release 'p1' is missing")


def test_stored_checkpoints(kept):
    ledger, _, _, tamper = kept
    tamper.do("UPDATE dprelease_checkpoints SET size = 3 WHERE number = 0")
    kind, _, sentence = damage(ledger)
    assert kind is Damage.FORKED
    assert "stored for size 3 is of size 10" in sentence
    tamper.do("UPDATE dprelease_checkpoints SET note = 'x' WHERE number = 0")
    with pytest.raises(VerificationFailed, match="not a signed note"):
        ledger.verify()


def test_another_ledgers_identity(kept):
    ledger, _, _, tamper = kept
    tamper.do("UPDATE dprelease_versions SET identity = :identity", identity="0" * 64)
    again = Ledger.open(tamper.url)
    kind, _, sentence = damage(again)
    assert (kind, sentence) == (Damage.FOREIGN, "the entries are of another ledger than the tables")
    assert again.identity != ledger.identity


def test_another_ledgers_checkpoint_and_excerpt(ledger):
    every_kind(ledger)
    other = Ledger.in_memory()
    notes = every_kind(other)
    assert damage(ledger, checkpoints=notes, keys=PUBLIC)[0] is Damage.FOREIGN
    assert damage(ledger, excerpts=[[entry.line for entry in other.entries("people")]])[0] is Damage.FORKED
    with pytest.raises(LedgerDamaged, match="of another ledger"):
        ledger.evidence("people", notes[0])


def test_a_damaged_excerpt_is_not_the_ledgers_fault(ledger):
    every_kind(ledger)
    lines = [entry.line for entry in ledger.entries("people")]
    with pytest.raises(VerificationFailed, match="the release's own entries are damaged: entry 3"):
        ledger.verify(excerpts=[[lines[0], *lines[2:]]])


def test_a_checkpoint_needs_a_trusted_signature(ledger):
    notes = every_kind(ledger)
    with pytest.raises(ConfigError, match="name the trusted public keys"):
        ledger.verify(checkpoints=notes)
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        ledger.verify(checkpoints=notes, keys=[OTHER.public_key()])
    forged = sign_note(notes[0].rpartition("\n\n")[0] + "\n", notes[0].split("\n", 1)[0], [OTHER])
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        ledger.verify(checkpoints=[forged], keys=PUBLIC)


def test_approvals_need_a_trusted_signature(ledger):
    every_kind(ledger)
    ledger.verify(keys=PUBLIC)
    with pytest.raises(VerificationFailed, match="none of the trusted keys"):
        ledger.verify(keys=[OTHER.public_key()])


def test_a_damaged_file_is_found(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(f"sqlite:///{path}")
    every_kind(ledger)
    ledger._store._engine.dispose()
    index = _page_of_an_index(path)
    with path.open("r+b") as file:
        file.seek(index + 3)
        cells = int.from_bytes(file.read(2), "big")
        file.seek(index + 3)
        file.write((cells - 1).to_bytes(2, "big"))
    kind, _, sentence = damage(Ledger.open(f"sqlite:///{path}"))
    assert kind is Damage.FILE
    assert "the database is damaged" in sentence


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("entries", "line"),
        ("entries", "label"),
        ("entries", "number"),
        ("hashes", "hash"),
        ("answers", "answer"),
        ("salts", "salt"),
        ("checkpoints", "note"),
    ],
)
def test_a_value_of_another_type(tmp_path, table, column):
    ledger, _, _, tamper = keep(f"sqlite:///{tmp_path}/kept.db")
    ledger._store._engine.dispose()
    name = f"dprelease_{table}"
    # text that is not valid UTF-8, text, bytes, and a number: SQLite keeps any value in any column
    for number, value in enumerate(("CAST(x'ff00ff' AS TEXT)", "CAST(x'6162' AS TEXT)", "x'6162'", "0.5")):
        tamper.url = f"sqlite:///{tmp_path}/{number}.db"
        tamper.engine.dispose()
        shutil.copy(tmp_path / "kept.db", tmp_path / f"{number}.db")
        tamper.engine = create_engine(tamper.url)
        tamper.do(f"UPDATE {name} SET {column} = {value} WHERE number = (SELECT max(number) FROM {name})")
        with pytest.raises((LedgerError, VerificationFailed)) as found:
            everything(Ledger.open(tamper.url))
        assert "\n" not in str(found.value)
        assert "\ufffd" not in str(found.value)


def everything(ledger):
    """Read and write in every way."""
    for label in ledger.datasets():
        ledger.dataset(label)
        ledger.in_flight(label)
    ledger.checkpoint([KEY])
    ledger.verify()
    for entry in ledger.entries(kind="settled"):
        account = ledger.resume(str(entry.body["release"]))
        assert account.release_id


def test_an_entry_that_is_filed_as_another_kind(everywhere):
    ledger, _, _, tamper = everywhere
    last = tamper.do("SELECT max(number) FROM dprelease_entries")[0][0]
    standing = next(ledger.entries("people", kind="withdrawn"))
    tamper.write(last, standing.line)
    for read in (lambda: ledger.dataset("people"), lambda: ledger.close_dataset("people")):
        with pytest.raises(LedgerDamaged, match="filed under other keys than it has") as found:
            read()
        assert found.value.kind is Damage.EDITED


@pytest.mark.parametrize("table", TABLES)
def test_a_missing_table(everywhere, table):
    ledger, _, _, tamper = everywhere
    tamper.do(f"DROP TABLE dprelease_{table}")
    if table == "versions":
        with pytest.raises((LedgerError, ConfigError), match=r"holds no ledger|there is no ledger in this database"):
            Ledger.open(tamper.url, must_exist=True)
        return
    with pytest.raises(LedgerError, match="cannot be used: ") as found:
        everything(ledger)
    assert "\n" not in str(found.value)


def test_a_file_whose_end_is_missing(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(f"sqlite:///{path}")
    every_kind(ledger)
    ledger._store._engine.dispose()
    content = path.read_bytes()
    for share in (0.9, 0.5, 0.1, 0.01):
        path.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(LedgerError):
            everything(Ledger.open(f"sqlite:///{path}", must_exist=True))
        for extra in tmp_path.glob("ledger.db-*"):
            extra.unlink()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_bytes(b"not a database, but longer than the hundred bytes of a header" * 20)
    with pytest.raises(LedgerError, match="cannot be used: file is not a database"):
        Ledger.open(f"sqlite:///{path}")


def _page_of_an_index(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'dprelease_entries_by_label'"
        ).fetchone()
    connection.close()
    return (root - 1) * size
