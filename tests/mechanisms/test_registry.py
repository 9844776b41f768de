import pickle
import re
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accounting.budget import Law, cap
from accounting.errors import ConfigError
from accounting.noise import SeededEntropy
from accounting.planted import planted_table
from accounting.unit import RowUnit
from mechanisms.registry import KINDS, config_from_table
from tests.audits.subjects import flags

TICKS = {"a": np.array([0, 1] * 20), "b": np.array([0, 0, 1, 1] * 10)}


def test_options_are_read_exactly():
    config = config_from_table(
        "aim",
        {
            "max_rounds": 12,
            "select_fraction": Decimal("0.1"),
            "max_model_size_mb": Decimal("0.5"),
            "one_way_share": "1/3",
            "workload": [["a", "b"], {"columns": ["c"], "weight": Decimal("2.5")}],
        },
    )
    assert config.select_fraction == Fraction(1, 10)
    assert config.max_model_size_mb == Fraction(1, 2)
    assert config.one_way_share == Fraction(1, 3)
    assert config.to_json() == {
        "workload": [{"columns": ["a", "b"], "weight": "1/1"}, {"columns": ["c"], "weight": "5/2"}],
        "degree": None,
        "max_rounds": 12,
        "max_model_size_mb": "1/2",
        "max_marginal_cells": 1_000_000,
        "anneal_factor": 4,
        "select_fraction": "1/10",
        "one_way_share": "1/3",
        "bins": 16,
    }


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((kind, {}) for kind in KINDS),
        ("tab-pe", {"label": "a", "start": "model", "model": "aim", "model_options": {"max_rounds": 3}}),
        ("tab-pe", {"preset": "paper"}),
    ],
)
def test_a_calibrated_mechanism_goes_to_another_process_as_it_is(kind, options):
    schema = flags("a", "b")
    release_cap = cap(Law.GDP, Fraction(1))
    mechanism = config_from_table(kind, options).calibrate(release_cap, RowUnit(), schema)
    sent = pickle.loads(pickle.dumps(mechanism))
    assert sent.config == mechanism.config
    assert sent.config.to_json() == mechanism.config.to_json()
    assert sent.plan == mechanism.plan
    one, other = (
        each.run(
            planted_table(schema, TICKS, RowUnit(), release_cap, entropy=SeededEntropy(3)), np.random.default_rng(2)
        )
        for each in (mechanism, sent)
    )
    assert {name: ticks.tolist() for name, ticks in one.synthetic.ticks.items()} == {
        name: ticks.tolist() for name, ticks in other.synthetic.ticks.items()
    }


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("aimm", {}, "did you mean 'aim'"),
        ("dpgan", {}, "known are"),
        ("aim", {"max_round": 3}, "did you mean 'max_rounds'"),
        ("aim", {"zzz": 3}, "known are workload"),
        ("independent", {"bins": 3}, "it has no options"),
        ("aim", {"max_rounds": 0}, "max_rounds"),
        ("aim", {"max_rounds": True}, "max_rounds"),
        ("aim", {"max_rounds": Decimal(3)}, "max_rounds"),
        ("aim", {"select_fraction": 1}, "between 0 and 1"),
        ("aim", {"select_fraction": 0.1}, "exact number"),
        ("aim", {"select_fraction": Decimal("NaN")}, "exact number"),
        ("aim", {"max_model_size_mb": Decimal("Infinity")}, "exact number"),
        ("aim", {"max_model_size_mb": 0}, "greater than 0"),
        ("aim", {"anneal_factor": 1}, "anneal_factor"),
        ("aim", {"bins": 1}, "bins"),
        ("aim", {"degree": 5}, "degree"),
        ("aim", {"degree": 2, "workload": [["a"]]}, "not both"),
        ("aim", {"workload": []}, "at least one"),
        ("aim", {"workload": "a"}, "list of marginals"),
        ("aim-gdp", {"max_candidates": 0}, "max_candidates"),
        ("mst", {"one_way_share": Decimal("0.5"), "select_share": Decimal("0.5")}, "leave a share"),
    ],
)
def test_wrong_kinds_and_options_are_refused(kind, options, message):
    with pytest.raises(ConfigError, match=message):
        config_from_table(kind, options)


def test_configurations_are_frozen():
    config = config_from_table("aim", {})
    with pytest.raises(AttributeError):
        config.bins = 3


def test_the_documented_options_are_the_options():
    text = (Path(__file__).parents[2] / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    options = text.split("## Options")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([\w\-, ;]+) \|", options, flags=re.MULTILINE)
    documented = {(kind, option) for option, kinds in rows for kind in re.split("[,;] ", kinds)}
    real = {
        (kind, field.name)
        for kind in ("aim", "aim-gdp", "mst", "independent")
        for field in fields(type(config_from_table(kind, {})))
    }
    assert documented == real
