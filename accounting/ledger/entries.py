"""How drafts become the fields of an entry, and how the last entry of something is read as its state."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from accounting.budget import EpsilonDelta, Law, cap
from accounting.canonical import Json
from accounting.events import Event, GaussianEvent, ThresholdEvent
from accounting.ledger.amounts import from_text, to_text
from accounting.ledger.content import FORMAT, THEOREMS, shorten_question
from accounting.ledger.store import (
    Dataset,
    DatasetDraft,
    DatasetTotals,
    Draft,
    Question,
    QuestionDraft,
    Release,
    ReleaseTotals,
    Standing,
    StandingDraft,
    Status,
)
from accounting.ledger.values import Purpose
from accounting.unit import unit_from_json


def today() -> str:
    """Return the calendar date in UTC, the finest time that an entry holds."""
    return datetime.now(tz=UTC).date().isoformat()


def body_of(draft: Draft, number: int, previous: str | None, date: str) -> dict[str, Json]:
    """Write a draft as the fields of an entry."""
    law = draft.totals.cap.law if isinstance(draft, DatasetDraft) else draft.law
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
    if isinstance(draft, StandingDraft):
        return common
    common["dataset"] = _dataset_to_json(draft.totals)
    if draft.release_totals is not None:
        common |= {"release": draft.release, "totals": _release_to_json(draft.release_totals)}
    return common


def keys_of(body: Mapping[str, Json]) -> tuple[str, str, str | None, str | None]:
    """Return the keys of an entry: its label, its subject, and the release and request that it moves, if any."""
    subject = "dataset" if "dataset" in body else "question" if "request" in body else "standing"
    fields = cast("dict[str, str]", body)
    return fields["label"], subject, fields.get("release"), fields.get("request")


def dataset_from(opened: Mapping[str, Json], last: Mapping[str, Json]) -> Dataset:
    """Read a dataset from its first entry and its last one that carries its totals."""
    unit = unit_from_json(cast("dict[str, Json]", opened["privacy_unit"]))
    return Dataset(cast("str", opened["label"]), unit, dataset_totals_from(last))


def standing_from(body: Mapping[str, Json]) -> Standing:
    """Read what an entry says about a dataset's releases or people."""
    fields = cast("dict[str, str]", body)
    others = cast("list[str]", body.get("others", []))
    return Standing(fields["kind"], fields.get("about"), fields.get("by"), tuple(others))


def dataset_totals_from(body: Mapping[str, Json]) -> DatasetTotals:
    """Read a dataset's totals from an entry that carries them."""
    state = cast("dict[str, str]", body["dataset"])
    return DatasetTotals(
        cap(Law(state["law"]), from_text(state["cap"]), from_text(state["cap_delta"])),
        statement_from(state["statement"]),
        from_text(state["allotted"]),
        from_text(state["allotted_delta"]),
        cast("Purpose | None", state["purpose"]),
        cast("int", state["looks"]),
        cast("int | None", state["raised"]),
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
        cast("int", allotted["number"]),
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
    if isinstance(event, ThresholdEvent):
        return {
            "kind": "threshold",
            "sensitivity_squared": to_text(event.sensitivity_squared),
            "variance": to_text(event.variance),
            "threshold": event.threshold,
            "names": event.names,
        }
    return {"kind": "selection", "epsilon": to_text(event.epsilon)}


def statement_to_json(statement: EpsilonDelta | None) -> dict[str, Json] | None:
    """Write an (ε, δ) as an entry holds it."""
    if statement is None:
        return None
    return {"epsilon": to_text(statement.epsilon), "delta": to_text(statement.delta)}


def statement_from(value: Json) -> EpsilonDelta | None:
    """Read what :func:`statement_to_json` wrote."""
    if value is None:
        return None
    fields = cast("dict[str, str]", value)
    return EpsilonDelta(from_text(fields["epsilon"]), from_text(fields["delta"]))


def describes(question: Mapping[str, Json], event: Event) -> bool:
    """Say whether a question's description states the noise that its event prices."""
    if isinstance(event, GaussianEvent):
        return "threshold" not in question and question.get("variance") == to_text(event.variance)
    if isinstance(event, ThresholdEvent):
        stated = question.get("variance"), question.get("threshold")
        return stated == (to_text(event.variance), event.threshold)
    return question.get("epsilon") == to_text(event.epsilon)


def _dataset_to_json(totals: DatasetTotals) -> dict[str, Json]:
    return {
        "law": totals.cap.law.value,
        "statement": statement_to_json(totals.statement),
        "cap": to_text(totals.cap.value),
        "cap_delta": to_text(totals.cap.delta),
        "allotted": to_text(totals.allotted),
        "allotted_delta": to_text(totals.allotted_delta),
        "purpose": totals.purpose,
        "looks": totals.looks,
        "raised": totals.raised,
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
