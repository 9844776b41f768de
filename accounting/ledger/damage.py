"""What can be wrong with a ledger: each kind of damage has a name and a sentence of its own."""

from enum import StrEnum

from accounting.errors import LedgerError


class Damage(StrEnum):
    """The kinds of damage that ``verify`` tells apart."""

    FILE = "file"
    """The database finds its own file or indexes damaged."""
    EDITED = "edited"
    """An entry is not the one whose hash was stored when it was written."""
    MISSING = "missing"
    """An entry was removed from the middle."""
    REORDERED = "reordered"
    """An entry stands in the place of another."""
    TRUNCATED = "truncated"
    """Entries were cut off at the end, and what belongs to them is still there."""
    CHAIN = "chain"
    """An entry does not continue the chain of its dataset."""
    RULES = "rules"
    """An entry contradicts those before it, or may not exist at all."""
    TREE = "tree"
    """The stored hashes of the Merkle tree are not those of the entries."""
    ANSWER = "answer"
    """A stored answer is missing, changed or belongs to no entry."""
    SALT = "salt"
    """A stored salt is missing, changed or belongs to no entry."""
    FOREIGN = "foreign"
    """A checkpoint or entry comes from another ledger."""
    RESTORED = "restored"
    """The ledger is older than a checkpoint or release: an old copy was put back, or its end was cut off."""
    FORKED = "forked"
    """The ledger's history is not the one that a checkpoint or release was made from."""


class LedgerDamaged(LedgerError):  # noqa: N818  # named as the other errors of the family
    """The ledger, or an excerpt of it, is not what it was or contradicts itself.

    Args:
        kind: what is wrong.
        sentence: what was found, in public terms.
        entry: the number of the entry concerned, or None.
    """

    def __init__(self, kind: Damage, sentence: str, *, entry: int | None = None) -> None:
        super().__init__(sentence if entry is None else f"entry {entry}: {sentence}")
        self.kind = kind
        self.entry = entry
