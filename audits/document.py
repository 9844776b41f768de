"""``audit.json``: what an audit of a mechanism did and found, versioned; nothing in it comes from a private table."""

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

FORMAT: Final = "dprelease/audit/1"
NO_PROOF: Final = "An audit can refute a claim. A pass is no proof of it."

Verdict = Literal["falsified", "not falsified"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClaimPart(_Part):
    """A claim that error rates can falsify: μ, or the total variation that ρ permits."""

    name: str
    text: str
    value: float
    least_error_rate: float


class PairPart(_Part):
    """The transcript test on one pair of neighbours; bounds at confidence 1 − significance for this pair alone.

    ``lower_bound`` is from all thresholds together, ``lower_bound_apart`` from the two error rates at threshold 0.
    ``pair_value`` is the μ that a perfect attacker of this pair has: Σ‖Δ‖²/σ² and the selections' divergences on
    replay. ``power`` is the chance to catch a mechanism whose noise is half of what it declares.
    """

    pair: str
    runs_each_side: int
    planned_runs_each_side: int
    false_positives: int
    false_negatives: int
    lower_bound: float
    lower_bound_apart: float
    claimed_mu: float
    pair_value: float
    charged_mu: float
    bound_over_value: float | None
    value_over_claim: float
    power: float
    p_values: dict[str, float]
    stopped_early: bool
    verdict: Verdict


class BlackBoxPart(_Part):
    """The test that sees synthetic rows only: the share that equal the unit, threshold chosen on a training part."""

    pair: str
    training_runs_each_side: int
    runs_each_side: int
    false_positives: int
    false_negatives: int
    lower_bound: float
    p_value: float


class ReplayPart(_Part):
    """Record and replay on one pair."""

    pair: str
    questions: int
    largest_share_of_sensitivity: float
    violations: tuple[str, ...]


class GoodnessPart(_Part):
    """One goodness-of-fit test of a sampler."""

    sampler: str
    draws: int
    p_value: float
    verdict: Verdict


class AuditDocument(_Part):
    """The whole audit."""

    format: Literal["dprelease/audit/1"] = FORMAT
    level: Literal["quick", "thorough"]
    mechanism: dict[str, Any]
    law: str
    cap: str
    unit: dict[str, Any]
    columns: tuple[str, ...]
    whole_schema: bool
    neighbouring: str
    significance: float
    claims: tuple[ClaimPart, ...]
    pairs: tuple[PairPart, ...]
    black_box: BlackBoxPart
    replay: tuple[ReplayPart, ...]
    goodness: tuple[GoodnessPart, ...]
    verdict: Verdict
    no_proof: str = NO_PROOF
