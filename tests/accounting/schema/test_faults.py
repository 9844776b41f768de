"""Faults and inputs that broke comparable tools, as far as the schema can prevent them, rebuilt small."""

import inspect

import numpy as np
import pyarrow as pa
import pytest

from accounting.errors import SchemaError
from accounting.schema import NULL, Problem, Schema
from accounting.schema.schema import KINDS
from tests.accounting.schema.building import LEAST, column, keys, schema, ticks

MODELLED = [kind for kind in LEAST if kind != "identifier"]
REPLACEMENT = {"categorical": "a", "boolean": False, "integer": 0, "real": 0, "date": "2000-01-01",
               "datetime": "2000-01-01T00:00:00"}  # fmt: skip
NULLS = ["", "", ""]


def test_p18_both_bounds_count():
    known = column("integer", min=0, max=100)
    assert known.ticks == 101
    assert ticks(known, "-5", "105") == [0, 100]
    assert known.text_of_ticks([0, 100]) == ["0", "100"]
    with pytest.raises(SchemaError, match="lies above"):
        column("integer", min=100, max=0)


@pytest.mark.parametrize("kind", ["integer", "real", "date", "datetime"])
@pytest.mark.parametrize("bound", ["min", "max"])
def test_p20_a_missing_bound_is_refused(kind, bound):
    with pytest.raises(SchemaError, match=f"{bound!r} is missing; add the line {bound} = …; a bound is public"):
        column(kind, **{bound: None})


def test_p20_missing_categories_and_cells_are_refused():
    with pytest.raises(SchemaError, match="'categories' is missing"):
        column("categorical", categories=None)
    with pytest.raises(SchemaError, match="needs cells"):
        column("real", bins=None)


@pytest.mark.parametrize("kind", MODELLED)
def test_p23_no_private_value_changes_a_column(kind):
    """Casting, whatever the values, changes nothing that the schema publishes."""
    known = column(kind)
    before = (known.ticks, known.cells, known.null_cell, known.labels()[:50], schema(keys(kind)).digest)
    for texts in (["rare"], [], [""] * 5, ["a", "5", "true", "2000-01-02", "2000-01-01 00:01:00"] * 2):
        known.ticks_of_text(texts)
        known.problems_of_text(texts)
        known.ticks_of_values([*texts, None, 7])
        after = (
            known.ticks,
            known.cells,
            known.null_cell,
            known.labels()[:50],
            Schema(table={"name": "t"}, columns=[known]).digest,
        )
        assert after == before


def test_p23_a_schema_comes_from_declarations_only():
    """No way to make a schema takes rows: only TOML, JSON and keys."""
    makers = {
        name
        for name, _ in inspect.getmembers(Schema, inspect.ismethod)
        if name.startswith("from_") and name != "from_orm"
    }
    assert makers == {"from_toml", "from_text", "from_json"}
    assert all(not hasattr(kind, "fit") for kind in KINDS.values())


@pytest.mark.parametrize("kind", MODELLED)
def test_p26_the_null_cell_exists_by_declaration_only(kind):
    nullable, sure = column(kind), column(kind, nullable=False, replacement=REPLACEMENT[kind])
    assert nullable.cells == sure.cells + 1
    assert nullable.null_cell == sure.cells
    assert sure.null_cell is None
    for texts in (["a"], NULLS):
        nullable.ticks_of_text(texts)
        assert nullable.cells == sure.cells + 1


@pytest.mark.parametrize("kind", MODELLED)
def test_p26_the_fill_value_is_declared_and_never_a_row(kind):
    known = column(kind, nullable=False, replacement=REPLACEMENT[kind])
    last = known.text_of_ticks([known.ticks - 1])
    assert known.ticks_of_text([*last * 5, *NULLS, "\x00"]).tolist() == [known.ticks - 1] * 5 + [0] * 4


