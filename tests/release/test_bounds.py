import csv

from mechanisms.bounds import ErrorBounds, MarginalBound
from release.bounds import HEADER, write_bounds
from tests.release.small_release import make_release

BOUNDS = ErrorBounds(
    0.95,
    1.0,
    100.0,
    (
        MarginalBound(("age", "sex"), 6, "measured", 10.0, 20.0),
        MarginalBound(("age, group",), 3, "total", 200.0, 200.0),
    ),
)


def test_one_row_a_marginal_with_its_share(tmp_path):
    with write_bounds(tmp_path, BOUNDS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == HEADER
    assert rows[0]["columns"] == "age × sex"
    assert (rows[0]["share"], rows[0]["share_simultaneous"]) == ("0.05", "0.1")
    assert rows[1]["columns"] == "age, group"
    assert rows[1]["basis"] == "total"


def test_a_release_carries_the_bounds_of_every_column(tmp_path):
    release = make_release(tmp_path / "workspace", formats='["csv"]')
    with (release / "bounds.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"colour", "age", "member"} <= {row["columns"] for row in rows}
    assert all(0 <= float(row["share"]) <= float(row["share_simultaneous"]) for row in rows)
