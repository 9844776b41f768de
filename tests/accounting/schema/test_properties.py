"""Properties of every kind: total casts, round trips, cells that partition the grid."""

# Local times without a zone are what these columns hold.
# ruff: noqa: DTZ001, DTZ007

import datetime as dt
import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.canonical import canonical_bytes
from accounting.schema import NULL, Problem, Schema
from accounting.schema.formats import DateFormat, Moment
from accounting.schema.schema import KINDS
from tests.accounting.schema.building import column, keys

SOME = settings(deadline=None, max_examples=100)

FORMATS = ["%Y-%m-%d %H:%M:%S", "%d/%m/%Y %I:%M:%S %p", "%Y%m%d%H%M%S", "%b%d%Y%H:%M:%S", "%B %d, %Y; %H.%M.%S.%f",
           "%S%f%M%H%d%m%Y"]  # fmt: skip
ODD_TEXTS = st.sampled_from(
    ["", "0", "5", "5.5", "-1", "1e3", "nan", "inf", "-inf", "1e999999999", "2005-06-07", "2000-01-01 01:02:03", "true",
     "a", " a", "ä", "\ud800", "\x00", "9" * 400, "1e99999999999999999999"]
)  # fmt: skip
ANY_TEXT = st.one_of(ODD_TEXTS, st.text(max_size=12), st.decimals(allow_nan=True, allow_infinity=True).map(str))
ANY_VALUE = st.one_of(
    ANY_TEXT, st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(), st.dates(), st.timedeltas(),
    st.datetimes(timezones=st.one_of(st.none(), st.just(dt.UTC))), st.binary(max_size=4), st.lists(st.none()),
)  # fmt: skip


@st.composite
def declarations(draw):
    """Draw the keys of a legal column of any kind."""
    kind = draw(st.sampled_from(["categorical", "boolean", "integer", "real", "date", "datetime"]))
    nullable = draw(st.booleans())
    changes = {"nullable": nullable, "strip": draw(st.booleans())}
    if kind == "categorical":
        texts = draw(
            st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), min_size=1, max_size=6, unique=True)
        )
        changes["categories"] = texts = [f"{text}." for text in texts]
        changes["strip"] = False
        replacement = texts[-1]
        if draw(st.booleans()):
            changes |= {"undeclared": "other", "other": texts[0]}
    elif kind == "boolean":
        replacement = draw(st.booleans())
    elif kind in ("integer", "real"):
        low = draw(st.integers(-(10**6), 10**6))
        high = low + draw(st.integers(0, 5000))
        decimals = draw(st.integers(0, 9)) if kind == "real" else 0
        changes |= {"min": f"{low}e-{decimals}", "max": f"{high}e-{decimals}"}
        changes |= {"decimals": decimals, "bins": draw(st.integers(1, high - low + 1))} if kind == "real" else {}
        inner = draw(st.lists(st.integers(low + 1, high), max_size=4, unique=True)) if high > low else []
        if draw(st.booleans()):
            changes |= {"bins": None, "edges": [f"{value}e-{decimals}" for value in sorted(inner)]}
            changes |= {"points": [f"{value}e-{decimals}" for value in inner[:2]]}
        replacement = changes["max"]
    else:
        day = draw(st.dates())
        later = draw(st.dates(min_value=day))
        if kind == "date":
            changes |= {"resolution": draw(st.sampled_from(["day", "month", "year"]))}
            day = {"day": day, "month": day.replace(day=1), "year": day.replace(day=1, month=1)}[changes["resolution"]]
            changes |= {"format": draw(st.sampled_from(FORMATS)), "min": day, "max": later}
        else:
            changes |= {"resolution": draw(st.sampled_from(["second", "minute", "hour", "day"]))}
            offset = draw(st.sampled_from([None, "+05:30", "-03:00"]))
            changes |= {"format": draw(st.sampled_from(FORMATS)) + ("%z" if offset else ""), "utc_offset": offset}
            changes |= {
                "min": dt.datetime(day.year, day.month, day.day),
                "max": dt.datetime(later.year, later.month, later.day, 23, 59, 59),
            }
            changes |= {"bins": 1}
        replacement = changes["min"]
    if kind in ("integer", "real", "date", "datetime"):
        changes["out_of_range"] = draw(st.sampled_from(["clip", "null"] if nullable else ["clip", "replacement"]))
    if not nullable:
        changes["replacement"] = replacement
    return keys(kind, **changes)


def build(declared):
    return KINDS[declared["kind"]](**declared)


def some_ticks(known, draw_from=200):
    spread = np.linspace(0, known.ticks - 1, min(known.ticks, draw_from)).astype(np.int64)
    return np.append(spread, NULL) if known.nullable else spread


