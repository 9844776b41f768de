"""Audit a release's output: how alike private and synthetic rows are, and how far attacks get.

The rows come from the caller, who answers for where the result goes. Nothing here is paid for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from accounting.schema import Schema
from audits.output_document import AttackPart, OutputAudit, RowCounts, UtilityPart
from audits.pairs import Ticks, row_count
from audits.results import NotComputable
from audits.utility.marginals import Clique

SEED = 0
"""Of samples, groups, folds and classifiers: a confidential figure repeats exactly."""

MOST_WAYS = 3
MOST_TRANSPORTS = 60
"""The most marginals of several columns whose optimal transport is computed, evenly spread over all of them."""

_NO_HOLDOUT = NotComputable("no held-out rows were given")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What is compared.

    Args:
        schema: of all tables.
        private: ticks of the private rows.
        synthetic: ticks of the synthetic rows.
        held_out: ticks of rows that were not in the private table; None leaves attacks and learning out.
    """

    schema: Schema
    private: Ticks
    synthetic: Ticks
    held_out: Ticks | None = None


def expected_seconds(schema: Schema, rows: int, *, held_out: bool) -> float:
    """Return about how long an audit takes on one core of a usual machine, from public sizes.

    Args:
        schema: of the tables.
        rows: of the synthetic table; the private one is taken for equally long.
        held_out: whether held-out rows are given.
    """
    columns = len(schema.columns)
    pairs, triples = comb(columns, 2), comb(columns, 3)
    marginals = 8e-7 * 2 * rows * (pairs + triples)
    transport = 0.3 * (min(pairs, MOST_TRANSPORTS) + min(triples, MOST_TRANSPORTS))
    learning = 1e-5 * 2 * rows * columns
    attacks = 2.5e-5 * rows * columns if held_out else 0.0
    return 5 + marginals + transport + learning + attacks


def audit_tables(
    tables: Tables,
    *,
    release: str,
    target: str,
    workload: Sequence[tuple[Clique, int]],
    say: Say = lambda _: None,
) -> OutputAudit:
    """Measure and attack a release's output.

    Args:
        tables: the rows.
        release: the release's id.
        target: the column that models learn to predict and that inference guesses.
        workload: the marginals that the release was made for, with whole weights.
        say: is told what is computed next.
    """
    from audits.utility.columns import column_figures, group_figures, pair_figures

    schema, private, synthetic = tables.schema, tables.private, tables.synthetic
    held_out = None if tables.held_out is None else row_count(tables.held_out)
    say("column by column, pair by pair and group by group")
    columns = column_figures(schema, private, synthetic)
    pairs = pair_figures(schema, private, synthetic)
    subgroups = group_figures(schema, private, synthetic)
    return OutputAudit(
        release=release,
        rows=RowCounts(private=row_count(private), synthetic=row_count(synthetic), held_out=held_out),
        columns=columns,
        pairs=pairs,
        subgroups=subgroups,
        utility=_utility(tables, target, workload, say),
        attacks=_NO_HOLDOUT if tables.held_out is None else _attacks(tables, tables.held_out, target, say),
    )


def _utility(tables: Tables, target: str, workload: Sequence[tuple[Clique, int]], say: Say) -> UtilityPart:
    from audits.utility.learning import propensity, train_and_test
    from audits.utility.marginals import (
        Compared,
        correlation_error,
        score_of,
        subsample_yardstick,
        variation,
        workload_error,
    )
    from audits.utility.wasserstein import euclidean_wasserstein

    schema, private, synthetic, held_out = tables.schema, tables.private, tables.synthetic, tables.held_out
    rng = np.random.default_rng(SEED)
    say("marginals of one, two and three columns")
    compared = Compared(schema, private, synthetic) if row_count(private) and row_count(synthetic) else None
    variations = [variation(schema, private, synthetic, ways, compared) for ways in (1, 2, 3)]
    ways = min(MOST_WAYS, len(schema.columns))
    score = score_of(variations[ways - 1])
    error = workload_error(schema, private, synthetic, workload, compared)
    say("like how large a subsample")
    yardstick = (
        score if isinstance(score, NotComputable) else subsample_yardstick(schema, private, score.value, ways, rng)
    )
    say("Wasserstein distances")
    transport = [
        euclidean_wasserstein(schema, private, synthetic, ways, rng, most=MOST_TRANSPORTS) for ways in (1, 2, 3)
    ]
    say("what models learn")
    return UtilityPart(
        variation_1_way=variations[0],
        variation_2_way=variations[1],
        variation_3_way=variations[2],
        wasserstein_1_way=transport[0],
        wasserstein_2_way=transport[1],
        wasserstein_3_way=transport[2],
        workload_error=error,
        correlation_error=correlation_error(schema, private, synthetic),
        marginal_score_ways=ways,
        marginal_score=score,
        like_a_subsample_of=yardstick,
        propensity_mse=propensity(schema, private, synthetic),
        target=target,
        train_synthetic_test_real=_NO_HOLDOUT
        if held_out is None
        else train_and_test(schema, synthetic, held_out, target),
        train_real_test_real=_NO_HOLDOUT if held_out is None else train_and_test(schema, private, held_out, target),
    )


def _attacks(tables: Tables, held_out: Ticks, secret: str, say: Say) -> AttackPart:
    from audits.attacks.guessing import exact_copies, inference, linkability, singling_out
    from audits.attacks.membership import membership, positive_control

    schema, private, synthetic = tables.schema, tables.private, tables.synthetic
    rng = np.random.default_rng(SEED)
    say("attacks")
    return AttackPart(
        secret=secret,
        membership=membership(schema, private, held_out, synthetic, rng),
        membership_positive_control=positive_control(schema, private, held_out, synthetic, rng),
        singling_out=singling_out(schema, private, held_out, synthetic, rng),
        linkability=linkability(schema, private, held_out, synthetic, rng),
        inference=inference(schema, private, held_out, synthetic, secret, rng),
        exact_copies=exact_copies(private, held_out, synthetic),
    )