@pytest.mark.parametrize("kind", MODELLED)
def test_p28_no_value_makes_a_cast_fail(kind):
    texts = ["", "x" * 10**5, "\x00", "\ud800", "9" * 10**5, "1e" + "9" * 10**4, "0" * 10**5, "," * 50, "'", "\r\n"]
    for known in (column(kind), column(kind, nullable=False, replacement=REPLACEMENT[kind])):
        assert known.ticks_of_text(texts).size == len(texts)


@pytest.mark.parametrize("kind", MODELLED)
def test_p28_a_cast_quotes_no_value(kind, capfd, caplog):
    with caplog.at_level(0):
        column(kind).ticks_of_text(["canary-7f3a", "canary-7f3b"])
    assert "canary" not in "".join(capfd.readouterr()) + caplog.text


@pytest.mark.parametrize("kind", MODELLED)
def test_a1_a_column_that_is_not_nullable_can_never_write_null(kind):
    known = column(kind, nullable=False, replacement=REPLACEMENT[kind])
    written = known.text_of_ticks(known.ticks_of_text(["", "nan", "?", "NULL"]))
    assert "" not in written
    assert None not in known.values_of_ticks(known.ticks_of_values([None, float("nan")]))


@pytest.mark.parametrize("kind", MODELLED)
def test_a2_a_column_of_nulls_is_an_ordinary_column(kind):
    known = column(kind)
    for values in (
        pa.array([None] * 4),
        pa.array([None] * 4, pa.float64()),
        np.array([None] * 4, dtype=object),
        np.full(4, np.nan),
    ):
        assert known.ticks_of_values(values).tolist() == [NULL] * 4
    assert known.cell_of_tick(known.ticks_of_text(NULLS)).tolist() == [known.null_cell] * 3
    sure = column(kind, nullable=False, replacement=REPLACEMENT[kind])
    assert sure.ticks_of_text(NULLS).tolist() == [0] * 3
    assert sure.problems_of_text(NULLS) == {Problem.NULL: 3}


def test_a4_null_is_a_cell_of_its_own():
    known = column("real", bins=2)
    counts = np.bincount(known.cell_of_tick(known.ticks_of_text([""] * 9 + ["1"])), minlength=known.cells)
    assert counts.tolist() == [1, 0, 9]


def test_a10_the_header_is_the_schema_s():
    table = schema(
        keys("integer", name="b"), keys("identifier", name="id"), keys("boolean", name="a"), keys("real", name="empty")
    )
    assert table.header == ("b", "id", "a", "empty")
    assert [known.name for known in table.columns] == ["b", "a", "empty"]


def test_b4_integers_with_nulls_or_sentinels_are_written_as_integers():
    known = column("integer", max=999, null_strings=["", "unknown"])
    read = known.ticks_of_values(np.array([486.0, np.nan]))
    assert known.text_of_ticks(read) == ["486", ""]
    assert known.text_of_ticks(known.ticks_of_text(["486", "unknown"])) == ["486", ""]


def test_b6_a_column_of_true_and_false_is_boolean_and_not_a_date():
    known = column("boolean", true_values=["TRUE"], false_values=["FALSE"])
    assert known.text_of_ticks(known.ticks_of_text(["TRUE", "FALSE", "TRUE"])) == ["TRUE", "FALSE", "TRUE"]


def test_b7_only_declared_values_are_ever_written():
    known = column("boolean", nullable=False, replacement=False)
    assert set(known.text_of_ticks([0, 1])) == {"true", "false"}
    assert (known.ticks, known.cells) == (2, 2)


def test_b8_leading_zeros_stay_in_categories():
    known = column("categorical", categories=["02116", "093418", "05112025"])
    assert known.text_of_ticks(known.ticks_of_text(["02116", "093418", "05112025", "2116"])) == [
        "02116",
        "093418",
        "05112025",
        "",
    ]


def test_b9_many_different_numbers_need_bounds_and_cells():
    texts = [f"{value}.{value:06d}" for value in range(5000)]
    known = column("real", min=0, max=5000, decimals=6, bins=32)
    assert known.cells == 33
    assert np.bincount(known.cell_of_tick(known.ticks_of_text(texts))).size <= 33