@SOME
@given(declarations())
def test_what_is_written_reads_back_to_the_same_ticks(declared):
    known = build(declared)
    ticks = some_ticks(known)
    texts = known.text_of_ticks(ticks)
    assert known.ticks_of_text(texts).tolist() == ticks.tolist()
    assert known.problems_of_text(texts) == {}
    values = known.values_of_ticks(ticks)
    assert known.ticks_of_values(values).tolist() == ticks.tolist()
    assert known.values_of_ticks(known.ticks_of_values(values)) == values


@SOME
@given(declarations(), st.lists(ANY_TEXT, max_size=20))
def test_every_text_has_a_tick_and_a_cell(declared, texts):
    known = build(declared)
    ticks = known.ticks_of_text(texts)
    assert ticks.size == len(texts)
    cells = known.cell_of_tick(ticks)
    assert all(0 <= cell < known.cells for cell in cells.tolist())
    again = known.ticks_of_text(known.text_of_ticks(ticks))
    assert again.tolist() == ticks.tolist()
    assert sum(known.problems_of_text(texts).values()) <= len(texts)


@SOME
@given(declarations(), st.lists(ANY_VALUE, max_size=20))
def test_every_typed_value_has_a_tick(declared, values):
    known = build(declared)
    known.cell_of_tick(known.ticks_of_values(values))
    assert sum(known.problems_of_values(values).values()) <= len(values)


@SOME
@given(declarations(), st.lists(ANY_TEXT, min_size=2, max_size=20))
def test_a_text_is_cast_without_regard_to_the_others(declared, texts):
    known = build(declared)
    together = known.ticks_of_text(texts).tolist()
    assert together == [known.ticks_of_text([text]).tolist()[0] for text in texts]
    assert together[::-1] == known.ticks_of_text(np.array(texts[::-1], dtype=object)).tolist()


@SOME
@given(declarations())
def test_cells_partition_the_grid(declared):
    known = build(declared)
    step = max(1, known.cells // 500)
    plain_cells = known.cells - known.nullable
    intervals = [known.ticks_of_cell(cell) for cell in range(0, plain_cells, step)]
    assert intervals[0][0] == 0
    assert known.ticks_of_cell(plain_cells - 1)[1] == known.ticks - 1
    assert [low for low, _ in intervals] == known.cell_starts[::step].tolist()
    assert known.cell_starts.size == plain_cells
    ends = np.array(intervals)
    assert (ends[:, 0] <= ends[:, 1]).all()
    assert (
        known.cell_of_tick(ends[:, 0]).tolist()
        == known.cell_of_tick(ends[:, 1]).tolist()
        == list(range(0, plain_cells, step))
    )
    assert (np.diff(known.cell_starts) > 0).all()
    after = np.array([known.ticks_of_cell(cell)[1] + 1 for cell in range(0, plain_cells - 1, step)], dtype=np.int64)
    assert known.cell_of_tick(after).tolist() == list(range(1, plain_cells, step))[: after.size]


@SOME
@given(declarations())
def test_json_round_trip(declared):
    table = Schema(table={"name": "t"}, columns=[declared])
    again = Schema.from_json(json.loads(canonical_bytes(table.to_json())))
    assert again == table
    assert again.digest == table.digest


@SOME
@given(declarations(), st.lists(ANY_TEXT, max_size=10))
def test_a_column_that_is_not_nullable_never_gives_null(declared, texts):
    known = build(declared)
    if not known.nullable:
        assert NULL not in known.ticks_of_text(texts).tolist()
        assert NULL not in known.ticks_of_values([None, float("nan"), *texts]).tolist()


@SOME
@given(st.integers(-(10**12), 10**12), st.integers(0, 9))
def test_clipping_is_monotone_in_the_number(scaled, decimals):
    known = column("real", min=-1000, max=1000, decimals=decimals, bins=1)
    number = f"{scaled}e-{decimals}"
    tick = known.ticks_of_text([number]).tolist()[0]
    expected = min(max(scaled + 1000 * 10**decimals, 0), 2000 * 10**decimals)
    assert tick == expected
    outside = abs(scaled) > 1000 * 10**decimals
    assert bool(known.problems_of_text([number])) == outside
    assert known.problems_of_text([number]).keys() <= {Problem.BELOW, Problem.ABOVE}


@SOME
@given(st.datetimes(), st.sampled_from(FORMATS))
def test_formats_agree_with_the_standard_library(moment, form):
    moment = moment.replace(microsecond=0)
    known = DateFormat(form)
    ours = Moment(moment.toordinal(), moment.hour * 3600 + moment.minute * 60 + moment.second)
    written = known.write(ours)
    assert known.read(written) == ours
    if moment.year >= 1000:
        assert written == moment.strftime(form)
        assert dt.datetime.strptime(written, form) == moment
