"""The budget ledger: durable, append-only, central, and checkable by anyone."""

from accounting.ledger.account import Account
from accounting.ledger.amounts import in_law
from accounting.ledger.damage import Damage, LedgerDamaged
from accounting.ledger.evidence import check_consistency, check_evidence, check_inclusion
from accounting.ledger.history import History
from accounting.ledger.ledger import Ledger
from accounting.ledger.notes import Checkpoint, open_checkpoint, parse_checkpoint, verifier_key
from accounting.ledger.values import (
    Commitment,
    DatasetState,
    Entry,
    Grant,
    Head,
    InFlight,
    Purpose,
    Recovered,
    ReleaseState,
    Stored,
)

__all__ = [
    "Account",
    "Checkpoint",
    "Commitment",
    "Damage",
    "DatasetState",
    "Entry",
    "Grant",
    "Head",
    "History",
    "InFlight",
    "Ledger",
    "LedgerDamaged",
    "Purpose",
    "Recovered",
    "ReleaseState",
    "Stored",
    "check_consistency",
    "check_evidence",
    "check_inclusion",
    "in_law",
    "open_checkpoint",
    "parse_checkpoint",
    "verifier_key",
]