def test_b10_three_hundred_thousand_categories_stay_linear():
    categories = [f"c{number}" for number in range(300_000)]
    known = column("categorical", categories=categories)
    assert known.cells == 300_001
    assert ticks(known, categories[-1], categories[0]) == [299_999, 0]


def test_b14_identifiers_are_never_modelled():
    table = schema(keys("identifier", name="uuid"), keys("integer"))
    assert [known.name for known in table.columns] == ["x"]
    with pytest.raises(SchemaError, match="models no column 'uuid'"):
        table.column("uuid")


def test_c1_dates_before_1677_are_dates():
    known = column("date", min="1500-01-01", max="1999-12-31", format="%Y%m%d")
    assert known.text_of_ticks(known.ticks_of_text(["15550217", "16770921"])) == ["15550217", "16770921"]
    assert known.problems_of_text(["15550217"]) == {}


def test_c2_long_time_stamps_do_not_overflow():
    known = column("datetime", format="%Y%m%d%H%M%S%f", resolution="second")
    assert ticks(known, "20000101000001999999") == [1]


def test_c5_two_different_dates_are_a_date_column():
    known = column("date")
    assert (
        known.text_of_ticks(known.ticks_of_text(["2001-02-03", "2004-05-06"] * 2)) == ["2001-02-03", "2004-05-06"] * 2
    )


def test_d1_integer_like_names_are_texts():
    assert schema(keys("integer", name="0"), keys("integer", name="1")).header == ("0", "1")
    with pytest.raises(SchemaError, match="needs a name in quotes"):
        schema(keys("integer", name=0))


@pytest.mark.parametrize("kind", ["integer", "identifier"])
def test_d2_duplicate_names_are_refused(kind):
    with pytest.raises(SchemaError, match="two columns are named 'x'; names must differ"):
        schema(keys("integer"), keys(kind))


@pytest.mark.parametrize("kind", MODELLED)
def test_d3_no_rows_are_legal(kind):
    known = column(kind)
    none = known.ticks_of_text([])
    assert none.tolist() == known.ticks_of_values([]).tolist() == known.cell_of_tick(none).tolist() == []
    assert known.text_of_ticks(none) == known.values_of_ticks(none) == []
    assert known.ticks_of_values(pa.chunked_array([], type=pa.string())).tolist() == []


def test_d12_two_hundred_columns_are_legal():
    wide = schema(*(keys("integer", name=f"c{number}", max=9) for number in range(200)))
    assert len(wide.columns) == 200
    assert wide.column("c199").cells == 11


def test_e1_every_tick_of_the_domain_has_a_text_and_no_other_has():
    known = column("categorical")
    assert known.text_of_ticks([NULL, 0, 1, 2]) == ["", "a", "b", "c"]
    sure = column("categorical", nullable=False, replacement="a")
    for bad in (NULL, 3):
        with pytest.raises(Exception, match="outside the declared domain"):
            sure.text_of_ticks([bad])


def test_e4_written_values_stay_within_the_bounds():
    known = column("real", min=0, max=1, bins=4)
    written = known.text_of_ticks(known.ticks_of_text(["-0.5", "1.5", "inf", "0.999"]))
    assert written == ["0.00", "1.00", "1.00", "1.00"]


def test_the_upper_bound_is_reached():
    known = column("integer", min=1, max=3)
    assert known.text_of_ticks(range(known.ticks)) == ["1", "2", "3"]


def test_an_unseen_category_does_not_become_the_first_one():
    assert ticks(column("categorical"), "unseen") == [NULL]
    assert ticks(column("categorical", nullable=False, replacement="c"), "unseen") == [2]


def test_nine_of_ten_rows_alike_are_one_cell():
    known = column("integer", min=1, max=99, bins=5, points=[40])
    cells = known.cell_of_tick(known.ticks_of_text(["40"] * 90 + ["39", "41"]))
    assert len(set(cells.tolist())) == 3
