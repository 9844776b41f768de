"""The verification of a whole ledger: what is stored against itself, then against what others kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accounting.canonical import sha256
from accounting.errors import ConfigError, VerificationFailed
from accounting.ledger.damage import Damage, LedgerDamaged
from accounting.ledger.entries import keys_of
from accounting.ledger.history import History
from accounting.ledger.merkle import completed, leaf_hash, place, root_hash
from accounting.ledger.notes import Checkpoint, open_checkpoint, open_note, origin_of, parse_checkpoint
from accounting.ledger.rules import Body
from accounting.ledger.store import Reading, Row
from accounting.ledger.values import Head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def verify(
    view: Reading,
    identity: str,
    *,
    checkpoints: Sequence[str],
    excerpts: Sequence[Sequence[bytes]],
    keys: "Sequence[Ed25519PublicKey]",
) -> Head:
    """Verify everything that is stored, then compare it with checkpoints and excerpts that were kept elsewhere."""
    if checkpoints and not keys:
        raise ConfigError("a checkpoint is worth its signature: name the trusted public keys")
    finding = view.damage()
    if finding is not None:
        raise LedgerDamaged(Damage.FILE, f"the database is damaged: {finding}")
    read = _read(view)
    if read.history.ledger not in (None, identity):
        raise LedgerDamaged(Damage.FOREIGN, "the entries are of another ledger than the tables")
    read.history.check_answers(_answers(view))
    _check_salts(view, read.history)
    for checkpoint in [*_stored_checkpoints(view), *(open_checkpoint(note, keys) for note in checkpoints)]:
        _compare_checkpoint(checkpoint, identity, read)
    for excerpt in excerpts:
        _compare_excerpt(excerpt, read.lines)
    if keys:
        for note in read.history.approvals:
            open_note(note, origin_of(identity), keys)
    return Head(identity, len(read.lines), read.root(len(read.lines)).hex())


@dataclass(slots=True)
class _Ledger:
    """The lines as read, their replay, and their Merkle hashes computed anew."""

    history: History = field(default_factory=History)
    lines: list[bytes] = field(default_factory=list)
    hashes: list[bytes] = field(default_factory=list)

    def add(self, line: bytes) -> Body:
        body = self.history.apply(line)
        self.hashes += completed(len(self.lines), leaf_hash(line), self.hashes.__getitem__)
        self.lines.append(line)
        return body

    def root(self, size: int) -> bytes:
        return root_hash(size, self.hashes.__getitem__)


def _read(view: Reading) -> _Ledger:
    kept = view.hashes()
    read = _Ledger()
    for row in _rows(view):
        _check_row(row, len(read.lines), kept)
        if row.keys != keys_of(read.add(row.line)):
            raise LedgerDamaged(Damage.EDITED, "is filed under other keys than it has", entry=row.number)
    if len(kept) > len(read.hashes):
        raise LedgerDamaged(
            Damage.TRUNCATED, f"the ledger ends after {len(read.lines)} entries, but hashes of later ones are stored"
        )
    if kept != read.hashes:
        raise LedgerDamaged(Damage.TREE, "the stored hashes of the Merkle tree are not those of the entries")
    return read


def _rows(view: Reading) -> Iterator[Row]:
    page = view.rows(-1)
    while page:
        yield from page
        page = view.rows(page[-1].number)


def _answers(view: Reading) -> Iterator[tuple[int, bytes]]:
    page = view.answers(-1)
    while page:
        yield from page
        page = view.answers(page[-1][0])


def _check_row(row: Row, expected: int, kept: list[bytes]) -> None:
    if row.number != expected:
        raise LedgerDamaged(Damage.MISSING, "is missing; it was removed", entry=expected)
    here = place(0, expected)
    if here >= len(kept):
        raise LedgerDamaged(Damage.TREE, "has no stored hash", entry=expected)
    leaf = leaf_hash(row.line)
    if leaf != kept[here]:
        moved = next((n for n in _leaves(kept) if kept[place(0, n)] == leaf), None)
        if moved is not None:
            raise LedgerDamaged(Damage.REORDERED, f"holds entry {moved}; entries were reordered", entry=expected)
        raise LedgerDamaged(Damage.EDITED, "was edited: it is not what was written", entry=expected)


def _leaves(kept: list[bytes]) -> Iterator[int]:
    number = 0
    while place(0, number) < len(kept):
        yield number
        number += 1


def _check_salts(view: Reading, history: History) -> None:
    missing = dict(history.salts)
    for salt in view.salts():
        if missing.pop(salt.release_id, None) != (salt.label, salt.commitment, sha256(salt.salt)):
            raise LedgerDamaged(
                Damage.SALT, f"the stored salt of release {salt.release_id!r} is not the one of its commitment"
            )
    if missing:
        raise LedgerDamaged(Damage.SALT, f"the salt of release {min(missing)!r} is missing")


def _stored_checkpoints(view: Reading) -> Iterator[Checkpoint]:
    for size, note in view.checkpoints():
        checkpoint = parse_checkpoint(note)
        if checkpoint.size != size:
            raise LedgerDamaged(Damage.FORKED, f"the checkpoint stored for size {size} is of size {checkpoint.size}")
        yield checkpoint


def _compare_checkpoint(checkpoint: Checkpoint, identity: str, read: _Ledger) -> None:
    if checkpoint.origin != origin_of(identity):
        raise LedgerDamaged(Damage.FOREIGN, "the checkpoint is of another ledger")
    if checkpoint.size > len(read.lines):
        raise LedgerDamaged(
            Damage.RESTORED,
            f"the checkpoint covers {checkpoint.size} entries and the ledger has {len(read.lines)}: an older copy was "
            "put back, or its end was cut off",
        )
    if read.root(checkpoint.size) != checkpoint.root:
        raise LedgerDamaged(
            Damage.FORKED,
            f"the first {checkpoint.size} entries are not those that the checkpoint was signed for: the history was "
            "rewritten or forked",
        )
    if read.history.standings_at(checkpoint.size) != checkpoint.standings:
        raise LedgerDamaged(
            Damage.FORKED,
            f"the checkpoint of {checkpoint.size} entries says of releases what these entries do not say",
        )


def _compare_excerpt(excerpt: Sequence[bytes], lines: list[bytes]) -> None:
    excerpted = History(whole=False)
    for line in excerpt:
        try:
            number = int(excerpted.apply(line)["number"])
        except LedgerDamaged as error:
            raise VerificationFailed(f"the release's own entries are damaged: {error}") from None
        if number >= len(lines):
            raise LedgerDamaged(
                Damage.RESTORED,
                "is in the release, and the ledger ends before it: an older copy was put back, or its end was cut off",
                entry=number,
            )
        if lines[number] != line:
            raise LedgerDamaged(
                Damage.FORKED, "is another one in the release: the history was rewritten or forked", entry=number
            )
