"""Compare what the ledger settled with what the mechanism says it asked, and with what its plan allowed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accounting.budget import Cap
from accounting.canonical import Json, sha256
from accounting.errors import DpReleaseError, LedgerError
from accounting.events import Event, GaussianEvent, SelectionEvent, ThresholdEvent
from accounting.exact import from_text, to_text
from accounting.queries import answer_to_bytes, query_digest
from mechanisms.base import Asked, Plan
from release.record import QuestionRecord

if TYPE_CHECKING:
    from accounting.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Settlement:
    """What the ledger's entries say about one release and its dataset.

    Args:
        day: the day of the allotment.
        questions: the release's settled questions in order of asking.
    """

    day: str
    questions: tuple[QuestionRecord, ...]

    @property
    def settled(self) -> Fraction:
        """What the questions cost together, in the law's unit."""
        return sum((question.cost for question in self.questions), Fraction(0))


def read_settlement(ledger: "Ledger", label: str, release_id: str) -> Settlement:
    """Read a release's settled questions from the ledger's entries."""
    day = ""
    reserved: dict[str, Mapping[str, Any]] = {}
    questions: dict[str, QuestionRecord] = {}
    for entry in ledger.entries(label, release_id=release_id):
        body: Mapping[str, Any] = entry.body
        match body["kind"]:
            case "allotted":
                day = body["date"]
            case "reserved":
                reserved[body["request"]] = body
            case "settled":
                questions[body["request"]] = _question(entry.number, reserved[body["request"]], body)
    ordered = tuple(questions[request] for request in sorted(questions, key=int))
    return Settlement(day, ordered)


def check_settlement(settlement: Settlement, transcript: Sequence[Asked], granted: Fraction) -> None:
    """Check that the ledger settled exactly the transcript: questions, prices and answers.

    Args:
        settlement: what the ledger says.
        transcript: what the mechanism says.
        granted: all that was charged to the release, answered or not.

    Raises:
        LedgerError: they differ.
    """
    if len(settlement.questions) != len(transcript):
        raise LedgerError("the ledger settled another number of questions than the mechanism reports")
    for question, asked in zip(settlement.questions, transcript, strict=True):
        same = (
            question.entry == asked.answer.entry
            and question.question["question"] == asked.question
            and (asked.query is None or question.digest == query_digest(asked.query))
            and question.cost == asked.cost
            and question.answer_digest == sha256(answer_to_bytes(asked.answer))
        )
        if not same:
            raise LedgerError(f"entry {question.entry} of the ledger is not what the mechanism reports")
    if settlement.settled != granted:
        raise LedgerError("the ledger granted more than the questions that it settled")


def check_within_plan(settlement: Settlement, plan: Plan, cap: Cap) -> None:
    """Check that what was asked lies within the plan: kinds, numbers, ceilings, total, cap.

    Raises:
        DpReleaseError: it does not; a fault of the mechanism, found before anything is released.
    """
    number: dict[str, int] = defaultdict(int)
    ceiling: dict[str, Fraction] = defaultdict(Fraction)
    deltas: dict[str, Fraction] = defaultdict(Fraction)
    for line in plan.lines:
        number[line.question] += line.at_most
        ceiling[line.question] += line.ceiling
        deltas[line.question] += line.delta
    for question in settlement.questions:
        kind = str(question.question["question"])
        number[kind] -= 1
        ceiling[kind] -= question.cost
        deltas[kind] -= question.delta
    beyond = sorted(kind for kind in number if number[kind] < 0 or ceiling[kind] < 0 or deltas[kind] < 0)
    if beyond:
        raise DpReleaseError(
            f"the mechanism asked beyond its plan ({', '.join(beyond)}); this is a fault of the program"
        )
    if not settlement.settled <= plan.total <= cap.value:
        raise DpReleaseError("the mechanism spent beyond its plan; this is a fault of the program")


def plan_to_json(plan: Plan) -> dict[str, Json]:
    """Describe a plan, for its digest."""
    return {
        "law": plan.law.value,
        "lines": [
            {
                "question": line.question,
                "purpose": line.purpose,
                "at_most": line.at_most,
                "ceiling": to_text(line.ceiling),
                **({"delta": to_text(line.delta)} if line.delta else {}),
            }
            for line in plan.lines
        ],
        "total": to_text(plan.total),
    }


def _question(entry: int, reserved: Mapping[str, Any], settled: Mapping[str, Any]) -> QuestionRecord:
    return QuestionRecord(
        entry=entry,
        request_id=settled["request"],
        question=reserved["question"],
        digest=settled["digest"],
        event=_event(reserved["event"]),
        cost=from_text(settled["amount"]),
        answer_digest=settled["answer"],
        delta=from_text(settled["delta"]),
    )


def _event(event: Mapping[str, Any]) -> Event:
    if event["kind"] == "gaussian":
        return GaussianEvent(from_text(event["sensitivity_squared"]), from_text(event["variance"]))
    if event["kind"] == "threshold":
        sensitivity_squared, variance = from_text(event["sensitivity_squared"]), from_text(event["variance"])
        return ThresholdEvent(sensitivity_squared, variance, event["threshold"], event["names"])
    return SelectionEvent(from_text(event["epsilon"]))
