"""Record and replay of every question of every mechanism: on worst-case and random neighbours, under both laws.

And what a question counts depends on the rows alone: not on their order, the size of a kernel's blocks, the number of
threads, or how a file spells what the schema casts.
"""

import csv
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import accounting.curator.counting
from accounting.budget import Cap, Law, Mu, Rho, cap
from accounting.curator import load, private_table
from accounting.curator.voting import count_votes
from accounting.ledger import Ledger
from accounting.planted import SeededEntropy, planted_table
from accounting.queries import QUERY_TYPES, Total, Votes
from accounting.schema import Schema
from accounting.unit import PersonUnit, RowUnit
from audits.pairs import make_pair, random_pair, worst_case_pairs
from audits.recording import RecordingTable
from audits.replay import check_question, curator_exact, record, record_and_replay
from audits.transcript.kernels import NaiveTable
from mechanisms.domain import DomainSearch
from mechanisms.registry import KINDS
from tests.audits.subjects import calibrated, mixed

UNITS = {"row": RowUnit(), "person": PersonUnit("id", 3)}
AMOUNT = Fraction(1, 2)


class AsksTotal:
    """Stands in for a mechanism that asks for the number of rows, since none of ours does."""

    def __init__(self, release_cap):
        self.variance = Fraction(9) / release_cap.value

    def run(self, table, _rng):
        return SimpleNamespace(
            notes={"total": table.ask(Total(self.variance)).value}, synthetic=SimpleNamespace(ticks={})
        )


class Searches:
    """A search for measured domains, in the form of a mechanism."""

    def __init__(self, schema, unit, release_cap):
        self.search = DomainSearch(schema, unit, release_cap)

    def run(self, table, _rng):
        found = self.search.run(table)
        return SimpleNamespace(notes=found.schema.to_json(), synthetic=SimpleNamespace(ticks={}))


def measured_domains(*, person):
    columns = [
        {"name": "hours", "kind": "integer", "domain": "measured", "min": 0, "max": 4000, "bins": 4, "nullable": True},
        {"name": "town", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True},
    ]
    identifier = [{"name": "id", "kind": "identifier"}] if person else []
    return Schema(table={"name": "measured"}, columns=[*identifier, *columns])


def subject(kind, law, unit):
    """A mechanism, its cap and the pairs that it is replayed on."""
    person = isinstance(unit, PersonUnit)
    if kind == "domain":
        schema = measured_domains(person=person)
        amount = Mu(Fraction(4)) if law is Law.GDP else Rho(Fraction(2))
        release_cap = Cap(amount, Fraction(1, 10**5))
        common = [{"hours": 40 + n % 3, "town": 1 + n % 2} for n in range(600)]
        rare = [{"hours": 3999, "town": 5}, {"hours": -1, "town": -1}, {"hours": 41, "town": 6}][: unit.max_rows]
        return Searches(schema, unit, release_cap), release_cap, (make_pair("names", schema, unit, common, rare),)
    schema = mixed(person=person)
    pairs = (*worst_case_pairs(schema, unit), random_pair(schema, unit, 40, np.random.default_rng(11)))
    if kind == "total":
        release_cap = cap(law, AMOUNT)
        return AsksTotal(release_cap), release_cap, pairs
    return *calibrated(kind, schema, law=law, unit=unit), pairs


SUBJECTS = (*KINDS, "total", "domain")


@pytest.mark.parametrize("kind", SUBJECTS)
@pytest.mark.parametrize(("law", "unit"), [(Law.ZCDP, "row"), (Law.GDP, "person")])
def test_every_question_keeps_its_sensitivity_its_price_and_its_course(kind, law, unit):
    mechanism, release_cap, pairs = subject(kind, law, UNITS[unit])
    for pair in pairs:
        report = record_and_replay(mechanism, release_cap, pair, entropy=SeededEntropy(6))
        assert report.violations == ()
        assert report.questions >= 2
        assert report.largest_share <= 1


@pytest.fixture(scope="module")
def questions():
    """Every question that one run of every subject asks, with the pair it was asked on."""
    found = []
    for kind in SUBJECTS:
        mechanism, release_cap, pairs = subject(kind, Law.ZCDP, UNITS["person"])
        recorded = record(mechanism, release_cap, pairs[-1], pairs[-1].present, entropy=SeededEntropy(3), seed=1)
        found += [(step.query, pairs[-1]) for step in recorded.steps]
    return found


def test_every_kind_of_question_is_replayed(questions):
    assert {type(query) for query, _ in questions} == set(QUERY_TYPES)


def test_a_question_counts_the_same_in_any_order_of_the_rows(questions):
    for query, pair in questions:
        rows, order = pair.present, np.random.default_rng(5).permutation(pair.present.count)
        ids = None if rows.ids is None else tuple(rows.ids[place] for place in order)
        turned = type(rows)({name: ticks[order] for name, ticks in rows.ticks.items()}, ids)
        assert curator_exact(query, pair, turned) == curator_exact(query, pair, rows)


