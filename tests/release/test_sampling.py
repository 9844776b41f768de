"""More rows from a release's model, conditional or not, and the noisy marginals as a table; nothing is spent."""

import csv
import json
import shutil

import numpy as np
import pytest

from accounting.errors import ConfigError, VerificationFailed
from accounting.schema import Schema
from mechanisms.fitted import CODING_NAME, MODEL_NAME, FittedModel, read_condition
from release.keys import fingerprint, load_public
from release.marginals import HEADER, MARGINALS_NAME
from release.sampling import sample_release
from tests.cli.shell import manifest
from tests.release.small_release import RELEASE, SCHEMA, command, make_release

CONSTRAINED = SCHEMA + (
    '[[constraints]]\nname = "the young are no members"\nkind = "impossible"\n'
    'when = [{ column = "age", max = 3 }, { column = "member", any_of = [true] }]\n'
)


@pytest.fixture(name="made", scope="module")
def fixture_made(tmp_path_factory):
    """Make a release by MST with a model and noisy marginals, under a constraint."""
    workspace = tmp_path_factory.mktemp("sampling") / "workspace"
    make_release(workspace)
    shutil.rmtree(workspace / "releases")
    (workspace / "schema.toml").write_text(CONSTRAINED, encoding="utf-8")
    text = RELEASE.format(mechanism="mst", formats='["csv"]\nmodel = true\nmarginals = true')
    (workspace / "release.toml").write_text(text, encoding="utf-8")
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    return next((workspace / "releases").iterdir())


@pytest.fixture(name="trusted", scope="module")
def fixture_trusted(made):
    public = load_public(made.parent.parent / "keys" / "signing-key.pub.pem")
    return {fingerprint(public): public}


@pytest.fixture(name="schema")
def fixture_schema():
    return Schema.from_text(CONSTRAINED)


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_sample_meets_the_conditions_and_the_constraints(made, trusted, tmp_path):
    out = tmp_path / "rows.csv"
    sample_release(made, trusted, rows=5000, conditions=["colour=red|green", "age<=5", "age>=2"], out=out)
    rows = read(out)
    assert len(rows) == 5000
    assert {row["colour"] for row in rows} == {"red", "green"}
    assert {int(row["age"]) for row in rows} == {2, 3, 4, 5}
    assert all(row["member"] == "false" for row in rows if int(row["age"]) <= 3)
    assert any(row["member"] == "true" for row in rows)


def test_a_seed_repeats_the_rows_and_another_does_not(made, trusted, tmp_path):
    texts = []
    for number, seed in enumerate((1, 1, 2, None, None)):
        sample_release(made, trusted, rows=50, out=tmp_path / f"{number}.csv", seed=seed)
        texts.append((tmp_path / f"{number}.csv").read_bytes())
    assert texts[0] == texts[1]
    assert len(set(texts)) == 4


def test_the_saved_model_is_the_distribution_of_the_release(made, schema):
    fitted = FittedModel.load(made, schema)
    table = fitted.sample(20_000, np.random.default_rng(0))
    for column in schema.columns:
        expected = fitted.model.marginal((column.name,)) / fitted.model.total
        shares = np.bincount(table.cells(column.name), minlength=column.cells) / table.rows
        assert np.abs(shares - expected).max() < 0.01
    assert fitted.sample(0, np.random.default_rng(0)).rows == 0
    null = fitted.sample(10, np.random.default_rng(0), [read_condition("colour=", schema)])
    assert set(null.ticks["colour"].tolist()) == {-1}


def test_sampling_spends_nothing_and_needs_no_ledger(made, tmp_path):
    workspace, out = tmp_path / "elsewhere", tmp_path / "rows.parquet"
    workspace.mkdir()
    release = shutil.copytree(made, workspace / "release")
    key = made.parent.parent / "keys" / "signing-key.pub.pem"
    command(workspace, "sample", str(release), "--rows", "7", "--out", str(out), "--key", str(key), "--where", "age>=4")
    import pyarrow.parquet as pq

    assert pq.read_table(out).num_rows == 7
    assert sorted(path.name for path in workspace.iterdir()) == ["release"]


def test_the_noisy_marginals_are_every_paid_count_with_its_sigma(made, schema):
    rows = read(made / MARGINALS_NAME)
    assert tuple(rows[0]) == HEADER
    questions = {q["entry"]: q for q in manifest(made)["questions"] if q["question"]["question"] == "marginals"}
    assert {int(row["entry"]) for row in rows} == set(questions)
    for row in rows:
        top, bottom = map(int, questions[int(row["entry"])]["question"]["variance"].split("/"))
        assert float(row["sigma"]) == pytest.approx((top / bottom) ** 0.5)
        assert len(json.loads(row["columns"])) == len(json.loads(row["cell"]))
        assert str(int(row["noisy_count"])) == row["noisy_count"]
    colours = [json.loads(row["cell"])[0] for row in rows if json.loads(row["columns"]) == ["colour"]]
    assert colours == schema.column("colour").labels()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("color=red", "did you mean 'colour'"),
        ("colour=blue", "no declared value"),
        ("colour>=red", "has an order"),
        ("age=10", "no declared value"),
        ("age", "NAME=VALUE"),
    ],
)
def test_a_condition_that_is_none_is_refused(schema, condition, message):
    with pytest.raises(ConfigError, match=message):
        read_condition(condition, schema)


def test_conditions_that_no_row_meets_are_refused_with_the_share(made, trusted, tmp_path):
    with pytest.raises(ConfigError, match="0 of 65536 rows"):
        sample_release(made, trusted, rows=5, conditions=["age<=3", "member=true"], out=tmp_path / "rows.csv")
    assert not list(tmp_path.iterdir())


def test_a_model_that_was_changed_is_not_sampled(made, trusted, tmp_path):
    copy = shutil.copytree(made, tmp_path / "copy")
    for name in (MODEL_NAME, CODING_NAME):
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(VerificationFailed, match=name):
            sample_release(copy, trusted, rows=5, out=tmp_path / "rows.csv")
        (copy / name).write_bytes(content)


def test_nothing_is_overwritten(made, trusted, tmp_path):
    (tmp_path / "rows.csv").write_text("mine")
    with pytest.raises(ConfigError, match="there already"):
        sample_release(made, trusted, rows=5, out=tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "mine"


def test_a_mechanism_without_a_model_refuses_to_keep_one_before_spending(made):
    workspace = made.parent.parent
    text = RELEASE.format(mechanism="independent", formats='["csv"]\nmodel = true')
    (workspace / "other.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="model = true needs a mechanism"):
        command(workspace, "run", str(workspace / "other.toml"), "--yes")
    assert len(list((workspace / "releases").iterdir())) == 1


def test_a_release_without_a_model_says_how_to_get_one(schema, tmp_path):
    with pytest.raises(ConfigError, match="model = true"):
        FittedModel.load(tmp_path, schema)


def test_the_model_file_tells_no_time(made):
    import zipfile

    with zipfile.ZipFile(made / MODEL_NAME) as file:
        assert {item.date_time for item in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
