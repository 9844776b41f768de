"""The plain in-memory store: for audits and tests on planted tables. It writes nothing down until it is asked."""

import hashlib
import secrets
import threading
from types import TracebackType
from typing import Self

from accounting.canonical import Json
from accounting.ledger.content import check_body, from_line, to_line
from accounting.ledger.entries import body_of, dataset_from, keys_of, release_from, standing_from, today
from accounting.ledger.merkle import completed, leaf_hash
from accounting.ledger.store import (
    Dataset,
    DatasetDraft,
    Draft,
    Question,
    QuestionDraft,
    Release,
    ReleaseTotals,
    Row,
    Salt,
    Standing,
    StandingDraft,
)
from accounting.ledger.values import Entry


class MemoryStore:
    """Keeps drafts and the last states in dictionaries; questions get their bytes and hashes when they are read."""

    def __init__(self) -> None:
        self.identity = secrets.token_hex(32)
        self._date = today()
        self._lock = threading.RLock()
        self._drafts: list[Draft] = []
        self._entries: list[Entry] = []
        self._hashes: list[bytes] = []
        self._heads: dict[str, str] = {}
        self._datasets: dict[str, Dataset] = {}
        self._releases: dict[str, Release] = {}
        self._totals: dict[str, ReleaseTotals] = {}
        self._questions: dict[str, dict[str, Question]] = {}
        self._standings: dict[str, list[Standing]] = {}
        self._answers: dict[int, bytes] = {}
        self._salts: list[Salt] = []
        self._checkpoints: list[tuple[int, str]] = []

    def copy(self) -> "MemoryStore":
        """Return a store of the same entries that goes on by itself: audits open thousands of equal ledgers."""
        store = MemoryStore()
        store.identity, store._date = self.identity, self._date
        store._drafts, store._entries, store._hashes = [*self._drafts], [*self._entries], [*self._hashes]
        store._heads, store._datasets, store._releases = {**self._heads}, {**self._datasets}, {**self._releases}
        store._totals, store._answers = {**self._totals}, {**self._answers}
        store._questions = {release: {**asked} for release, asked in self._questions.items()}
        store._standings = {label: [*said] for label, said in self._standings.items()}
        store._salts, store._checkpoints = [*self._salts], [*self._checkpoints]
        return store

    def read(self) -> Self:
        """Open a view: the store itself, behind its lock."""
        return self

    def write(self) -> Self:
        """Open a transaction: the store itself, behind its lock; the ledger appends only after its last check."""
        return self

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.release()

    def dataset(self, label: str) -> Dataset | None:
        """Return a dataset, or None when the label was never opened."""
        return self._datasets.get(label)

    def release(self, release_id: str) -> Release | None:
        """Return a release, or None when it was never allotted."""
        known = self._releases.get(release_id)
        return known and self._with_totals(known)

    def releases(self, label: str) -> list[Release]:
        """Return a dataset's releases in order of allotment."""
        return [self._with_totals(release) for release in self._releases.values() if release.label == label]

    def totals(self, release_id: str) -> ReleaseTotals:
        """Return the totals of a release that exists."""
        return self._totals[release_id]

    def step(
        self,
        label: str,  # noqa: ARG002  # a database reads the dataset's last entry on the way
        release_id: str,
        request_id: str,
    ) -> tuple[ReleaseTotals, Question | None]:
        """Return the totals of a release that exists, and a question's state or None when its id was never used."""
        return self._totals[release_id], self._questions[release_id].get(request_id)

    def questions(self, release_id: str) -> dict[str, Question]:
        """Return the state of every question of a release by its request id, in order of asking."""
        return dict(self._questions[release_id])

    def standings(self, label: str) -> list[Standing]:
        """Return what was said about a dataset's releases and people, in order."""
        return list(self._standings.get(label, ()))

    def answer(self, entry: int) -> bytes | None:
        """Return the answer stored with a ``settled`` entry."""
        return self._answers.get(entry)

    def salts(self) -> list[Salt]:
        """Return every salt, in order of allotment."""
        return list(self._salts)

    def labels(self) -> tuple[str, ...]:
        """Return the labels in order of opening."""
        return tuple(self._datasets)

    def head(self, label: str) -> str:
        """Return the SHA-256 of the last entry of a dataset that exists."""
        self._write_down()
        return self._heads[label]

    def size(self) -> int:
        """Return the number of entries."""
        return len(self._drafts)

    def entries(self, label: str | None, after: int) -> list[Entry]:
        """Return the next entries after a number in order, of one dataset or of all; a page of them, or none."""
        self._write_down()
        pairs = zip(self._drafts[after + 1 :], self._entries[after + 1 :], strict=True)
        return [entry for draft, entry in pairs if label is None or draft.label == label]

    def rows(self, after: int) -> list[Row]:
        """Return the next entries after a number with their keys, in order; a page of them, or none."""
        return [Row(entry.number, entry.line, keys_of(from_line(entry.line))) for entry in self.entries(None, after)]

    def last_before(self, label: str, size: int) -> int | None:
        """Return the number of a dataset's last entry among the first ``size``, or None."""
        return max((number for number in range(size) if self._drafts[number].label == label), default=None)

    def hash_at(self, place: int) -> bytes:
        """Return one stored hash of the Merkle tree."""
        self._write_down()
        return self._hashes[place]

    def hashes(self) -> list[bytes]:
        """Return every stored hash of the Merkle tree, in order."""
        self._write_down()
        return list(self._hashes)

    def damage(self) -> str | None:
        """Return None: memory has no file to be damaged."""
        return None

    def checkpoints(self) -> list[tuple[int, str]]:
        """Return the sizes and notes of the checkpoints that were signed here, in order."""
        return list(self._checkpoints)

    def answers(self, after: int) -> list[tuple[int, bytes]]:
        """Return the next stored answers after an entry's number with their numbers; a page of them, or none."""
        return [(entry, answer) for entry, answer in self._answers.items() if entry > after]

    def append(self, draft: Draft) -> int:
        """Append an entry and return its number."""
        number = len(self._drafts)
        if isinstance(draft, QuestionDraft):
            grant = number if draft.grant is None else draft.grant
            self._questions[draft.release][draft.request] = Question(
                draft.kind, draft.digest, draft.amount, draft.delta, grant, number, draft.answer
            )
            self._totals[draft.release] = draft.totals
        else:
            self._note(draft, number)
        self._drafts.append(draft)
        return number

    def keep_answer(self, entry: int, answer: bytes) -> None:
        """Store the answer of a ``settled`` entry."""
        self._answers[entry] = answer

    def keep_salt(self, salt: Salt) -> None:
        """Store a salt; the salts are never exported."""
        self._salts.append(salt)

    def keep_checkpoint(self, size: int, note: str) -> None:
        """Store a signed checkpoint."""
        self._checkpoints.append((size, note))

    def _with_totals(self, release: Release) -> Release:
        return Release(
            release.release_id,
            release.label,
            release.purpose,
            release.noise,
            release.cap,
            release.entry,
            release.commitment,
            self._totals[release.release_id],
        )

    def _note(self, draft: DatasetDraft | StandingDraft, number: int) -> None:
        body = body_of(draft, number, None, self._date)
        check_body(body)
        if isinstance(draft, StandingDraft):
            self._standings.setdefault(draft.label, []).append(standing_from(body))
            return
        if draft.kind == "dataset-opened":
            self._datasets[draft.label] = dataset_from(body, body)
        else:
            known = self._datasets[draft.label]
            self._datasets[draft.label] = Dataset(known.label, known.unit, draft.totals)
        if draft.release is not None and draft.release_totals is not None:
            if draft.kind == "allotted":
                self._releases[draft.release] = release_from(body, body)
                self._questions[draft.release] = {}
            self._totals[draft.release] = draft.release_totals

    def _write_down(self) -> None:
        for number in range(len(self._entries), len(self._drafts)):
            draft = self._drafts[number]
            body: dict[str, Json] = body_of(draft, number, self._heads.get(draft.label), self._date)
            check_body(body)
            line = to_line(body)
            self._heads[draft.label] = hashlib.sha256(line).hexdigest()
            self._hashes += completed(number, leaf_hash(line), self._hashes.__getitem__)
            self._entries.append(Entry(number, line))
