"""The manifest: the predicate of the signed statement, an allow-list of public fields.

Rationals are written ``p/q``; ε as a decimal rounded up; days ``YYYY-MM-DD``. Unknown fields are refused on reading.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.events import Event, GaussianEvent, ThresholdEvent
from accounting.exact import decimal_above, from_text, to_text
from accounting.unit import NEIGHBOURING, unit_to_json
from release.record import DomainRecord, Look, QuestionRecord, RunRecord, RunSummary

if TYPE_CHECKING:
    from mechanisms.bounds import ErrorBounds

FORMAT: Final = 1
REPORTED_DELTAS = tuple(Fraction(1, 10**power) for power in (5, 6, 7, 8, 9))
GROUP_SIZES = (2, 5)
EPSILON_DIGITS = 15

NOT_PROTECTED = (
    "facts about groups and about the population, which the data are meant to show",
    "what the schema, the configuration and this manifest say: declared to be public by the curator",
    "people under other dataset labels: the budgets of different labels add up for a person who is in both",
    "whoever can watch the curator's machine while it runs",
    "choices between releases that somebody makes by looking at the private data",
)


def _exact(text: str) -> str:
    from_text(text)
    return text


Exact: TypeAlias = Annotated[str, AfterValidator(_exact)]
Hash: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Day: TypeAlias = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
Decimals: TypeAlias = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CapPart(_Part):
    """A cap in the law's unit (ρ or μ²), and the δ set aside for questions that cost δ."""

    amount: Exact
    delta: Exact


class StatementPart(_Part):
    """The (ε, δ) from which a cap was derived."""

    epsilon: Exact
    delta: Exact


class CurvePoint(_Part):
    """The guarantee in (ε, δ) at one δ."""

    delta: Exact
    epsilon: Decimals


class Guarantee(_Part):
    """What is promised for this release, and for all releases of the dataset together."""

    law: Law
    release_cap: CapPart
    dataset_cap: CapPart
    release_statement: StatementPart | None
    dataset_statement: StatementPart | None
    release_curve: tuple[CurvePoint, ...]
    dataset_curve: tuple[CurvePoint, ...]
    replacing_one_unit: CapPart
    groups: dict[str, CapPart]
    conversion: str


class EventPart(_Part):
    """An event of the closed table: Gaussian noise, a selection, or Gaussian noise before a threshold."""

    kind: Literal["gaussian", "selection", "threshold"]
    sensitivity_squared: Exact | None = None
    variance: Exact | None = None
    epsilon: Exact | None = None
    threshold: int | None = None
    names: int | None = None


class QuestionPart(_Part):
    """A settled question: its ledger entry, its public content, what it cost."""

    entry: int
    request_id: str
    question: dict[str, Any]
    digest: Hash
    event: EventPart
    cost: Exact
    delta: Exact
    answer_digest: Hash


class PlanLine(_Part):
    """A ceiling known before the run."""

    question: str
    purpose: str
    at_most: int
    ceiling: Exact
    delta: Exact


class PlanPart(_Part):
    """The ceilings known before the run, and the most that the run could cost."""

    lines: tuple[PlanLine, ...]
    total: Exact


class RunPart(_Part):
    """One run of the dataset, released or not; what later entries say of it counts up to this release's checkpoint."""

    release_id: str
    purpose: Literal["release", "test", "audit"]
    cap: CapPart
    settled: Exact
    closed: bool
    replaced: bool
    superseded_by: str | None
    withdrawn: bool


class LookPart(_Part):
    """One unpaid, curator-only look at the private table."""

    entry: int
    what: str
    schema_digest: Hash


class LedgerPart(_Part):
    """The chain that the release carries: its length and the hash of its last entry."""

    entries: int
    head: Hash


class BoundsPart(_Part):
    """The error bounds in short; ``bounds.csv`` has one row a marginal. A share is L1/(2·total), a total variation.

    ``mean_share`` averages the bounds that hold each by itself; ``largest_share_simultaneous`` is the largest of those
    that hold all together.
    """

    confidence: float
    marginals: int
    scale: float
    total: float
    mean_share: float
    largest_share_simultaneous: float


