"""The content of a report, version 1: ``report.json`` is this document, ``report.html`` shows it.

Amounts that count for the guarantee are exact texts ``p/q``; everything else is rounded for reading, on the safe side
where there is one. Each part says where its numbers come from.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from release.manifest import CapPart, CurvePoint, Day, DomainPart, EventPart, Exact, Hash, RunPart
from release.report.language import Language

Reliability = Literal["good", "moderate", "poor", "unknown"]
Stage = Literal[
    "domain",
    "number of rows",
    "single columns",
    "several columns together",
    "choosing what to measure",
    "votes for rows",
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Sentence(_Part):
    """A sentence of the catalogue of messages, so that it can be said in another language.

    Args:
        key: the message.
        values: what it names; shares from 0 to 1.
        text: the sentence in English.
    """

    key: str
    values: dict[str, str | int | float]
    text: str

    def __str__(self) -> str:
        return self.text


class UnitPart(_Part):
    """Whose presence is hidden: a row, or a person with at most ``max_rows`` rows that share an id."""

    kind: Literal["row", "person"]
    id_column: str | None = None
    max_rows: int | None = None


class Belief(_Part):
    """How sure an attacker may become that a unit is in the table, after the best attack said yes.

    Args:
        before: the probability before.
        after: the largest probability after, rounded up.
    """

    before: float
    after: float


class Attack(_Part):
    """What the best attacker, who knows everything else, gains at most; rounded up.

    Args:
        scope: the cap that it follows from.
        advantage: the largest true-positive rate less false-positive rate.
        power: the largest true-positive rate at a false-positive rate of 1 %.
        beliefs: the largest beliefs after a yes at that false-positive rate.
        curve: pairs of a false-positive rate and the largest true-positive rate.
    """

    scope: Literal["release", "dataset"]
    advantage: float
    power: float
    beliefs: tuple[Belief, ...]
    curve: tuple[tuple[float, float], ...]


class PublicRelease(_Part):
    """A well-known public release to compare with."""

    name: str
    year: int
    unit: str
    epsilon: str
    source: str


class GuaranteePart(_Part):
    """The guarantee in the reader's terms.

    Args:
        replacing_one_unit: the cap for tables that differ by replacing one unit.
        groups: the caps for groups of so many units.
        attack_source: where the bounds on attacks come from.
    """

    law: str
    amount_name: str
    release_cap: CapPart
    dataset_cap: CapPart
    release_epsilon: CurvePoint
    dataset_epsilon: CurvePoint
    release_curve: tuple[CurvePoint, ...]
    dataset_curve: tuple[CurvePoint, ...]
    replacing_one_unit: CapPart
    groups: dict[str, CapPart]
    attacks: tuple[Attack, Attack]
    attack_source: str
    others: tuple[PublicRelease, ...]
    source: str


class StagePart(_Part):
    """What one kind of question cost together.

    Args:
        entries: the first and the last ledger entry that settled such a question.
        share: of the release's cap, from 0 to 1.
    """

    name: Stage
    questions: int
    entries: tuple[int, int]
    cost: Exact
    share: float


class RoundPart(_Part):
    """What one round of an adaptive mechanism cost: a choice, and what was measured after it.

    Args:
        number: of the round, from 1.
        entries: its first and its last ledger entry.
        about: what was measured.
        choosing: the choice's share of the release's cap.
        measuring: the measurement's share.
    """

    number: int
    entries: tuple[int, int]
    about: str
    choosing: float
    measuring: float


class ChargePart(_Part):
    """What one question cost.

    Args:
        entry: the ledger entry that settled it.
        event: the event that it was priced as.
        noise: the standard deviation of the noise on each count, in rows; None for a selection.
        delta: what it cost of the δ that is set aside.
        share: of the release's cap, from 0 to 1.
    """

    entry: int
    stage: Stage
    about: str
    event: EventPart
    noise: float | None
    cost: Exact
    delta: Exact
    share: float


class BudgetPart(_Part):
    """Where the budget went; ``left`` is what the dataset's cap leaves for further releases."""

    stages: tuple[StagePart, ...]
    rounds: tuple[RoundPart, ...]
    charges: tuple[ChargePart, ...]
    settled: Exact
    settled_delta: Exact
    unused: Exact
    left: Exact
    runs: tuple[RunPart, ...]
    looks: int
    source: str


