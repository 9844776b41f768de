"""What a ledger needs of its store: transactions that read the last state and append one entry at a time.

An entry carries the running totals after it, so the last entry of a dataset, release or question is its whole state,
and nothing in a store is ever changed or deleted.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Literal, NamedTuple, Protocol, TypeAlias, cast

from accounting.budget import Cap, EpsilonDelta, Law, cap
from accounting.canonical import Json
from accounting.events import Event, GaussianEvent
from accounting.exact import from_text, to_text
from accounting.ledger.content import FORMAT, THEOREMS, shorten_question
from accounting.ledger.values import Entry, Purpose
from accounting.unit import PrivacyUnit, unit_from_json

Status = Literal["reserved", "started", "settled", "voided"]


@dataclass(frozen=True, slots=True)
class DatasetTotals:
    """A dataset's state after an entry; amounts in the unit of its law."""

    cap: Cap
    allotted: Fraction
    allotted_delta: Fraction
    purpose: Purpose | None
    looks: int
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
    statement: EpsilonDelta | None
    totals: DatasetTotals


@dataclass(frozen=True, slots=True)
class Release:
    """A release as allotted, and its totals now."""

    release_id: str
    label: str
    purpose: Purpose
    noise: str
    cap: Cap
    commitment: str | None
    totals: ReleaseTotals


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


Draft: TypeAlias = DatasetDraft | QuestionDraft


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

    def question(self, release_id: str, request_id: str) -> Question | None:
        """Return a question's state, or None when the request id was never used."""
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

    def entries(self, label: str | None) -> Iterator[Entry]:
        """Return the entries in order, of one dataset or of all."""
        ...

    def answers(self) -> Iterator[tuple[int, bytes]]:
        """Return every stored answer with the number of its entry, in order."""
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


def today() -> str:
    """Return the calendar date in UTC, the finest time that an entry holds."""
    return datetime.now(tz=UTC).date().isoformat()


def body_of(draft: Draft, number: int, previous: str | None, date: str) -> dict[str, Json]:
    """Write a draft as the fields of an entry."""
    law = draft.law if isinstance(draft, QuestionDraft) else draft.totals.cap.law
    common: dict[str, Json] = {
        "format": FORMAT,
        "number": number,
        "label": draft.label,
        "kind": draft.kind,
        "date": date,
        "previous": previous,
        "theorem": THEOREMS[law],
    }
    if isinstance(draft, QuestionDraft):
        return common | _question_fields(draft, number)
    common |= draft.fields
    common["dataset"] = _dataset_to_json(draft.totals)
    if draft.release_totals is not None:
        common |= {"release": draft.release, "totals": _release_to_json(draft.release_totals)}
    return common


def dataset_from(opened: Mapping[str, Json], last: Mapping[str, Json]) -> Dataset:
    """Read a dataset from its first entry and its last one that carries its totals."""
    statement = cast("dict[str, str] | None", opened["statement"])
    return Dataset(
        cast("str", opened["label"]),
        unit_from_json(cast("dict[str, Json]", opened["privacy_unit"])),
        EpsilonDelta(from_text(statement["epsilon"]), from_text(statement["delta"])) if statement else None,
        dataset_totals_from(last),
    )


def dataset_totals_from(body: Mapping[str, Json]) -> DatasetTotals:
    """Read a dataset's totals from an entry that carries them."""
    state = cast("dict[str, str]", body["dataset"])
    return DatasetTotals(
        cap(Law(state["law"]), from_text(state["cap"]), from_text(state["cap_delta"])),
        from_text(state["allotted"]),
        from_text(state["allotted_delta"]),
        cast("Purpose | None", state["purpose"]),
        cast("int", state["looks"]),
        cast("bool", state["closed"]),
    )


def release_from(allotted: Mapping[str, Json], last: Mapping[str, Json]) -> Release:
    """Read a release from its ``allotted`` entry and its last one."""
    fields = cast("dict[str, str]", allotted)
    law = Law.ZCDP if fields["unit"] == Law.ZCDP.unit else Law.GDP
    return Release(
        fields["release"],
        fields["label"],
        cast("Purpose", fields["purpose"]),
        fields["noise"],
        cap(law, from_text(fields["amount"]), from_text(fields["delta"])),
        cast("str | None", allotted["commitment"]),
        release_totals_from(last),
    )


def release_totals_from(body: Mapping[str, Json]) -> ReleaseTotals:
    """Read a release's totals from one of its entries."""
    state = cast("dict[str, str]", body["totals"])
    return ReleaseTotals(
        from_text(state["granted"]),
        from_text(state["granted_delta"]),
        from_text(state["settled"]),
        from_text(state["settled_delta"]),
        cast("bool", state["closed"]),
    )


def question_from(body: Mapping[str, Json]) -> Question:
    """Read a question's state from its last entry."""
    fields = cast("dict[str, str]", body)
    return Question(
        cast("Status", fields["kind"]),
        fields["digest"],
        from_text(fields["amount"]),
        from_text(fields["delta"]),
        cast("int", body["grant"]),
        cast("int", body["number"]),
        fields.get("answer"),
    )


def _question_fields(draft: QuestionDraft, number: int) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "release": draft.release,
        "request": draft.request,
        "digest": draft.digest,
        "grant": number if draft.grant is None else draft.grant,
        "amount": to_text(draft.amount),
        "delta": to_text(draft.delta),
        "unit": draft.law.unit,
        "totals": _release_to_json(draft.totals),
    }
    if draft.event is not None and draft.question is not None:
        fields["event"] = event_to_json(draft.event)
        fields["question"] = shorten_question(draft.question)
    if draft.answer is not None:
        fields["answer"] = draft.answer
    return fields


def event_to_json(event: Event) -> dict[str, Json]:
    """Write an event as an entry holds it."""
    if isinstance(event, GaussianEvent):
        return {
            "kind": "gaussian",
            "sensitivity_squared": to_text(event.sensitivity_squared),
            "variance": to_text(event.variance),
        }
    return {"kind": "selection", "epsilon": to_text(event.epsilon)}


def _dataset_to_json(totals: DatasetTotals) -> dict[str, Json]:
    return {
        "law": totals.cap.law.value,
        "cap": to_text(totals.cap.value),
        "cap_delta": to_text(totals.cap.delta),
        "allotted": to_text(totals.allotted),
        "allotted_delta": to_text(totals.allotted_delta),
        "purpose": totals.purpose,
        "looks": totals.looks,
        "closed": totals.closed,
    }


def _release_to_json(totals: ReleaseTotals) -> dict[str, Json]:
    return {
        "granted": to_text(totals.granted),
        "granted_delta": to_text(totals.granted_delta),
        "settled": to_text(totals.settled),
        "settled_delta": to_text(totals.settled_delta),
        "closed": totals.closed,
    }
