"""What a finished run hands to the manifest: every field is public, and there is no field for anything else."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.canonical import Json
from accounting.events import Event
from accounting.unit import PrivacyUnit

if TYPE_CHECKING:
    from mechanisms.base import Plan
    from mechanisms.bounds import ErrorBounds
    from mechanisms.domain import MeasuredColumn

Purpose = Literal["release", "test", "audit"]


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One settled question of this release.

    Args:
        entry: the number of the ledger entry that settled it.
        request_id: the id under which it was asked, unique within the release.
        question: its public fields (``accounting.queries.describe_query``).
        digest: the SHA-256 that binds the id to the question (``accounting.queries.query_digest``).
        event: what it cost, as an event.
        cost: the event's price in the law's unit (ρ or μ²).
        answer_digest: the SHA-256 of the noisy answer's canonical bytes.
        delta: the event's price in δ.
    """

    entry: int
    request_id: str
    question: Mapping[str, Json]
    digest: str
    event: Event
    cost: Fraction
    answer_digest: str
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class DomainRecord:
    """What was paid for domains that were not public.

    Args:
        declared_schema_digest: the digest of the schema before them.
        share: the share of the release's cap that they may cost.
        delta: the δ that they may cost.
        columns: the measured columns.
    """

    declared_schema_digest: str
    share: Fraction
    delta: Fraction
    columns: "tuple[MeasuredColumn, ...]"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run of the dataset, released or not, as the ledger lists it.

    Args:
        release_id: the run's public id.
        purpose: what it was for; only ``release`` can be signed.
        cap: the most that it may ever cost.
        settled: what its settled questions cost so far, in the law's unit; information, not the guarantee.
        closed: whether it asks nothing more.
        replaced: whether the dataset's cap was raised after it, which replaces the guarantee of its manifest.
        superseded_by: the run that replaces it, or None.
        withdrawn: whether it was withdrawn.
    """

    release_id: str
    purpose: Purpose
    cap: Cap
    settled: Fraction
    closed: bool
    replaced: bool
    superseded_by: str | None
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class Look:
    """One unpaid look at the private table by its curator.

    Args:
        entry: the number of its ledger entry.
        what: the command, in public terms.
        schema_digest: the digest of the schema that was looked through.
    """

    entry: int
    what: str
    schema_digest: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything public about one finished run.

    Args:
        release_id: public id of the release; holds no data.
        dataset: the dataset's label in the ledger.
        purpose: ``release``, or ``test`` when the noise was seeded: such a run cannot be signed.
        issuer: the fingerprint of the key that signs it first.
        day: the day of the run, ``YYYY-MM-DD``; nothing finer is public.
        config: release.toml as JSON, every default filled in, without the path of the private file.
        schema: the schema as JSON.
        schema_digest: its SHA-256.
        unit: the privacy unit, with the contribution bound.
        dataset_cap: the dataset's cap: the guarantee for all of its releases together.
        dataset_statement: the (ε, δ) that the dataset was opened with, or None when it was opened with ρ or μ.
        cap: this release's cap: the guarantee for this release alone.
        statement: the (ε, δ) of release.toml, or None when it states ρ or μ.
        delta: the δ at which ε is reported.
        mechanism: the mechanism's kind and every parameter.
        plan: the ceilings known before the run.
        questions: the settled questions in order of asking.
        settled: what they cost together; information, not the guarantee.
        bounds: how far the synthetic rows may be from the private table, by paid answers alone.
        notes: the mechanism's public facts.
        public_seed: the seed of the public randomness (sampling of rows), hexadecimal.
        output_rows: the number of synthetic rows.
        noise: the name of the source of the privacy noise.
        isolation: where the curator ran.
        software: package name → version.
        runs: every run of the dataset so far, this one included.
        looks: every unpaid look at the dataset so far.
        ledger_entries: the number of entries in the released chain.
        ledger_head: the hash of its last entry, hexadecimal.
        files: the names of the release's files, manifest excluded, sorted.
        domain: what was paid for domains that were not public, or None.
    """

    release_id: str
    dataset: str
    purpose: Purpose
    issuer: str
    day: str
    config: Mapping[str, Json]
    schema: Mapping[str, Json]
    schema_digest: str
    unit: PrivacyUnit
    dataset_cap: Cap
    dataset_statement: EpsilonDelta | None
    cap: Cap
    statement: EpsilonDelta | None
    delta: Fraction
    mechanism: Mapping[str, Json]
    plan: "Plan"
    questions: tuple[QuestionRecord, ...]
    settled: Fraction
    bounds: "ErrorBounds"
    notes: Mapping[str, Json]
    public_seed: str
    output_rows: int
    noise: str
    isolation: Literal["in-process"]
    software: Mapping[str, str]
    runs: tuple[RunSummary, ...]
    looks: tuple[Look, ...]
    ledger_entries: int
    ledger_head: str
    files: tuple[str, ...]
    domain: DomainRecord | None = None

    @property
    def law(self) -> Law:
        """The composition law of the dataset and of every release of it."""
        return self.cap.law