class MeasuredPart(_Part):
    """A column whose domain was measured, not declared, and the entries of the answers that it follows from."""

    column: str
    question: Literal["quantiles", "categories"]
    entries: tuple[int, ...]


class DomainPart(_Part):
    """What was paid for the domains that were not public; ``domain.json`` holds the answers.

    ``declared_schema_digest`` is that of the schema before them; ``schema_digest`` that of the one they led to.
    """

    declared_schema_digest: Hash
    share: Exact
    delta: Exact
    columns: tuple[MeasuredPart, ...]


class Randomness(_Part):
    """Where privacy noise came from, and the seed of the public randomness."""

    noise: str
    isolation: str
    public_seed: str


class Manifest(_Part):
    """Everything that a release says about itself."""

    format: Literal[1]
    release_id: str
    dataset: str
    purpose: Literal["release"]
    issuer: Hash
    day: Day
    guarantee: Guarantee
    unit: dict[str, Any]
    neighbouring: Literal["add-or-remove-one-unit"]
    mechanism: dict[str, Any]
    plan: PlanPart
    questions: tuple[QuestionPart, ...]
    settled: Exact
    settled_delta: Exact
    runs: tuple[RunPart, ...]
    looks: tuple[LookPart, ...]
    ledger: LedgerPart
    config: dict[str, Any]
    schema_digest: Hash
    domain: DomainPart | None
    error_bounds: BoundsPart
    notes: dict[str, Any]
    randomness: Randomness
    output_rows: int
    not_protected: tuple[str, ...]
    software: dict[str, str]


def build_manifest(record: RunRecord) -> Manifest:
    """Turn a run's record into its manifest; reads nothing else.

    Raises:
        ValidationError: a record of a test or audit run, which cannot be released.
    """
    return Manifest(
        format=FORMAT,
        release_id=record.release_id,
        dataset=record.dataset,
        purpose=record.purpose,  # type: ignore[arg-type]  # a test's purpose is refused by validation
        issuer=record.issuer,
        day=record.day,
        guarantee=_guarantee(record),
        unit=dict(unit_to_json(record.unit)),
        neighbouring=NEIGHBOURING,
        mechanism=dict(record.mechanism),
        plan=PlanPart(
            lines=tuple(
                PlanLine(
                    question=line.question,
                    purpose=line.purpose,
                    at_most=line.at_most,
                    ceiling=to_text(line.ceiling),
                    delta=to_text(line.delta),
                )
                for line in record.plan.lines
            ),
            total=to_text(record.plan.total),
        ),
        questions=tuple(_question(question) for question in record.questions),
        settled=to_text(record.settled),
        settled_delta=to_text(sum((question.delta for question in record.questions), Fraction(0))),
        runs=tuple(map(run_part, record.runs)),
        looks=tuple(map(look_part, record.looks)),
        ledger=LedgerPart(entries=record.ledger_entries, head=record.ledger_head),
        config=dict(record.config),
        schema_digest=record.schema_digest,
        domain=_domain(record.domain),
        error_bounds=_bounds(record.bounds),
        notes=dict(record.notes),
        randomness=Randomness(noise=record.noise, isolation=record.isolation, public_seed=record.public_seed),
        output_rows=record.output_rows,
        not_protected=NOT_PROTECTED,
        software=dict(record.software),
    )


def curve(budget: Cap, deltas: tuple[Fraction, ...]) -> tuple[CurvePoint, ...]:
    """Return ε, rounded up, at each δ above the cap's own."""
    from accounting.convert import epsilon

    return tuple(
        CurvePoint(delta=to_text(delta), epsilon=decimal_above(epsilon(budget, delta), EPSILON_DIGITS))
        for delta in deltas
        if delta > budget.delta
    )


