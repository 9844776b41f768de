"""Options and presets: every one checked before anything is spent, every one in the manifest."""

from dataclasses import fields
from fractions import Fraction

import pytest

from accounting.budget import Cap, EpsilonDelta, Law, Mu, cap
from accounting.convert import cap_for
from accounting.errors import ConfigError
from accounting.unit import RowUnit
from mechanisms.registry import config_from_table
from mechanisms.tab_pe import TabPEConfig
from tests.mechanisms.fakes import categorical, integer, schema_of

MIXED = schema_of(categorical("y", 2), categorical("a", 3), integer("b", 0, 99))
NUMERIC = schema_of(categorical("y", 2), integer("a", 0, 99), integer("b", 0, 99))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "best"}, "one of recommended, paper"),
        ({"start": "random"}, "one of tables, model, uniform"),
        ({"model": "tab-pe"}, "one of aim-gdp, aim, mst"),
        ({"model_options": {}}, 'needs start = "model"'),
        ({"label": 3}, "name of a column"),
        ({"rounds": 0}, "from 1 to 1000"),
        ({"rounds": True}, "whole number"),
        ({"population": 3}, "from 4"),
        ({"votes": 65}, "from 1 to 64"),
        ({"rounds": 2, "warm_up": 3}, "at most the number of rounds"),
        ({"mutation_first": 2}, "at most 1"),
        ({"mutation_first": 0}, "mutation_first"),
        ({"mutation_first": 0.5}, "mutation_first"),
        ({"mutation_first": Fraction(1, 9), "mutation_last": Fraction(1, 8)}, "at most mutation_first"),
        ({"jitter": 1}, "at most 1/2"),
        ({"opening_share": 1}, "strictly between"),
        ({"ranking": "best"}, "one of weights, votes"),
        ({"reweight": 1}, "true or false"),
        ({"output": "rows"}, "one of candidates, model"),
        ({"output": "model"}, 'only with start = "model"'),
        ({"variation": 3}, "did you mean 'variations'"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        config_from_table("tab-pe", options)


def test_the_paper_preset_is_the_reference():
    paper = TabPEConfig(preset="paper")
    assert (paper.start, paper.rounds, paper.warm_up, paper.votes, paper.variations) == ("uniform", 30, 5, 1, 3)
    assert (paper.mutation_first, paper.mutation_last, paper.mutation_decay) == (
        Fraction(1, 2),
        Fraction(1, 100),
        Fraction(1, 5),
    )
    assert (paper.population, paper.ranking, paper.reweight, paper.jitter) == (1000, "votes", False, 0)
    assert TabPEConfig(preset="paper", votes=4).votes == 4


def test_open_options_follow_the_schema_only():
    assert TabPEConfig(label="y").settled(MIXED).rounds == 2
    assert TabPEConfig(label="y").settled(NUMERIC).rounds == 8
    assert TabPEConfig(label="y", rounds=3).settled(NUMERIC).rounds == 3
    few = schema_of(*(integer(name, 0, 99) for name in "abc"), max_rows=600)
    assert TabPEConfig().settled(few).opening_share == Fraction(9, 10)


def test_after_a_model_the_schema_decides_what_the_rows_are_drawn_from():
    mixed, numeric = (TabPEConfig(label="y", start="model").settled(schema) for schema in (MIXED, NUMERIC))
    assert (mixed.output, mixed.reweight, mixed.opening_share, mixed.rounds) == ("model", True, Fraction(9, 10), 1)
    assert (numeric.output, numeric.reweight, numeric.opening_share, numeric.rounds) == (
        "candidates",
        False,
        Fraction(1, 20),
        8,
    )


def test_the_last_mutation_is_smaller_where_candidates_lie_densely_and_never_above_the_first():
    assert TabPEConfig(label="y").settled(NUMERIC).mutation_last == Fraction(1, 50)
    assert TabPEConfig(label="y").settled(MIXED).mutation_last == Fraction(1, 20)
    small = TabPEConfig(label="y", mutation_first=Fraction(1, 100)).settled(MIXED)
    assert small.mutation_last == small.mutation_first


def test_a_small_domain_is_weighed_by_its_tables():
    small = schema_of(integer("a", 0, 9), integer("b", 0, 9))
    assert TabPEConfig().settled(small).reweight
    assert not TabPEConfig(label="y").settled(NUMERIC).reweight


def test_candidates_beyond_memory_are_refused_before_spending():
    config = TabPEConfig(label="y", rounds=1000, population=2**20)
    with pytest.raises(ConfigError, match=r'ranking = "votes"'):
        config.calibrate(Cap(Mu(1)), RowUnit(), NUMERIC)
    TabPEConfig(label="y", rounds=1000, population=2**20, ranking="votes").calibrate(Cap(Mu(1)), RowUnit(), NUMERIC)


def test_every_parameter_is_written():
    config = config_from_table("tab-pe", {"start": "model", "model_options": {"max_rounds": 4, "degree": 2}})
    written = config.to_json()
    assert set(written) == {item.name for item in fields(TabPEConfig)}
    assert written["model_options"] == {"max_rounds": 4, "degree": 2}
    settled = config.settled(MIXED).to_json()
    assert all(value is not None for name, value in settled.items() if name != "label")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"label": "z"}, "models no column 'z'"), ({"label": "b"}, "100 ordered cells")],
)
def test_a_label_that_does_not_fit_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        TabPEConfig(**options).calibrate(Cap(Mu(1)), RowUnit(), MIXED)


def test_tables_beyond_memory_are_refused_before_spending():
    wide = schema_of(categorical("y", 6000), categorical("a", 6000))
    with pytest.raises(ConfigError, match="36000000 cells"):
        TabPEConfig(label="y").calibrate(Cap(Mu(1)), RowUnit(), wide)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "100"])
def test_every_epsilon_is_planned_to_the_end_without_brackets_that_fail(epsilon):
    """The reference's calibration failed at its own delta for 20 rows."""
    limit = Cap(cap_for(EpsilonDelta(Fraction(epsilon), Fraction(1, 60)), Law.GDP))
    plan = TabPEConfig(preset="paper", label="y").calibrate(limit, RowUnit(), MIXED).plan
    assert plan.total <= limit.value
    assert sum(line.ceiling for line in plan.lines) == plan.total
    assert plan.lines[-1].at_most == 30


@pytest.mark.parametrize("start", ["tables", "model", "uniform"])
@pytest.mark.parametrize("law", list(Law))
def test_the_whole_run_is_planned_before_its_first_question(start, law):
    limit = cap(law, Fraction(1, 7))
    plan = TabPEConfig(label="y", start=start, rounds=5).calibrate(limit, RowUnit(), MIXED).plan
    assert plan.lines[-1].question == "votes"
    assert plan.lines[-1].at_most == 5
    assert plan.total <= limit.value
