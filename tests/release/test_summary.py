"""A schema in numbers: the closed forms equal the sums over all sets of columns."""

from itertools import combinations
from math import prod

from accounting.schema import Schema
from release.summary import summarise_schema


def column(name: str, top: int) -> str:
    return f'[[columns]]\nname="{name}"\nkind="integer"\nmin=0\nmax={top}\nnullable=true\n'


def schema(*tops: int, table: str = 'name="t"') -> Schema:
    return Schema.from_text(f"[table]\n{table}\n" + "".join(column(f"c{i}", top) for i, top in enumerate(tops)))


def test_marginals_are_the_sums_over_all_sets():
    summary = summarise_schema(schema(3, 9, 1, 5, 9))
    cells = [item.cells for item in summary.columns]
    assert cells == [5, 11, 3, 7, 11]
    for marginal in summary.marginals:
        sizes = [prod(chosen) for chosen in combinations(cells, marginal.ways)]
        assert (marginal.number, marginal.cells, marginal.largest) == (len(sizes), sum(sizes), max(sizes))
    assert summary.marginals[2].largest_columns == ("c1", "c3", "c4")


def test_one_column_has_one_way_marginals_only():
    assert [marginal.ways for marginal in summarise_schema(schema(3)).marginals] == [1]


def test_warnings():
    wide = summarise_schema(schema(9999, 9999, 9999)).warnings
    assert any("max_rows" in text for text in wide)
    assert any("'c0' has 10001 cells" in text for text in wide)
    assert any("over the limit" in text for text in wide)
    assert summarise_schema(schema(3, 3, table='name="t"\nmax_rows=10')).warnings == ()


def test_many_categories_are_said_to_be_merged_and_not_to_be_cut():
    names = ", ".join(f'"c{number}"' for number in range(6000))
    declared = f'name="c"\nkind="categorical"\nnullable=true\ncategories=[{names}]\n'
    text = f'[table]\nname="t"\nmax_rows=9\n[[columns]]\n{declared}'
    (warning,) = summarise_schema(Schema.from_text(text)).warnings
    assert "'c' has 6001 cells" in warning
    assert "model the rare ones together" in warning


def test_measured_domains_are_told_with_the_most_cells_that_they_may_have():
    columns = [
        {"name": "n", "kind": "integer", "domain": "measured", "min": 0, "max": 10**6, "bins": 9, "nullable": True},
        {"name": "c", "kind": "categorical", "domain": "measured", "other": "other", "most": 50, "nullable": True},
    ]
    warnings = summarise_schema(Schema(table={"name": "t", "max_rows": 9}, columns=columns)).warnings
    assert len(warnings) == 2
    assert "'n': its domain is measured" in warnings[0]
    assert "up to 10 cells" in warnings[0]
    assert "up to 52 cells" in warnings[1]
