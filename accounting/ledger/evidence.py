"""Signed checkpoints, and proofs about them that anyone can check without the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from accounting.canonical import Json
from accounting.errors import ConfigError, VerificationFailed
from accounting.ledger.damage import Damage, LedgerDamaged
from accounting.ledger.history import History
from accounting.ledger.merkle import (
    consistency_proof,
    includes,
    inclusion_proof,
    is_consistent,
    leaf_hash,
    root_hash,
)
from accounting.ledger.notes import Checkpoint, open_checkpoint, origin_of, parse_checkpoint, sign_note
from accounting.ledger.standings import in_order, replaced, superseded, withdrawn
from accounting.ledger.states import dataset_state, known_dataset
from accounting.ledger.store import Reading, Writing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def make_checkpoint(ledger: Writing, identity: str, keys: "Sequence[Ed25519PrivateKey]") -> str:
    """Sign the ledger's size and root, and what its entries say of releases, in a transaction; store the note."""
    size = ledger.size()
    checkpoint = Checkpoint(origin_of(identity), size, root_hash(size, ledger.hash_at), _standings(ledger))
    note = sign_note(checkpoint.to_text(), checkpoint.origin, keys)
    ledger.keep_checkpoint(size, note)
    return note


def evidence(view: Reading, identity: str, label: str, note: str) -> dict[str, Json]:
    """Return a checkpoint with the inclusion proof of a dataset's last entry before it.

    Raises:
        ConfigError: the dataset was not yet open at the checkpoint.
        LedgerDamaged: the checkpoint is another ledger's, or larger than this one.
    """
    known_dataset(view, label)
    size = _own(view, identity, note).size
    last = view.last_before(label, size)
    if last is None:
        raise ConfigError(f"dataset {label!r} was not open when this checkpoint was signed")
    proof = inclusion_proof(last, size, view.hash_at)
    return {"checkpoint": note, "entry": last, "inclusion": [found.hex() for found in proof]}


def consistency(view: Reading, identity: str, older: str, newer: str) -> dict[str, Json]:
    """Return two checkpoints with the proof that the older ledger is the beginning of the newer one."""
    old, new = _own(view, identity, older).size, _own(view, identity, newer).size
    if not 0 < old <= new:
        raise ConfigError("consistency is proved from an older checkpoint, not of an empty ledger, to a newer one")
    proof = consistency_proof(old, new, view.hash_at)
    return {"older": older, "newer": newer, "consistency": [found.hex() for found in proof]}


def check_evidence(
    lines: Iterable[bytes], evidence: Mapping[str, Json], keys: "Sequence[Ed25519PublicKey]"
) -> tuple[History, Checkpoint]:
    """Check that a dataset's exported lines are what a trusted key signed; return their history and the checkpoint.

    Args:
        lines: the dataset's entries up to the checkpoint, without line feeds.
        evidence: what :func:`evidence` returned.
        keys: the trusted public keys.

    Raises:
        LedgerDamaged: a line contradicts those before it.
        VerificationFailed: the checkpoint is not signed by a trusted key, or the lines are not those that it covers.
    """
    history = History(whole=False)
    last = b""
    for line in lines:
        history.apply(line)
        last = line
    return history, check_inclusion(history, last, evidence, keys)


def check_inclusion(
    history: History, last: bytes, evidence: Mapping[str, Json], keys: "Sequence[Ed25519PublicKey]"
) -> Checkpoint:
    """Check that a dataset's replayed lines are what a trusted key signed; return the checkpoint.

    Args:
        history: the replay of the dataset's lines up to the checkpoint.
        last: the last of these lines; its chain binds the others.
        evidence: what :func:`evidence` returned.
        keys: the trusted public keys.

    Raises:
        VerificationFailed: the checkpoint is not signed by a trusted key, or the lines are not those that it covers.
    """
    if evidence.keys() != {"checkpoint", "entry", "inclusion"} or not isinstance(evidence["checkpoint"], str):
        raise VerificationFailed("this is not the evidence of a ledger")
    checkpoint = open_checkpoint(evidence["checkpoint"], keys)
    if len(history.datasets) != 1 or history.ledger is None:
        raise VerificationFailed("the entries are not those of one dataset")
    if checkpoint.origin != origin_of(history.ledger):
        raise VerificationFailed("the checkpoint is of another ledger than the entries")
    proof = _hashes(evidence["inclusion"])
    if history.last != evidence["entry"] or not includes(
        checkpoint.root, checkpoint.size, history.last, leaf_hash(last), proof
    ):
        raise VerificationFailed("the entries are not in the ledger that the checkpoint was signed for")
    return checkpoint


def check_consistency(proof: Mapping[str, Json], keys: "Sequence[Ed25519PublicKey]") -> tuple[Checkpoint, Checkpoint]:
    """Check that the ledger of the older checkpoint is the beginning of that of the newer one; return both.

    Raises:
        VerificationFailed: a checkpoint is not signed by a trusted key, or the ledger was forked or rewritten between.
    """
    if proof.keys() != {"older", "newer", "consistency"}:
        raise VerificationFailed("this is not a consistency proof of a ledger")
    older, newer = (open_checkpoint(str(proof[name]), keys) for name in ("older", "newer"))
    if older.origin != newer.origin:
        raise VerificationFailed("the checkpoints are of different ledgers")
    if not is_consistent(older.root, older.size, newer.root, newer.size, _hashes(proof["consistency"])):
        raise VerificationFailed("the older ledger is not the beginning of the newer one: it was forked or rewritten")
    return older, newer


def _standings(view: Reading) -> tuple[str, ...]:
    lines = []
    for label in view.labels():
        releases = dataset_state(view, label).releases
        entries = {release.release_id: release.entry for release in releases}
        for release in releases:
            lines += [replaced(release.entry)] if release.replaced else []
            lines += [withdrawn(release.entry)] if release.withdrawn else []
            lines += [superseded(release.entry, entries[release.superseded_by])] if release.superseded_by else []
    return in_order(lines)


def _own(view: Reading, identity: str, note: str) -> Checkpoint:
    checkpoint = parse_checkpoint(note)
    if checkpoint.origin != origin_of(identity):
        raise LedgerDamaged(Damage.FOREIGN, "the checkpoint is of another ledger")
    size = view.size()
    if checkpoint.size > size:
        raise LedgerDamaged(
            Damage.RESTORED,
            f"the checkpoint covers {checkpoint.size} entries and the ledger has {size}: an older copy was put back, "
            "or its end was cut off",
        )
    return checkpoint


def _hashes(value: Json) -> list[bytes]:
    try:
        hashes = [bytes.fromhex(text) for text in cast("list[str]", value)]
    except (TypeError, ValueError):
        raise VerificationFailed("the proof is not a list of hashes") from None
    if any(len(found) != 32 for found in hashes) or [found.hex() for found in hashes] != value:
        raise VerificationFailed("the proof is not a list of hashes")
    return hashes
