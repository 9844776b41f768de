"""Columns whose domains are measured: loading, bounding and counting before they are known, the cast afterwards."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Cap, Rho
from accounting.curator import form, load, private_table
from accounting.curator.measured import MeasuredColumns, count_intervals, count_names, names_above
from accounting.errors import ConfigError
from accounting.ledger import Ledger
from accounting.noise import SeededEntropy
from accounting.planted import PLANTED_NAMES, exact_answer, planted_table
from accounting.queries import Categories, Marginals, Quantiles, Total
from accounting.schema import Schema
from accounting.unit import RowUnit
from tests.accounting.curator.tables import categorical, cells_of, person, schema_of, seeded, write

AGE = {"name": "age", "kind": "integer", "domain": "measured", "min": 0, "max": 99, "bins": 2, "nullable": True}
TOWN = {"name": "town", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True}
SCHEMA = schema_of(categorical("letter"), AGE, TOWN, {"name": "who", "kind": "identifier"})
HEADER = "letter,age,town,who\n"
ROWS = ["a,5,Rome,x", "b,40,Zürich,x", "a,41,Zu\u0308rich,y", "c,,,y", "a,500,other,z", "b,7,bad\x01,z", "a,41,Rome,"]
ALL = Quantiles("age", np.array([[0, 40], [41, 41], [90, 99]]), Fraction(1))
TOWNS = Categories("town", Fraction(1, 10**4), 2, 10)


def loaded(tmp_path, rows=ROWS, unit=None, schema=SCHEMA):
    return load(write(tmp_path / "t.csv", HEADER + "\n".join(rows) + "\n"), schema, unit or RowUnit())


CAP = Cap(Rho(Fraction(10**5)), Fraction(1, 2))


def paid(unit=None):
    ledger = Ledger.in_memory()
    ledger.open_dataset("toy", unit=unit or RowUnit(), cap=CAP)
    return ledger.allot("toy", "toy-1", CAP, purpose="test", noise="test-seeded", context={}, commitment=None)


def towns(rows) -> dict[str, int]:
    names, counts = count_names(TOWNS, rows.measured_for_curator())
    return dict(zip(names, counts.tolist(), strict=True))


def test_values_and_names_are_kept_by_the_public_rules(tmp_path):
    measured = loaded(tmp_path).measured_for_curator()
    assert measured.ticks["age"].tolist() == [5, 40, 41, -1, 99, 7, 41]
    assert measured.ticks["town"].tolist() == [0, 0, 0, -1, 0, 0, 0]
    assert measured.names["town"].texts == ("Rome", "Zürich")
    assert measured.names["town"].places.tolist() == [0, 1, 1, -1, -1, -1, 0]
    assert measured.persons is None


def test_counts_equal_naive_ones(tmp_path):
    rows = loaded(tmp_path)
    assert count_intervals(ALL, rows.measured_for_curator()).tolist() == [3, 2, 1]
    assert towns(rows) == {"Rome": 2, "Zürich": 2}


@pytest.mark.parametrize("size", [0, 1, 50])
def test_intervals_equal_naive_ones_at_random(size):
    rng = np.random.default_rng(size)
    ticks = rng.integers(-1, 100, size)
    cuts = np.sort(rng.choice(100, 20, replace=False)).reshape(-1, 2)
    naive = [sum(low <= tick <= high for tick in ticks.tolist()) for low, high in cuts.tolist()]
    counts = count_intervals(Quantiles("age", cuts, Fraction(1)), MeasuredColumns({"age": ticks}, {}, None))
    assert counts.tolist() == naive
    assert counts.dtype == np.int64


def test_p48_a_person_counts_once_for_a_name_however_many_rows_say_it(tmp_path):
    rows = ["a,1,Rome,x"] * 3 + ["a,1,Oslo,x", "a,1,Rome,y", "a,1,Rome,"]
    assert towns(loaded(tmp_path, rows, person(4))) == {"Oslo": 1, "Rome": 2}
    assert towns(loaded(tmp_path, rows)) == {"Oslo": 1, "Rome": 5}
    assert sum(towns(loaded(tmp_path, rows[:4], person(1))).values()) == 1


def test_p46_which_rows_count_depends_neither_on_order_nor_on_others(tmp_path, monkeypatch):
    monkeypatch.setattr("os.urandom", lambda size: b"k" * size)  # one key for all loads
    mine = [f"a,{age},town {age % 5},x" for age in range(12)]
    others = [f"b,{age},a town before all,y" for age in range(5)]
    alone = loaded(tmp_path, mine, person(3))
    kept = sorted(zip(cells_of(alone, "letter"), alone.measured_for_curator().ticks["age"].tolist(), strict=True))
    assert len(kept) == 3
    for rows in (mine[::-1], [*others, *mine], [*mine[6:], *others, *mine[:6]]):
        both = loaded(tmp_path, rows, person(3))
        pairs = zip(cells_of(both, "letter"), both.measured_for_curator().ticks["age"].tolist(), strict=True)
        assert sorted(pair for pair in pairs if pair[0] == 0) == kept


def test_the_bound_on_rows_tells_names_and_values_apart(tmp_path):
    """Rows that differ in a measured column only are different rows: any of them may be kept."""
    rows = [f"a,1,town {number},x" for number in range(6)] + ["a,1,bad\x02,x"]
    seen = set().union(*(towns(loaded(tmp_path, rows, person(2))) for _ in range(30)))
    assert len(seen) > 3


def test_p23_the_cast_once_the_domain_is_known_is_that_of_the_known_schema(tmp_path):
    rows = loaded(tmp_path)
    known = SCHEMA.with_columns(
        {"age": SCHEMA.column("age").narrowed(6, 41, [41]), "town": SCHEMA.column("town").with_found(["Zürich"])}
    )
    cast = rows.resolved(known)
    assert cast.schema is known
    for name in ("letter", "age", "town"):
        assert cells_of(cast, name) == cells_of(loaded(tmp_path, schema=known), name)
    assert cells_of(cast, "town") == [0, 1, 1, 2, 0, 0, 0]
    assert cast.commit(b"s" * 32) == rows.commit(b"s" * 32)
    assert not cast.measured_for_curator().ticks


def test_rows_are_cast_anew_for_measured_columns_only(tmp_path):
    rows = loaded(tmp_path)
    found = {"age": SCHEMA.column("age").narrowed(0, 9, []), "town": SCHEMA.column("town").with_found([])}
    known = SCHEMA.with_columns(found)
    other = categorical("letter", "ab")
    for schema in (
        SCHEMA,
        SCHEMA.with_columns({"age": found["age"]}),
        known.with_columns({"letter": schema_of(other).columns[0]}),
        Schema(table={"name": "another"}, columns=list(known.declared)),
    ):
        with pytest.raises(ConfigError):
            rows.resolved(schema)


def test_the_commitment_knows_names_apart_and_ignores_order(tmp_path):
    salt = b"s" * 32
    first = loaded(tmp_path).commit(salt)
    assert loaded(tmp_path, ROWS[::-1]).commit(salt) == first
    assert loaded(tmp_path, [row.replace("Rome", "Roma") for row in ROWS]).commit(salt) != first
    assert loaded(tmp_path, [row.replace("Zu\u0308", "Zü") for row in ROWS]).commit(salt) == first


def test_typed_files_give_the_same_names(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = [row.split(",") for row in ROWS]
    table = pa.table({name: [row[place] for row in cells] for place, name in enumerate(HEADER.strip().split(","))})
    pq.write_table(table, tmp_path / "t.parquet")
    typed, text = load(tmp_path / "t.parquet", SCHEMA, person(2)), loaded(tmp_path, unit=person(2))
    assert towns(typed) == towns(text)
    assert typed.commit(b"s" * 32) == text.commit(b"s" * 32)


def test_a_row_with_names_is_estimated_larger():
    plain = schema_of(categorical("letter"), {"name": "who", "kind": "identifier"})
    assert form.bytes_per_row(SCHEMA, RowUnit()) > form.bytes_per_row(plain, RowUnit()) + 400


def test_p10_a_name_leaves_from_the_threshold_on_and_the_largest_first():
    texts, noisy = ("a", "b", "c", "d", "e"), np.array([5, 4, 9, 5, -3])
    above = names_above(Categories("town", Fraction(1), 5, 10), texts, noisy)
    assert (above[0], above[1].tolist()) == (("a", "c", "d"), [5, 9, 5])
    assert names_above(Categories("town", Fraction(1), 5, 2), texts, noisy)[0] == ("a", "c")
    assert names_above(Categories("town", Fraction(1), 10, 2), texts, noisy)[0] == ()
    assert names_above(Categories("town", Fraction(1), 5, 2), (), np.empty(0, dtype=np.int64))[0] == ()


@pytest.mark.parametrize("rows", [[], ["a,,,x"], [f"a,{2**70},{'x' * 200},x", "a,nan,\x7f,x"]])
@pytest.mark.parametrize("unit", [RowUnit(), person(2)])
def test_p28_degenerate_tables_are_answered_like_any_other(tmp_path, rows, unit):
    handle = private_table(loaded(tmp_path, rows, unit), paid(unit), seeded())
    assert handle.ask(ALL).values.shape == (3,)
    found = handle.ask(Categories("town", Fraction(4), 30, 10))
    assert (found.names, found.values.size) == ((), 0)


def test_questions_are_numbered_on_from_the_search_and_the_remainder_goes_on(tmp_path):
    rows, account = loaded(tmp_path), paid()
    first = private_table(rows, account, seeded())
    first.ask(ALL)
    found = first.ask(TOWNS)
    assert dict(zip(found.names, found.values.tolist(), strict=True)) == {"Rome": 2, "Zürich": 2}
    known = SCHEMA.with_columns(
        {"age": SCHEMA.column("age").narrowed(0, 99, []), "town": SCHEMA.column("town").with_found(found.names)}
    )
    second = private_table(rows.resolved(known), account, seeded(), after=first)
    assert second.remaining == first.remaining == 10**5 - Fraction(1, 2) - 5000
    assert second.ask(Total(Fraction(1))).entry > found.entry
    assert account.remaining == first.remaining - Fraction(1, 2)
    with pytest.raises(ConfigError, match="another release"):
        private_table(rows.resolved(known), paid(), seeded(), after=first)
    with pytest.raises(ConfigError, match="another release"):
        private_table(rows.resolved(known), account, seeded(), after=object())


def test_p23_a_value_that_does_not_leave_changes_nothing_but_noise(tmp_path, monkeypatch):
    monkeypatch.setattr("accounting.curator.table.rounded_gaussian", lambda variance, size, _: np.ones(size, np.int64))
    common = ["a,5,Rome,x"] * 9

    def answers(rows):
        handle = private_table(loaded(tmp_path, rows), paid(), seeded())
        found = handle.ask(Categories("town", Fraction(4), 8, 10))
        return found.names, found.values.tolist(), handle.ask(ALL).values.tolist()

    assert answers([*common, "a,5,Atlantis,x"])[0] == answers(common)[0] == ("Rome",)
    assert answers([*common, "a,5,Atlantis,x"])[1] == answers(common)[1]
    assert answers([*common, "a,,Atlantis,x"]) == answers([*common, "a,,,x"])


def test_planted_names_are_ticks_beyond_the_declared_ones():
    schema = schema_of(TOWN)
    ticks = {"town": np.array([0, -1, 1, 1, PLANTED_NAMES])}
    counts = exact_answer(TOWNS, schema, ticks, RowUnit())
    assert counts.tolist() == [2, *[0] * (PLANTED_NAMES - 2), 1]
    with pytest.raises(ConfigError, match="at most"):
        exact_answer(TOWNS, schema, {"town": np.array([PLANTED_NAMES + 1])}, RowUnit())
    handle = planted_table(schema, ticks, RowUnit(), CAP, entropy=SeededEntropy(1))
    assert handle.ask(Categories("town", Fraction(1, 10**4), 2, 9)).names == ("name 0",)


def test_other_questions_are_answered_before_the_domain_is_known(tmp_path):
    handle = private_table(loaded(tmp_path), paid(), seeded())
    assert handle.ask(Total(Fraction(4))).entry > 0
    tables = handle.ask(Marginals((("age",), ("town",)), Fraction(4))).tables
    assert [table.size for table in tables] == [3, 2]


def test_names_of_all_rows_come_sorted_whatever_the_order_of_the_file(tmp_path):
    rows = ["a,1,b,x", "a,1,a,x", "a,1,c,x"]
    assert {
        loaded(tmp_path, order).measured_for_curator().names["town"].texts for order in itertools.permutations(rows)
    } == {("a", "b", "c")}
