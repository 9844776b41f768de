"""Tab-PE from file to verified release: tiny tables, every ε, both laws."""

import base64
import json
from fractions import Fraction
from pathlib import Path

import pytest

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.convert import cap_for
from tests.release.small_release import command

SCHEMA = """
[table]
name = "tiny"
max_rows = 60

[[columns]]
name = "ill"
kind = "boolean"
nullable = false
replacement = false

[[columns]]
name = "age"
kind = "integer"
min = 0
max = 99
nullable = true
"""

RELEASE = """
version = 1
dataset = "tiny"
schema = "schema.toml"
data = "private.csv"
[unit]
kind = "row"
[budget]
epsilon = {epsilon}
delta = 1e-6
[mechanism]
kind = "tab-pe"
label = "ill"
{options}
[output]
rows = "noisy"
"""


def released(folder: Path, epsilon: str, law: Law, options: str) -> dict:
    """Release twenty rows, verify the release, and return its manifest's predicate."""
    command(folder, "init", str(folder))
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "release.toml").write_text(RELEASE.format(epsilon=epsilon, options=options), encoding="utf-8")
    rows = "".join(f"{str(row % 3 == 0).lower()},{4 * row if row else ''}\n" for row in range(20))
    (folder / "private.csv").write_text("ill,age\n" + rows, encoding="utf-8")
    command(folder, "keys", "new")
    opened = f"ledger open tiny --unit row --law {law.value} --epsilon {epsilon} --delta 1e-6"
    command(folder, *opened.split())
    command(folder, "run", "--yes")
    release = next((folder / "releases").iterdir())
    command(folder, "verify", str(release))
    envelope = json.loads((release / "manifest.dsse.json").read_text(encoding="utf-8"))
    return json.loads(base64.b64decode(envelope["payload"]))["predicate"]


@pytest.mark.parametrize("epsilon", ["0.001", "1", "100"])
@pytest.mark.parametrize("options", ['preset = "paper"\nrounds = 6', 'start = "model"'])
def test_twenty_rows_and_every_epsilon_are_released_and_the_manifest_states_mu_and_the_curve(
    tmp_path, epsilon, options
):
    """A calibration that searches in brackets fails here."""
    predicate = released(tmp_path, epsilon, Law.GDP, options)
    limit = Cap(cap_for(EpsilonDelta(Fraction(epsilon), Fraction(1, 10**6)), Law.GDP))
    guarantee = predicate["guarantee"]
    assert guarantee["law"] == "gdp"
    assert Fraction(guarantee["release_cap"]["amount"]) == limit.value
    at = {point["delta"]: Fraction(point["epsilon"]) for point in guarantee["release_curve"]}
    assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= at["1/1000000"] <= Fraction(epsilon)
    assert len(at) >= 3
    assert sum(Fraction(question["cost"]) for question in predicate["questions"]) <= limit.value
    assert len(predicate["notes"]["rounds"]) == sum(
        item["question"]["question"] == "votes" for item in predicate["questions"]
    )


def test_the_same_run_in_a_zcdp_ledger_is_stated_at_half_of_mu_squared(tmp_path):
    predicate = released(tmp_path, "1", Law.ZCDP, "rounds = 3")
    assert predicate["guarantee"]["law"] == "zcdp"
    for question in predicate["questions"]:
        event = question["event"]
        mu_squared = Fraction(event["sensitivity_squared"]) / Fraction(event["variance"])
        assert Fraction(question["cost"]) == mu_squared / 2
