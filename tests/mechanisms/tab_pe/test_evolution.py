"""Whole runs on the curator's own handle: what they ask, what they give, how they go on, what they never show."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import mechanisms.tab_pe
from accounting.budget import Cap, Law, Mu, cap
from accounting.curator import load, private_table
from accounting.errors import BudgetRefused, ConfigError, DpReleaseError, QueryRefused
from accounting.ledger import Ledger
from accounting.noise import OsEntropy, SeededEntropy
from accounting.planted import exact_answer, planted_table
from accounting.queries import Votes, answer_to_bytes, query_digest
from accounting.unit import PersonUnit, RowUnit
from mechanisms.tab_pe import TabPEConfig, evolution
from mechanisms.tab_pe.space import embedding
from tests.mechanisms.fakes import NumpyTable, categorical, integer, schema_of

SCHEMA = schema_of(categorical("y", 2), integer("a", 0, 99), integer("b", 0, 99, nullable=True))
CAP = Cap(Mu(4))
SMALL = {"label": "y", "population": 60, "rounds": 3}


def parity(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 100, rows), rng.integers(0, 100, rows)
    return {"y": ((a > 49) ^ (b > 49)).astype(np.int64), "a": a, "b": b}


class Seen:
    """Keep the questions that pass a handle."""

    def __init__(self, table):
        self._table, self.asked, self.answers = table, [], []
        self.schema = table.schema

    @property
    def remaining(self):
        return self._table.remaining

    def ask(self, query):
        self.asked.append(query)
        self.answers.append(self._table.ask(query))
        return self.answers[-1]


def run(ticks, *, limit=CAP, unit=None, ids=None, seed=0, rows=None, entropy=None, **options):
    unit = unit or RowUnit()
    mechanism = TabPEConfig(**(SMALL | options)).calibrate(limit, unit, SCHEMA)
    table = Seen(planted_table(SCHEMA, ticks, unit, limit, entropy=entropy or SeededEntropy(seed), ids=ids))
    return mechanism, table, mechanism.run(table, np.random.default_rng(seed), rows=rows)


def votes_of(table: Seen) -> list[tuple[Votes, np.ndarray]]:
    pairs = zip(table.asked, table.answers, strict=True)
    return [(query, answer.values) for query, answer in pairs if isinstance(query, Votes)]


def test_structure_beyond_pairs_is_kept():
    """Parity of two signs: no pair of columns says anything."""
    schema = SCHEMA
    mechanism = TabPEConfig(label="y", population=1000).calibrate(CAP, RowUnit(), schema)
    table = planted_table(schema, parity(5000), RowUnit(), CAP, entropy=SeededEntropy(3))
    made = mechanism.run(table, np.random.default_rng(3)).synthetic.ticks
    known = made["b"] >= 0
    right = ((made["a"] > 49) ^ (made["b"] > 49)) == made["y"]
    assert np.mean(right[known]) > 0.93
    assert np.mean(made["y"]) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("start", ["tables", "model", "uniform"])
@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize("label", ["y", None])
def test_every_start_spends_its_cap_exactly_and_keeps_the_domain(start, law, label):
    limit = cap(law, Fraction(1, 3))
    mechanism, table, result = run(parity(200), limit=limit, start=start, label=label, rounds=2)
    assert sum(asked.cost for asked in result.transcript) == mechanism.plan.total == limit.value - table.remaining
    assert len(votes_of(table)) == 2
    assert [asked.answer for asked in result.transcript] == table.answers
    for column in SCHEMA.columns:
        column.text_of_ticks(result.synthetic.ticks[column.name])
    json.dumps(result.notes)


def test_the_paper_preset_runs_its_warm_up_and_its_ranks():
    _, table, result = run(parity(300), preset="paper", rounds=8, population=40)
    cast = votes_of(table)
    assert len(cast) == 8
    assert all(query.votes == 1 for query, _ in cast)
    before, after = cast[6][0].candidates, cast[7][0].candidates
    kept = {tuple(row) for row in before.tolist()} & {tuple(row) for row in after.tolist()}
    assert len(kept) >= 40 // 4  # parents stay when ranked
    assert len(result.notes["rounds"]) == 8


@pytest.mark.parametrize("rows", [0, 1, 20])
def test_p28_tiny_tables_and_empty_labels_are_answered(rows):
    """Every label still gets its noise, and nothing fails."""
    ticks = parity(rows) | {"y": np.zeros(rows, dtype=np.int64)}
    mechanism, _, result = run(ticks)
    assert sum(asked.cost for asked in result.transcript) == mechanism.plan.total
    assert result.synthetic.rows >= 0


def test_a_declared_number_of_rows_is_written():
    assert run(parity(100), rows=7)[2].synthetic.rows == 7
    assert run(parity(100), rows=0)[2].synthetic.rows == 0
    few = schema_of(categorical("y", 2), integer("a", 0, 99), max_rows=5)
    mechanism = TabPEConfig(label="y", start="model", population=50, rounds=1).calibrate(CAP, RowUnit(), few)
    ticks = {name: parity(9)[name] for name in "ya"}
    made = mechanism.run(NumpyTable(few, ticks, CAP), np.random.default_rng(0))
    assert made.synthetic.rows <= 5


class TestResume:
    """The candidates after each round follow from the stored answers and the public seed: they are the checkpoint."""

    HEADER = "y,a,b\n"

    def rows(self, folder: Path, seed: int = 0):
        ticks = parity(80, seed)
        lines = zip(*(column.text_of_ticks(ticks[column.name]) for column in SCHEMA.columns), strict=True)
        (folder / "t.csv").write_text(self.HEADER + "".join(",".join(line) + "\n" for line in lines))
        return load(folder / "t.csv", SCHEMA, RowUnit())

    def account(self, ledger: Ledger):
        ledger.open_dataset("toy", unit=RowUnit(), cap=CAP)
        return ledger.allot("toy", "toy-1", CAP, purpose="test", noise="test-seeded", context={}, commitment=None)

    @pytest.mark.parametrize("asked", range(SMALL["rounds"] + 1))
    @pytest.mark.parametrize("charged", [False, True])
    def test_p16_a_run_stopped_in_any_round_goes_on_from_its_answers_and_never_pays_twice(
        self, tmp_path, asked, charged
    ):
        """Stopped before the charge, or after the answer was stored and before the mechanism saw it."""
        ledger, rows = Ledger.in_memory(), self.rows(tmp_path)
        account = self.account(ledger)
        mechanism = TabPEConfig(**SMALL).calibrate(CAP, RowUnit(), SCHEMA)

        class Stopped(Seen):
            def ask(self, query):
                if len(self.asked) == asked:
                    if charged:
                        super().ask(query)
                    raise KeyboardInterrupt
                return super().ask(query)

        first = Stopped(private_table(rows, account, SeededEntropy(1)))
        with pytest.raises(KeyboardInterrupt):
            mechanism.run(first, np.random.default_rng(5))
        spent = ledger.dataset("toy").releases[0].settled
        stored = first.answers[: asked + charged]
        whole = Seen(private_table(rows, account, SeededEntropy(2)))
        result = mechanism.run(whole, np.random.default_rng(5))
        after = ledger.dataset("toy").releases[0].settled
        assert spent <= after == mechanism.plan.total
        assert len(whole.asked) == SMALL["rounds"] + 1  # no round is skipped
        for old, new in zip(stored, whole.answers, strict=False):
            assert answer_to_bytes(old) == answer_to_bytes(new)
        again = mechanism.run(private_table(rows, ledger.resume("toy-1"), SeededEntropy(99)), np.random.default_rng(5))
        assert ledger.dataset("toy").releases[0].settled == after
        assert all(
            np.array_equal(again.synthetic.ticks[name], result.synthetic.ticks[name]) for name in result.synthetic.ticks
        )
        settled = {entry.number for entry in ledger.entries("toy") if entry.body["kind"] == "settled"}
        assert {item["entry"] for item in result.notes["rounds"]} <= settled

    def test_p16_another_seed_or_ledger_is_refused_and_spends_nothing(self, tmp_path):
        ledger, rows = Ledger.in_memory(), self.rows(tmp_path)
        account = self.account(ledger)
        mechanism = TabPEConfig(**SMALL).calibrate(CAP, RowUnit(), SCHEMA)
        mechanism.run(private_table(rows, account, SeededEntropy(1)), np.random.default_rng(5))
        before = ledger.dataset("toy").releases[0].granted
        with pytest.raises(QueryRefused):
            mechanism.run(private_table(rows, account, SeededEntropy(1)), np.random.default_rng(6))
        assert ledger.dataset("toy").releases[0].granted == before
        with pytest.raises(DpReleaseError):
            Ledger.in_memory().resume("toy-1")

    def test_p16_the_round_after_the_last_is_refused(self, tmp_path):
        ledger, rows = Ledger.in_memory(), self.rows(tmp_path)
        table = Seen(private_table(rows, self.account(ledger), SeededEntropy(1)))
        TabPEConfig(**SMALL).calibrate(CAP, RowUnit(), SCHEMA).run(table, np.random.default_rng(5))
        with pytest.raises(BudgetRefused):
            table.ask(table.asked[-1])


class TestFaults:
    def test_p24_p26_nothing_is_taken_from_the_table_before_it_is_paid_for(self):
        """Label shares, label set, bounds, nulls: the plan and the first question are the same for every table."""
        first, second = parity(200), parity(50, seed=9)
        second["y"][:] = 1
        second["a"][:] = 7
        second["b"][:] = -1
        (one, asked_one, _), (two, asked_two, _) = run(first), run(second)
        assert one.plan == two.plan
        assert query_digest(asked_one.asked[0]) == query_digest(asked_two.asked[0])
        for name, placement in embedding(SCHEMA, "y", Fraction(1)).items():
            for table in (asked_one, asked_two):
                placed = votes_of(table)[0][0].embedding[name]
                assert np.array_equal(placed.coordinates, placement.coordinates)

    def test_p25_the_number_of_rows_is_the_noisy_one(self):
        rows = [run(parity(200), seed=seed, limit=Cap(Mu(Fraction(1, 100))))[2].synthetic.rows for seed in range(4)]
        assert len(set(rows)) > 1

    def test_p27_clean_votes_are_in_no_result_and_no_note(self):
        ticks = parity(200)
        _, table, result = run(ticks, limit=Cap(Mu(Fraction(1, 2))))
        for query, noisy in votes_of(table):
            clean = exact_answer(query, SCHEMA, ticks, RowUnit())
            assert clean.sum() <= query.votes * 200
            assert not np.array_equal(noisy, clean)
            assert str(clean.tolist()) not in json.dumps(result.notes)
        assert all(set(item) == {"entry", "candidates", "number"} for item in result.notes["rounds"])

    def test_p31_votes_are_integers_and_the_noise_is_scaled_not_the_votes(self):
        unit = PersonUnit("id", 3)
        schema = schema_of({"name": "id", "kind": "identifier"}, categorical("y", 2), integer("a", 0, 99))
        mechanism = TabPEConfig(**SMALL).calibrate(CAP, unit, schema)
        ticks = {name: parity(90)[name] for name in "ya"}
        ids = [str(row // 3) for row in range(90)]
        table = Seen(planted_table(schema, ticks, unit, CAP, entropy=SeededEntropy(0), ids=ids))
        mechanism.run(table, np.random.default_rng(0))
        for query, noisy in votes_of(table):
            assert noisy.dtype == np.int64
            assert isinstance(query.variance, Fraction)
            assert exact_answer(query, schema, ticks, unit, ids).max() >= 1
        share = sum(Fraction(9 * query.votes) / query.variance for query, _ in votes_of(table))
        assert share == mechanism.plan.lines[-1].ceiling

    def test_p34_privacy_noise_never_comes_from_the_public_generator(self):
        ticks = parity(100)
        one, two = (run(ticks, seed=4, entropy=OsEntropy())[1].answers[0].tables[0] for _ in range(2))
        assert not np.array_equal(one, two)
        for path in Path(mechanisms.tab_pe.__file__).parent.glob("*.py"):
            assert not re.search(r"np\.random\.(?!Generator)", path.read_text(encoding="utf-8"))

    def test_p41_a_run_does_not_change_when_rows_come_in_another_order(self):
        ticks = parity(150)
        order = np.random.default_rng(1).permutation(150)
        one = run(ticks)[2].synthetic.ticks
        other = run({name: values[order] for name, values in ticks.items()})[2].synthetic.ticks
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_same_run_costs_half_of_mu_squared_in_a_zcdp_ledger():
    one, other = (
        run(parity(100), limit=limit)[2].transcript for limit in (cap(Law.GDP, Fraction(2)), cap(Law.ZCDP, Fraction(1)))
    )
    assert [asked.cost for asked in one] == [2 * asked.cost for asked in other]
    assert np.array_equal(one[0].answer.tables[0], other[0].answer.tables[0])  # the same noise for the same price


def test_rows_are_drawn_from_the_model_where_the_schema_mixes_and_weighed_by_votes():
    """Parity of two signs: a model of pairs does not hold it, the votes of one round say it."""
    schema = schema_of(categorical("y", 2), categorical("s", 2), categorical("t", 2), integer("a", 0, 99))
    rng = np.random.default_rng(1)
    ticks = {"s": rng.integers(0, 2, 4000), "t": rng.integers(0, 2, 4000), "a": rng.integers(0, 100, 4000)}
    ticks["y"] = ticks["s"] ^ ticks["t"]
    right = {}
    for output in ("model", "candidates"):
        config = TabPEConfig(
            label="y", start="model", model_options={"degree": 2}, opening_share=Fraction(1, 2), output=output
        )
        mechanism = config.calibrate(CAP, RowUnit(), schema)
        table = planted_table(schema, ticks, RowUnit(), CAP, entropy=SeededEntropy(2))
        result = mechanism.run(table, np.random.default_rng(2))
        made = result.synthetic.ticks
        right[output] = np.mean((made["s"] ^ made["t"]) == made["y"])
        assert abs(result.synthetic.rows - 4000) < 40
        assert np.abs(np.bincount(made["a"] // 25, minlength=4) / 4000 - 0.25).max() < 0.03
    assert right["model"] > 0.9
    assert right["candidates"] > 0.9


def test_large_outputs_are_weighed_part_by_part(monkeypatch):
    monkeypatch.setattr(evolution, "_PART", 100)
    made = run(parity(300), start="model", output="model", rounds=1, rows=350)[2].synthetic
    assert made.rows == 350
    assert np.mean(made.ticks["y"]) == pytest.approx(0.5, abs=0.1)


def test_one_column_is_counted_and_not_voted_on():
    schema = schema_of(integer("a", 0, 9))
    mechanism = TabPEConfig(label="a").calibrate(CAP, RowUnit(), schema)
    assert [line.question for line in mechanism.plan.lines] == ["marginals"]
    result = mechanism.run(NumpyTable(schema, {"a": np.arange(10).repeat(20)}, CAP), np.random.default_rng(0))
    assert np.abs(np.bincount(result.synthetic.ticks["a"], minlength=10) - 20).max() < 8


def test_a_table_of_another_schema_is_refused():
    mechanism = TabPEConfig(**SMALL).calibrate(CAP, RowUnit(), SCHEMA)
    other = schema_of(categorical("y", 3), integer("a", 0, 99))
    ticks = {name: parity(9)[name] for name in "ya"}
    with pytest.raises(ConfigError, match="schema"):
        mechanism.run(NumpyTable(other, ticks, CAP), np.random.default_rng(0))
