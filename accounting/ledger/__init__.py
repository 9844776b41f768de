"""The budget ledger: durable, append-only, central, and checkable by anyone."""

from accounting.ledger.account import Account
from accounting.ledger.ledger import Ledger
from accounting.ledger.values import (
    Commitment,
    DatasetState,
    Entry,
    Grant,
    Head,
    Purpose,
    ReleaseState,
    Stored,
)

__all__ = [
    "Account",
    "Commitment",
    "DatasetState",
    "Entry",
    "Grant",
    "Head",
    "Ledger",
    "Purpose",
    "ReleaseState",
    "Stored",
]
