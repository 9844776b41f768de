"""What the handle adds to exact counts, and what it lets nobody see."""

import json
import traceback
from fractions import Fraction

import numpy as np
import pytest

from accounting.curator import check_file, load, private_table
from accounting.curator.rows import CellTable
from accounting.errors import BudgetRefused, ConfigError, DpReleaseError, QueryRefused
from accounting.ledger import Ledger
from accounting.noise import rounded_gaussian, select_softmax
from accounting.planted import exact_answer
from accounting.queries import Errors, Marginals, Placement, Select, Total, Votes, selection_scale
from accounting.unit import RowUnit
from tests.accounting.curator.tables import CANARY_SCHEMA as SCHEMA
from tests.accounting.curator.tables import account, person, seeded, write

CLIQUES = (("letter",), ("age",), ("letter", "age"))
ESTIMATES = (np.full(4, 7), np.full(10, 2), np.full((4, 10), 1))
QUESTIONS = (
    Total(Fraction(4)),
    Marginals(CLIQUES, Fraction(9)),
    Errors(CLIQUES, ESTIMATES, 2, Fraction(100)),
    Select(CLIQUES, (3, 2, 1), ESTIMATES, (1, 0, -1), 2, Fraction(2)),
    Votes(
        np.array([[0, 1], [1, 5], [3, 9]], dtype=np.int32),
        {"letter": Placement(np.zeros(4), np.arange(4), 4), "age": Placement(np.arange(10), np.zeros(10), 0)},
        2,
        None,
        Fraction(25),
    ),
)
HEADER = "letter,age,who\n"
ROWS = ["a,1,x\n", "b,2,x\n", "b,2,y\n", ",9,y\n", "c,0,\n", "a,7,z\n"]
TICKS = {"letter": np.array([0, 1, 1, -1, 2, 0]), "age": np.array([1, 2, 2, 9, 0, 7])}


def handle_on(tmp_path, lines, unit=None, *, seed=5, header=HEADER, ledger=None, cap=Fraction(1000)):
    unit = unit or RowUnit()
    rows = load(write(tmp_path / "t.csv", header + "".join(lines)), SCHEMA, unit)
    return private_table(rows, account(cap, unit, ledger=ledger), seeded(seed))


def values(answer) -> list[int]:
    """An answer's numbers, without its entry."""
    for name in ("value", "index"):
        if hasattr(answer, name):
            return [getattr(answer, name)]
    return [int(value) for part in getattr(answer, "tables", None) or [answer.values] for value in part.ravel()]


def test_p17_noise_of_the_declared_variance_is_added_to_counts_in_the_questions_own_unit(tmp_path):
    handle, entropy = handle_on(tmp_path, ROWS), seeded(5)
    total, marginals, errors, select, votes = (handle.ask(query) for query in QUESTIONS)
    exact = [exact_answer(query, SCHEMA, TICKS, RowUnit()) for query in QUESTIONS]
    assert total.value == exact[0] + rounded_gaussian(Fraction(4), 1, entropy)[0] != exact[0]
    noise = np.split(rounded_gaussian(Fraction(9), 54, entropy), [4, 14])
    for table, counts, added in zip(marginals.tables, exact[1], noise, strict=True):
        assert np.array_equal(table, counts + added.reshape(counts.shape))
        assert not np.array_equal(table, counts)
    assert np.array_equal(errors.values, exact[2] + rounded_gaussian(Fraction(100), 3, entropy))
    assert select.index == select_softmax(exact[3], selection_scale(QUESTIONS[3], RowUnit()), entropy)
    assert exact[4].sum() == 2 * len(ROWS)
    assert np.array_equal(votes.values, exact[4] + rounded_gaussian(Fraction(25), 3, entropy))
    assert not np.array_equal(votes.values, exact[4])


def test_p17_the_selection_is_scaled_for_the_unit(tmp_path):
    """With three rows a person the scores are flattened by three."""
    assert selection_scale(QUESTIONS[3], person(3)) * 3 == selection_scale(QUESTIONS[3], RowUnit())
    entropy = seeded(5)
    answer = handle_on(tmp_path, ROWS, person(3)).ask(QUESTIONS[3])
    ids = ["x", "x", "y", "y", None, "z"]
    scores = exact_answer(QUESTIONS[3], SCHEMA, TICKS, person(3), ids)
    assert answer.index == select_softmax(scores, selection_scale(QUESTIONS[3], person(3)), entropy)


def test_p19_the_bounded_rows_are_what_is_counted(tmp_path):
    crowd = ["a,1,x\n"] * 500 + ["zebra,400,y\n"]
    total, marginals, *_ = (handle_on(tmp_path, crowd, person(2)).ask(query) for query in QUESTIONS)
    assert abs(total.value - 3) < 25
    assert abs(int(marginals.tables[1].sum()) - 3) < 100
    assert marginals.tables[1].size == 10