def event_part(event: Event) -> EventPart:
    """Write an event."""
    if isinstance(event, GaussianEvent):
        return EventPart(
            kind="gaussian",
            sensitivity_squared=to_text(event.sensitivity_squared),
            variance=to_text(event.variance),
        )
    if isinstance(event, ThresholdEvent):
        return EventPart(
            kind="threshold",
            sensitivity_squared=to_text(event.sensitivity_squared),
            variance=to_text(event.variance),
            threshold=event.threshold,
            names=event.names,
        )
    return EventPart(kind="selection", epsilon=to_text(event.epsilon))


def _guarantee(record: RunRecord) -> Guarantee:
    from accounting.convert import for_group, for_replacement

    deltas = tuple(sorted({*REPORTED_DELTAS, record.delta}, reverse=True))
    amount, delta = record.cap.amount, record.cap.delta
    return Guarantee(
        law=record.law,
        release_cap=_cap(record.cap),
        dataset_cap=_cap(record.dataset_cap),
        release_statement=_statement(record.statement),
        dataset_statement=_statement(record.dataset_statement),
        release_curve=curve(record.cap, deltas),
        dataset_curve=curve(record.dataset_cap, deltas),
        replacing_one_unit=_cap(Cap(for_replacement(amount), delta)),
        # With a δ the bound for a group does not follow from the caps (docs/guarantees.md, Groups and replacement).
        groups={str(size): _cap(Cap(for_group(amount, size))) for size in GROUP_SIZES if not delta},
        conversion=CONVERSION[record.law],
    )


CONVERSION = {
    Law.ZCDP: "minimum over alpha > 1 of Canonne, Kamath and Steinke 2020, proposition 12 (arXiv:2004.00010)",
    Law.GDP: "exact Gaussian trade-off curve, Dong, Roth and Su 2022, corollary 2.13 (arXiv:1905.02383)",
}


def _bounds(bounds: "ErrorBounds") -> BoundsPart:
    twice = 2 * bounds.total
    return BoundsPart(
        confidence=bounds.confidence,
        marginals=len(bounds.marginals),
        scale=round(bounds.scale, 9),
        total=round(bounds.total, 3),
        mean_share=round(sum(bound.l1 for bound in bounds.marginals) / len(bounds.marginals) / twice, 6),
        largest_share_simultaneous=round(max(bound.l1_simultaneous for bound in bounds.marginals) / twice, 6),
    )


def _cap(cap: Cap) -> CapPart:
    return CapPart(amount=to_text(cap.value), delta=to_text(cap.delta))


def _statement(statement: EpsilonDelta | None) -> StatementPart | None:
    if statement is None:
        return None
    return StatementPart(epsilon=to_text(statement.epsilon), delta=to_text(statement.delta))


def _domain(domain: DomainRecord | None) -> DomainPart | None:
    if domain is None:
        return None
    return DomainPart(
        declared_schema_digest=domain.declared_schema_digest,
        share=to_text(domain.share),
        delta=to_text(domain.delta),
        columns=tuple(
            MeasuredPart(column=part.column, question=part.question, entries=part.entries) for part in domain.columns
        ),
    )


def _question(question: QuestionRecord) -> QuestionPart:
    return QuestionPart(
        entry=question.entry,
        request_id=question.request_id,
        question=dict(question.question),
        digest=question.digest,
        event=event_part(question.event),
        cost=to_text(question.cost),
        delta=to_text(question.delta),
        answer_digest=question.answer_digest,
    )


def look_part(look: Look) -> LookPart:
    """Write an unpaid look."""
    return LookPart(entry=look.entry, what=look.what, schema_digest=look.schema_digest)


def run_part(run: RunSummary) -> RunPart:
    """Write a run of the dataset."""
    return RunPart(
        release_id=run.release_id,
        purpose=run.purpose,
        cap=_cap(run.cap),
        settled=to_text(run.settled),
        closed=run.closed,
        replaced=run.replaced,
        superseded_by=run.superseded_by,
        withdrawn=run.withdrawn,
    )
