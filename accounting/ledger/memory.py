"""The plain in-memory store: for audits and tests on planted tables. It writes nothing down until it is asked."""

import hashlib
import secrets
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from accounting.ledger.content import check_body, to_line
from accounting.ledger.store import (
    Dataset,
    DatasetDraft,
    Draft,
    Question,
    QuestionDraft,
    Release,
    ReleaseTotals,
    Salt,
    body_of,
    dataset_from,
    release_from,
    today,
)
from accounting.ledger.values import Entry


class MemoryStore:
    """Keeps drafts and the last states in dictionaries; entries get their bytes and hashes when they are read."""

    def __init__(self) -> None:
        self.identity = secrets.token_hex(32)
        self._date = today()
        self._lock = threading.RLock()
        self._drafts: list[Draft] = []
        self._entries: list[Entry] = []
        self._previous: dict[str, str] = {}
        self._datasets: dict[str, Dataset] = {}
        self._releases: dict[str, Release] = {}
        self._totals: dict[str, ReleaseTotals] = {}
        self._questions: dict[tuple[str, str], Question] = {}
        self._answers: dict[int, bytes] = {}
        self._salts: list[Salt] = []

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
        if known is None:
            return None
        totals = self._totals[release_id]
        return Release(release_id, known.label, known.purpose, known.noise, known.cap, known.commitment, totals)

    def releases(self, label: str) -> list[Release]:
        """Return a dataset's releases in order of allotment."""
        found = (self.release(name) for name, known in self._releases.items() if known.label == label)
        return [release for release in found if release is not None]

    def totals(self, release_id: str) -> ReleaseTotals:
        """Return the totals of a release that exists."""
        return self._totals[release_id]

    def question(self, release_id: str, request_id: str) -> Question | None:
        """Return a question's state, or None when the request id was never used."""
        return self._questions.get((release_id, request_id))

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
        self.entries(None)
        return self._previous[label]

    def entries(self, label: str | None) -> Iterator[Entry]:
        """Return the entries in order, of one dataset or of all."""
        for number in range(len(self._entries), len(self._drafts)):
            draft = self._drafts[number]
            body = body_of(draft, number, self._previous.get(draft.label), self._date)
            check_body(body)
            line = to_line(body)
            self._previous[draft.label] = hashlib.sha256(line).hexdigest()
            self._entries.append(Entry(number, line))
        pairs = zip(self._drafts, self._entries, strict=True)
        return iter([entry for draft, entry in pairs if label is None or draft.label == label])

    def answers(self) -> Iterator[tuple[int, bytes]]:
        """Return every stored answer with the number of its entry, in order."""
        return iter(sorted(self._answers.items()))

    def append(self, draft: Draft) -> int:
        """Append an entry and return its number."""
        number = len(self._drafts)
        if isinstance(draft, QuestionDraft):
            grant = number if draft.grant is None else draft.grant
            self._questions[(draft.release, draft.request)] = Question(
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

    def _note(self, draft: DatasetDraft, number: int) -> None:
        body = body_of(draft, number, None, self._date)
        check_body(body)
        if draft.kind == "dataset-opened":
            self._datasets[draft.label] = dataset_from(body, body)
        else:
            known = self._datasets[draft.label]
            self._datasets[draft.label] = Dataset(known.label, known.unit, known.statement, draft.totals)
        if draft.release is not None and draft.release_totals is not None:
            if draft.kind == "allotted":
                self._releases[draft.release] = release_from(body, body)
            self._totals[draft.release] = draft.release_totals
