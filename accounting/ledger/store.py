"""What a ledger needs of its store: transactions that read the last state and append one entry at a time.

An entry carries the running totals after it, so the last entry of a dataset, release or question is its whole state,
and nothing in a store is ever changed or deleted.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, Protocol, TypeAlias

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.canonical import Json
from accounting.events import Event
from accounting.ledger.values import Entry, Purpose
from accounting.unit import PrivacyUnit

Status = Literal["reserved", "started", "settled", "voided"]


@dataclass(frozen=True, slots=True)
class DatasetTotals:
    """A dataset's state after an entry; amounts in the unit of its law; ``raised`` is the last entry that raised it."""

    cap: Cap
    statement: EpsilonDelta | None
    allotted: Fraction
    allotted_delta: Fraction
    purpose: Purpose | None
    looks: int
    raised: int | None
    closed: bool


class ReleaseTotals(NamedTuple):
    """A release's state after an entry; amounts in the unit of its law."""

    granted: Fraction
    granted_delta: Fraction
    settled: Fraction
    settled_delta: Fraction
    closed: bool


NOTHING_GRANTED = ReleaseTotals(Fraction(0), Fraction(0), Fraction(0), Fraction(0), closed=False)


class Question(NamedTuple):
    """A question's state after an entry; ``grant`` is the number of its ``reserved`` entry."""

    status: Status
    digest: str
    amount: Fraction
    delta: Fraction
    grant: int
    entry: int
    answer: str | None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset as opened, and its totals now."""

    label: str
    unit: PrivacyUnit
    totals: DatasetTotals


@dataclass(frozen=True, slots=True)
class Release:
    """A release as allotted, and its totals now."""

    release_id: str
    label: str
    purpose: Purpose
    noise: str
    cap: Cap
    entry: int
    commitment: str | None
    totals: ReleaseTotals


@dataclass(frozen=True, slots=True)
class Standing:
    """What a later entry says about a dataset's releases or people: superseded, withdrawn or disjoint."""

    kind: str
    about: str | None
    by: str | None
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Salt:
    """The secret salt of one release's commitment; kept on the curator's side and never exported."""

    label: str
    release_id: str
    commitment: str
    salt: bytes


class DatasetDraft(NamedTuple):
    """An entry about a dataset that is not yet numbered; ``release`` and ``release_totals`` where one is concerned."""

    kind: str
    label: str
    totals: DatasetTotals
    fields: Mapping[str, Json]
    release: str | None
    release_totals: ReleaseTotals | None


class QuestionDraft(NamedTuple):
    """An entry about a question that is not yet numbered; ``grant`` is None for the reservation itself."""

    kind: Status
    label: str
    law: Law
    release: str
    request: str
    digest: str
    amount: Fraction
    delta: Fraction
    grant: int | None
    event: Event | None
    question: Mapping[str, Json] | None
    answer: str | None
    totals: ReleaseTotals


class StandingDraft(NamedTuple):
    """An entry that changes no total and is not yet numbered."""

    kind: str
    label: str
    law: Law
    fields: Mapping[str, Json]


Draft: TypeAlias = DatasetDraft | QuestionDraft | StandingDraft


class Row(NamedTuple):
    """An entry as stored: its number, its bytes, and the keys under which it is found."""

    number: int
    line: bytes
    keys: tuple[str, str, str | None, str | None]


class Reading(Protocol):
    """A consistent view of the store."""

    def dataset(self, label: str) -> Dataset | None:
        """Return a dataset, or None when the label was never opened."""
        ...

    def release(self, release_id: str) -> Release | None:
        """Return a release, or None when it was never allotted."""
        ...

    def releases(self, label: str) -> list[Release]:
        """Return a dataset's releases in order of allotment."""
        ...

    def totals(self, release_id: str) -> ReleaseTotals:
        """Return the totals of a release that exists."""
        ...

    def step(self, label: str, release_id: str, request_id: str) -> tuple[ReleaseTotals, Question | None]:
        """Return the totals of a release that exists, and a question's state or None when its id was never used."""
        ...

    def questions(self, release_id: str) -> dict[str, Question]:
        """Return the state of every question of a release by its request id, in order of asking."""
        ...

    def standings(self, label: str) -> list[Standing]:
        """Return what was said about a dataset's releases and people, in order."""
        ...

    def answer(self, entry: int) -> bytes | None:
        """Return the answer stored with a ``settled`` entry."""
        ...

    def salts(self) -> list[Salt]:
        """Return every salt, in order of allotment."""
        ...

    def labels(self) -> tuple[str, ...]:
        """Return the labels in order of opening."""
        ...

    def head(self, label: str) -> str:
        """Return the SHA-256 of the last entry of a dataset that exists."""
        ...

    def size(self) -> int:
        """Return the number of entries."""
        ...

    def entries(self, label: str | None, after: int) -> list[Entry]:
        """Return the next entries after a number in order, of one dataset or of all; a page of them, or none."""
        ...

    def rows(self, after: int) -> list[Row]:
        """Return the next entries after a number with their keys, in order; a page of them, or none."""
        ...

    def last_before(self, label: str, size: int) -> int | None:
        """Return the number of a dataset's last entry among the first ``size``, or None."""
        ...

    def hash_at(self, place: int) -> bytes:
        """Return one stored hash of the Merkle tree."""
        ...

    def hashes(self) -> list[bytes]:
        """Return every stored hash of the Merkle tree, in order."""
        ...

    def damage(self) -> str | None:
        """Return what the database itself finds damaged, or None."""
        ...

    def checkpoints(self) -> list[tuple[int, str]]:
        """Return the sizes and notes of the checkpoints that were signed here, in order."""
        ...

    def answers(self, after: int) -> list[tuple[int, bytes]]:
        """Return the next stored answers after an entry's number with their numbers; a page of them, or none."""
        ...


class Writing(Reading, Protocol):
    """A view that no other writer changes meanwhile, and whose additions become durable together or not at all."""

    def append(self, draft: Draft) -> int:
        """Append an entry and return its number."""
        ...

    def keep_answer(self, entry: int, answer: bytes) -> None:
        """Store the answer of a ``settled`` entry."""
        ...

    def keep_salt(self, salt: Salt) -> None:
        """Store a salt; the salts are never exported."""
        ...

    def keep_checkpoint(self, size: int, note: str) -> None:
        """Store a signed checkpoint."""
        ...


class Store(Protocol):
    """Where a ledger lives."""

    @property
    def identity(self) -> str:
        """The ledger's random identity: 64 hexadecimal digits, drawn when the store was made."""
        ...

    def read(self) -> AbstractContextManager[Reading]:
        """Open a consistent view."""
        ...

    def write(self) -> AbstractContextManager[Writing]:
        """Open a transaction; leaving it commits durably, an exception leaves nothing behind."""
        ...