@pytest.mark.parametrize("unit", [RowUnit(), person(2)], ids=["row", "person"])
def test_p30_the_order_of_rows_and_columns_changes_no_answer(tmp_path, unit):
    shuffled = [ROWS[place] for place in (4, 2, 0, 5, 1, 3)]
    swapped = [",".join(reversed(line.strip().split(","))) + "\n" for line in shuffled]
    first = [values(handle_on(tmp_path, ROWS, unit).ask(query)) for query in QUESTIONS]
    assert first == [values(handle_on(tmp_path, shuffled, unit).ask(query)) for query in QUESTIONS]
    assert first == [
        values(handle_on(tmp_path, swapped, unit, header="who,age,letter\n").ask(query)) for query in QUESTIONS
    ]


def test_p25_the_number_of_rows_is_nowhere(tmp_path):
    few, many = handle_on(tmp_path, ROWS), handle_on(tmp_path, ROWS * 1000)
    assert (repr(few), few.remaining, few.schema) == (repr(many), many.remaining, many.schema)
    assert {type(getattr(few, name)) for name in few.__slots__} == {
        type(getattr(many, name)) for name in many.__slots__
    }
    forms = set()
    for lines in (ROWS, ROWS * 1000):
        forms.add(check_file(write(tmp_path / "t.csv", HEADER + "".join(lines)), SCHEMA, RowUnit()))
    assert len(forms) == 1


def test_p27_exact_counts_appear_in_no_ledger_entry_and_stay_in_no_object(tmp_path):
    ledger = Ledger.in_memory()
    handle = handle_on(tmp_path, ["a,1,x\n"] * 7919, ledger=ledger, cap=Fraction(10**6))
    before = {name: getattr(handle, name) for name in handle.__slots__}
    for query in (Total(Fraction(10**16)), Marginals(CLIQUES, Fraction(10**16))):
        answer = handle.ask(query)
        assert 7919 not in values(answer)
    assert b"7919" not in b"".join(ledger.export())
    after = {name: getattr(handle, name) for name in handle.__slots__}
    assert {name for name in before if before[name] is not after[name]} == {"_asked", "_spent"}


def story(tmp_path, lines) -> list[str]:
    """Everything that is not noise in a fixed run: entries without answers, amounts, refusals."""
    ledger = Ledger.in_memory()
    handle = handle_on(tmp_path, lines, ledger=ledger, cap=Fraction(3))
    said = []
    for query in (*QUESTIONS, Total(Fraction(1, 100)), "nonsense", QUESTIONS[0]):
        try:
            said.append(f"{type(handle.ask(query)).__name__} {handle.remaining}")
        except DpReleaseError as error:
            said.append(f"{type(error).__name__} {error.exit_code} {error}")
    for line in ledger.export():
        entry = json.loads(line)
        said.append(json.dumps({key: value for key, value in entry.items() if key in PUBLIC}, sort_keys=True))
    return said


PUBLIC = ("number", "kind", "label", "release", "request", "digest", "amount", "event", "question", "grant", "totals")


@pytest.mark.parametrize(
    "lines",
    [
        [line for line in ROWS if not line.startswith("c")],
        [line for line in ROWS if not line.startswith(",")],
        ROWS[1:],
        [],
        [*ROWS, "zebra,400,w\n"],
        ROWS * 100,
    ],
    ids=["rare value", "nulls", "one row", "all rows", "an undeclared value", "more rows"],
)
def test_p23_dropping_a_rare_value_changes_no_message_and_no_question(tmp_path, lines):
    expected = story(tmp_path, ROWS)
    assert any("BudgetRefused" in line for line in expected)
    assert any("QueryRefused" in line for line in expected)
    assert len(expected) > 15
    assert story(tmp_path, lines) == expected


def test_p23_a_file_is_refused_in_the_same_words_with_and_without_a_rare_value(tmp_path):
    texts = set()
    for lines in (ROWS, ROWS[:4], ["zebra,1,x\n"]):
        with pytest.raises(ConfigError) as caught:
            load(write(tmp_path / "t.csv", HEADER + "".join(lines) + "a,1\n"), SCHEMA, RowUnit())
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_refusals_hold_no_rows(tmp_path):
    handle = handle_on(tmp_path, ROWS, cap=Fraction(1))
    for query, kind in ((Total(Fraction(1, 100)), BudgetRefused), ("nonsense", QueryRefused)):
        with pytest.raises(kind) as caught:
            handle.ask(query)
        for frame, _ in traceback.walk_tb(caught.value.__traceback__):
            assert not any(isinstance(value, (np.ndarray, CellTable)) for value in frame.f_locals.values())