@pytest.mark.parametrize("block", [1, 3, 64])
def test_a_question_counts_the_same_in_blocks_of_any_size(questions, block, monkeypatch):
    expected = [curator_exact(query, pair, pair.present) for query, pair in questions]
    monkeypatch.setattr(accounting.curator.counting, "_BLOCK", block)
    monkeypatch.setattr(
        "accounting.planted.count_votes", lambda query, cells, schema: count_votes(query, cells, schema, block=block)
    )
    assert [curator_exact(query, pair, pair.present) for query, pair in questions] == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_question_counts_the_same_with_any_number_of_threads(questions, threads):
    with threadpool_limits(threads):
        for query, pair in questions:
            assert curator_exact(query, pair, pair.present) == NaiveTable(pair.schema, pair.present).exact(query)


def test_votes_count_the_same_on_one_of_torchs_devices(questions, monkeypatch):
    votes = [(query, pair) for query, pair in questions if isinstance(query, Votes)]
    assert votes
    expected = [curator_exact(query, pair, pair.present) for query, pair in votes]
    monkeypatch.setattr(
        "accounting.planted.count_votes", lambda query, cells, schema: count_votes(query, cells, schema, device="cpu")
    )
    assert [curator_exact(query, pair, pair.present) for query, pair in votes] == expected


@pytest.mark.parametrize("kind", SUBJECTS)
@pytest.mark.parametrize("unit", list(UNITS))
def test_no_rows_are_a_legal_table_for_every_question(kind, unit):
    mechanism, release_cap, pairs = subject(kind, Law.ZCDP, UNITS[unit])
    schema = pairs[0].schema
    rows = [{column.name: 0 for column in schema.columns}]
    pair = make_pair("no rows", schema, UNITS[unit], [], rows)
    assert record_and_replay(mechanism, release_cap, pair, entropy=SeededEntropy(1)).violations == ()


def test_people_with_all_their_rows_in_one_cell_move_every_question_by_its_whole_sensitivity():
    schema, unit = mixed(person=True), UNITS["person"]
    row = {"a": 1, "age": 7, "c": 2}
    pair = make_pair("k rows", schema, unit, [{**row, "a": 0}] * 6, [row] * 3)
    mechanism, release_cap = calibrated("independent", schema, unit=unit)
    recorded = record(mechanism, release_cap, pair, pair.present, entropy=SeededEntropy(1), seed=0)
    naive = (NaiveTable(schema, pair.absent), NaiveTable(schema, pair.present))
    assert check_question(recorded.steps[0].query, pair, naive) == (pytest.approx(1), [])


CLEAN = [("p1", 1, 40, 2), ("p1", 1, 40, 2), ("p2", -1, -1, 0), ("p3", 0, 0, 0), ("p4", 0, 40, 0), ("p5", -1, 17, 1)]
MESSY = [
    ("p1", "true", "inf", "z"),
    ("p1", "true", "1e9", "z"),
    ("p2", "", "NaN", ""),
    ("p3", "false", "-inf", "unheard of"),
    ("p4", "false", "99999999999999999999", "x"),
    ("p5", "perhaps", "17", "y"),
]


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
@pytest.mark.parametrize("turned", [False, True], ids=["as it is", "permuted"])
def test_a_file_of_infinities_nulls_and_unknown_texts_is_the_table_it_is_cast_to(kind, turned, tmp_path):
    schema, unit = mixed(person=True), UNITS["person"]
    mechanism, release_cap = calibrated(kind, schema, unit=unit)
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([schema.header, *(MESSY[::-1] if turned else MESSY)])
    ledger = Ledger.in_memory()
    ledger.open_dataset("file", unit=unit, cap=release_cap)
    account = ledger.allot(
        "file", "file", release_cap, purpose="audit", noise="test-seeded", context={}, commitment=None
    )
    from_file = RecordingTable(private_table(load(path, schema, unit), account, SeededEntropy(4)))
    ids, *columns = zip(*CLEAN, strict=True)
    ticks = {column.name: np.array(values) for column, values in zip(schema.columns, columns, strict=True)}
    planted = RecordingTable(planted_table(schema, ticks, unit, release_cap, entropy=SeededEntropy(4), ids=ids))
    made = [mechanism.run(table, np.random.default_rng(2)).synthetic for table in (from_file, planted)]
    assert all(np.array_equal(made[0].ticks[name], values) for name, values in made[1].ticks.items())
    for one, other in zip(from_file.steps, planted.steps, strict=True):
        assert type(one.answer) is type(other.answer)
        assert np.array_equal(np.concatenate(_flat(one.answer)), np.concatenate(_flat(other.answer)))


def _flat(answer):
    """An answer's numbers, whatever its kind."""
    found = next(getattr(answer, name) for name in ("tables", "values", "index", "value") if hasattr(answer, name))
    parts = found if isinstance(found, tuple) else [found]
    return [np.atleast_1d(part).ravel() for part in parts]