class ColumnPart(_Part):
    """What one column can be used for.

    Args:
        error: a bound on the total variation distance that holds for this column alone; None if it has no bound.
        error_together: a bound that holds for all marginals together.
        margin: 95 % of the time the noise on one count of this column was smaller, in rows; None if never counted.
        margin_entry: the ledger entry whose noise that is.
        below_margin: how many of its cells hold fewer synthetic rows than that.
    """

    name: str
    kind: str
    cells: int
    error: float | None
    error_together: float | None
    margin: float | None
    margin_entry: int | None
    below_margin: int
    reliability: Reliability


class GroupPart(_Part):
    """The values of a column that hold too few synthetic rows to be told from the noise.

    Args:
        column: the column.
        margin: the 95 % margin of the noise on one of its counts, in rows.
        entry: the ledger entry whose noise that is.
        values: the names of such values with their synthetic rows, smallest first; the first of them.
        more: how many further ones there are.
    """

    column: str
    margin: float
    entry: int
    values: tuple[tuple[str, int], ...]
    more: int


class MarginalPart(_Part):
    """The error bound of one marginal of several columns."""

    columns: str
    cells: int
    basis: str
    error: float
    error_together: float


class AccuracyPart(_Part):
    """How far the synthetic rows may be from the private table."""

    confidence: float
    marginals: int
    mean_error: float
    largest_error_together: float
    columns: tuple[ColumnPart, ...]
    best: tuple[MarginalPart, ...]
    worst: tuple[MarginalPart, ...]
    groups: tuple[GroupPart, ...]
    warnings: tuple[Sentence, ...]
    source: str


class PairPart(_Part):
    """What an audit found on one pair of neighbouring planted tables.

    Args:
        runs: runs on each side.
        errors: how often the best test was wrong.
        lower_bound: the μ that the runs prove at the audit's confidence.
        claimed: the μ that the claim allows.
        power: the chance to catch a mechanism with half of the declared noise.
    """

    pair: str
    runs: int
    errors: int
    lower_bound: float
    claimed: float
    power: float
    verdict: str


class AuditPart(_Part):
    """The audit of the mechanism that was signed with the release.

    Args:
        rows_alone: the μ that the synthetic rows alone prove.
        replayed: how many questions were replayed against plain kernels.
        violations: how many of them broke a rule.
        smallest_p: of the samplers' tests; None if none was made.
    """

    level: str
    significance: float
    columns: int
    whole_schema: bool
    pairs: tuple[PairPart, ...]
    rows_alone: float
    replayed: int
    violations: int
    samplers: int
    smallest_p: float | None
    verdict: str
    limits: str
    source: str


class PlantedBugsPart(_Part):
    """How many planted bugs one kind of audit catches in the tests of the version that made the release."""

    audit: str
    caught: int
    bugs: tuple[str, ...]
    source: str


class SchemaColumnPart(_Part):
    """One column as the public schema declares it.

    Args:
        name: the column.
        kind: its kind.
        description: what the schema says about it.
        domain: what values it may have.
        origin: how a domain that was not declared came to be; None for a declared one.
        cells: the number of cells of its marginal.
        rules: what becomes of nulls and of values outside the domain.
    """

    name: str
    kind: str
    description: str | None
    domain: Sentence
    origin: Sentence | None
    cells: int
    rules: tuple[Sentence, ...]


class FilePart(_Part):
    """A file that the report describes, with its digest."""

    name: str
    sha256: Hash


class AnnexPart(_Part):
    """What a specialist wants to see."""

    source: str
    mechanism: dict[str, Any]
    notes: dict[str, Any]
    columns: tuple[SchemaColumnPart, ...]
    domain: DomainPart | None
    constraints: tuple[str, ...]
    schema_digest: Hash
    identifiers_left_out: int
    noise: str
    isolation: str
    public_seed: str
    ledger_entries: int
    ledger_head: Hash
    software: dict[str, str]
    files: tuple[FilePart, ...]


class Report(_Part):
    """Everything that a report says, in English; ``language`` is that of the signed page."""

    format: Literal["dprelease.report"] = "dprelease.report"
    version: Literal[1] = 1
    release_id: str
    dataset: str
    table: str
    description: str | None
    publisher: str | None
    purpose: str | None
    language: Language
    day: Day
    rows: int
    unit: UnitPart
    signers: tuple[Hash, ...]
    verify: str
    protected: Sentence
    strength: Sentence
    not_protected: tuple[str, ...]
    source: str
    guarantee: GuaranteePart
    budget: BudgetPart
    accuracy: AccuracyPart
    audit: AuditPart | None
    planted_bugs: tuple[PlantedBugsPart, ...]
    annex: AnnexPart
