"""The result of an output audit: typed, versioned, and confidential, since private rows were read without paying."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from audits.attacks.guessing import Attack
from audits.attacks.membership import Membership
from audits.results import NotComputable, Result
from audits.utility.columns import ColumnFigures, GroupFigures, PairFigures
from audits.utility.learning import Learnt

FORMAT: Final = "dprelease/confidential-audit/2"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RowCounts(_Part):
    """How many rows each table has; the private numbers are exact."""

    private: int
    synthetic: int
    held_out: int | None


class UtilityPart(_Part):
    """How alike the private and the synthetic table are, figure by figure; docs/audits.md says what each means.

    ``marginal_score`` is over all marginals of ``marginal_score_ways`` columns. Learning needs held-out rows.
    """

    variation_1_way: Result
    variation_2_way: Result
    variation_3_way: Result
    wasserstein_1_way: Result
    wasserstein_2_way: Result
    wasserstein_3_way: Result
    workload_error: Result
    correlation_error: Result
    marginal_score_ways: int
    marginal_score: Result
    like_a_subsample_of: Result
    propensity_mse: Result
    target: str
    train_synthetic_test_real: Learnt | NotComputable
    train_real_test_real: Learnt | NotComputable


class AttackPart(_Part):
    """How far attacks get with the synthetic table, against held-out rows; ``secret`` is what inference guesses."""

    secret: str
    membership: Membership
    membership_positive_control: Membership
    singling_out: Attack
    linkability: Attack
    inference: Attack
    exact_copies: Attack


class OutputAudit(_Part):
    """The whole result of ``audit release``."""

    format: Literal["dprelease/confidential-audit/2"] = FORMAT
    confidential: Literal[True] = True
    release: str
    rows: RowCounts
    columns: tuple[ColumnFigures, ...]
    pairs: tuple[PairFigures, ...]
    subgroups: tuple[GroupFigures, ...]
    utility: UtilityPart
    attacks: AttackPart | NotComputable
