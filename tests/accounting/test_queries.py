import dataclasses
import hashlib
import json
import struct
from fractions import Fraction

import numpy as np
import pytest

from accounting import queries
from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError, QueryRefused
from accounting.events import GaussianEvent, SelectionEvent, ThresholdEvent
from accounting.queries import (
    ESTIMATE_LIMIT,
    MAX_INTERVALS,
    QUERY_TYPES,
    Categories,
    Coding,
    Errors,
    FoundCategories,
    Marginals,
    NoisyErrors,
    NoisyMarginals,
    NoisyQuantiles,
    NoisyTotal,
    NoisyVotes,
    Placement,
    PrivateTable,
    Quantiles,
    Select,
    Selected,
    Total,
    Votes,
    answer_from_bytes,
    answer_to_bytes,
    check_query,
    describe_query,
    query_digest,
    question_event,
    selection_scale,
    sha_of,
)
from accounting.schema import Schema
from accounting.unit import PersonUnit, RowUnit

SCHEMA = Schema.from_text(
    """
    [table]
    name = "toy"
    [[columns]]
    name = "id"
    kind = "identifier"
    [[columns]]
    name = "colour"
    kind = "categorical"
    categories = ["red", "green", "blue"]
    nullable = true
    [[columns]]
    name = "smoker"
    kind = "boolean"
    nullable = false
    replacement = false
    [[columns]]
    name = "size"
    kind = "integer"
    min = 1
    max = 4
    nullable = false
    replacement = 1
    """
)
WIDE = Schema.from_text(
    '[table]\nname = "wide"\n'
    + "".join(
        f'[[columns]]\nname = "c{i}"\nkind = "integer"\nmin = 0\nmax = 999\nnullable = false\nreplacement = 0\n'
        for i in range(3)
    )
)
ONE = Fraction(1)
COLOUR, SMOKER, SIZE = "colour", "smoker", "size"


def zeros(*shape):
    return np.zeros(shape, dtype=np.int64)


def select(**changes):
    fields = {
        "candidates": ((COLOUR,), (SMOKER, SIZE)),
        "weights": (1, 3),
        "estimates": (zeros(4), zeros(2, 4)),
        "penalties": (0, -5),
        "grid": 8,
        "epsilon": Fraction(1, 2),
    }
    return Select(**(fields | changes))


def errors(**changes):
    fields = {
        "candidates": ((COLOUR,), (SMOKER, SIZE)),
        "estimates": (zeros(4), zeros(2, 4)),
        "grid": 8,
        "variance": Fraction(3),
    }
    return Errors(**(fields | changes))


def votes(**changes):
    fields = {
        "candidates": np.array([[0, 1, 3], [3, 0, 0]], dtype=np.int32),
        "embedding": {COLOUR: Placement(np.zeros(4), np.arange(4), 9), SIZE: Placement(np.arange(4), np.zeros(4), 0)},
        "votes": 2,
        "within": SMOKER,
        "variance": Fraction(3),
    }
    return Votes(**(fields | changes))


MEASURED = Schema(
    table={"name": "measured"},
    columns=[
        {"name": COLOUR, "kind": "categorical", "categories": ["red"], "nullable": True},
        {"name": SIZE, "kind": "integer", "min": 0, "max": 9, "nullable": True},
        {"name": "age", "kind": "integer", "domain": "measured", "min": 0, "max": 9, "bins": 2, "nullable": True},
        {"name": "town", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True},
    ],
)


QUESTIONS = [
    Total(Fraction(5, 2)),
    Marginals(((COLOUR,), (COLOUR, SIZE)), ONE),
    Marginals(((SIZE,),), ONE, Coding({SIZE: np.array([0, 0, 1, 1])})),
    select(),
    errors(),
    votes(),
    Quantiles("age", np.array([[0, 3], [4, 4], [8, 9]]), Fraction(3)),
    Categories("town", Fraction(3), 7, 5),
]


def test_the_toy_schema_has_the_cells_that_these_tests_presume():
    assert [(column.name, column.cells) for column in SCHEMA.columns] == [(COLOUR, 4), (SMOKER, 2), (SIZE, 4)]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_well_formed_questions_pass(question):
    check_query(question, MEASURED if isinstance(question, (Quantiles, Categories)) else SCHEMA)


def test_the_closed_set_is_complete():
    asked = {type(question) for question in QUESTIONS}
    assert set(QUERY_TYPES) == asked
    defined = {item for item in vars(queries).values() if getattr(item, "__module__", "").startswith(queries.__name__)}
    assert {item for item in defined if dataclasses.is_dataclass(item)} == asked | {
        Coding,
        NoisyTotal,
        NoisyMarginals,
        Selected,
        NoisyErrors,
        NoisyVotes,
        NoisyQuantiles,
        FoundCategories,
        Placement,
    }


class CheaperTotal(Total):
    """A question that would pass isinstance."""


@pytest.mark.parametrize("question", [CheaperTotal(ONE), None, object(), "total"])
def test_nothing_else_is_priced_or_checked(question):
    with pytest.raises(QueryRefused, match="closed set"):
        check_query(question, SCHEMA)
    with pytest.raises(QueryRefused, match="closed set"):
        question_event(question, RowUnit())


@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("id", 1), PersonUnit("id", 5)])
def test_p17_p22_the_table_of_sensitivities(unit):
    k = unit.max_rows
    assert question_event(Total(Fraction(2)), unit) == GaussianEvent(Fraction(k**2), Fraction(2))
    two = Marginals(((COLOUR,), (SIZE,)), Fraction(2))
    assert question_event(two, unit) == GaussianEvent(Fraction(2 * k**2), Fraction(2))
    assert question_event(errors(), unit) == GaussianEvent(Fraction(2 * (8 * k) ** 2), Fraction(3))
    assert question_event(votes(), unit) == GaussianEvent(Fraction(2 * k**2), Fraction(3))
    assert question_event(select(), unit) == SelectionEvent(Fraction(1, 2))
    assert question_event(QUESTIONS[-2], unit) == GaussianEvent(Fraction(k**2), Fraction(3))
    assert question_event(QUESTIONS[-1], unit) == ThresholdEvent(Fraction(k), Fraction(3), 7, k)
    assert selection_scale(select(), unit) == Fraction(1, 2) / (2 * k * 8 * 3)


def test_p12_a_question_states_neither_sensitivity_nor_price():
    named = {field.name for kind in QUERY_TYPES for field in dataclasses.fields(kind)}
    assert named == {
        "variance",
        "cliques",
        "coding",
        "candidates",
        "weights",
        "estimates",
        "penalties",
        "grid",
        "epsilon",
        "embedding",
        "votes",
        "within",
        "column",
        "intervals",
        "threshold",
        "most",
    }


@pytest.mark.parametrize("value", [0, -1, True, 0.5, None, float("nan"), float("inf"), 5e-324])
def test_noise_and_epsilon_are_exact_and_positive(value):
    for build in (
        lambda: Total(value),
        lambda: Marginals(((COLOUR,),), value),
        lambda: errors(variance=value),
        lambda: votes(variance=value),
        lambda: select(epsilon=value),
        lambda: Quantiles("age", np.array([[0, 1]]), value),
        lambda: Categories("town", value, 7, 5),
    ):
        with pytest.raises(ConfigError):
            build()


@pytest.mark.parametrize(
    ("cliques", "message"),
    [
        ((), "at least one"),
        ([(COLOUR,)], "in a tuple"),
        (((),), "non-empty"),
        (([COLOUR],), "non-empty tuple"),
        ((COLOUR,), "non-empty tuple"),
        (((1,),), "column names"),
        ((([],),), "column names"),
        (((COLOUR, COLOUR),), "once"),
        (((COLOUR,), (COLOUR,)), "distinct"),
    ],
)
def test_malformed_cliques_are_refused(cliques, message):
    with pytest.raises(QueryRefused, match=message):
        Marginals(cliques, ONE)
    estimates = tuple(zeros(4) for _ in cliques)
    with pytest.raises(QueryRefused, match=message):
        errors(candidates=cliques, estimates=estimates)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Marginals((("salary",),), ONE), "does not model"),
        (Marginals((("id",),), ONE), "does not model"),
        (Marginals(((SIZE, COLOUR),), ONE), "schema's order"),
        (Marginals(((SIZE,),), ONE, Coding({SIZE: np.array([0, 1])})), "cover"),
        (Marginals(((SIZE,),), ONE, Coding({"salary": np.array([0, 1])})), "cover"),
        (select(estimates=(zeros(4), zeros(4, 2))), "shape"),
        (errors(estimates=(zeros(3), zeros(2, 4))), "shape"),
        (errors(coding=Coding({COLOUR: np.array([0, 0, 1, 1])})), "shape"),
    ],
)
def test_questions_that_do_not_fit_the_schema_are_refused(question, message):
    with pytest.raises(QueryRefused, match=message):
        check_query(question, SCHEMA)


def test_a_table_beyond_the_limit_is_refused_with_its_size():
    check_query(Marginals((("c0", "c1"),), ONE), WIDE)
    with pytest.raises(QueryRefused, match="1000000000 cells"):
        check_query(Marginals((("c0", "c1", "c2"),), ONE), WIDE)


@pytest.mark.parametrize(
    "bins", [[], [1, 2], [0, 2], [-1, 0], [[0, 1]], 3], ids=["empty", "no 0", "gap", "negative", "two-way", "scalar"]
)
def test_a_coding_numbers_its_bins_without_gaps(bins):
    with pytest.raises(QueryRefused, match="without gaps"):
        Coding({SIZE: np.array(bins, dtype=np.int32)})


def test_a_coding_shapes_its_tables():
    coding = Coding({SIZE: np.array([0, 0, 1, 2])})
    assert coding.shape(SCHEMA, (COLOUR, SIZE)) == (4, 3)
    assert coding.cells(SCHEMA, SMOKER) == 2


def test_values_of_a_question_cannot_be_changed_afterwards():
    bins, estimate = np.array([0, 1, 1, 1]), zeros(4)
    coding = Coding({SIZE: bins})
    question = errors(candidates=((COLOUR,),), estimates=(estimate,), coding=coding)
    bins[:], estimate[:] = 0, 99
    assert coding.bins[SIZE].tolist() == [0, 1, 1, 1]
    assert question.estimates[0].tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        coding.bins[SIZE][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        question.estimates[0][0] = 1
    with pytest.raises(TypeError):
        coding.bins["x"] = bins
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.grid = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": (1,)}, "one weight"),
        ({"penalties": (0,)}, "one weight and one penalty"),
        ({"weights": [1, 3]}, "tuples"),
        ({"penalties": [0, 0]}, "tuples"),
        ({"weights": (0, 1)}, "weight"),
        ({"weights": (True, 1)}, "weight"),
        ({"weights": (1.0, 1)}, "weight"),
        ({"weights": (1, 2**20 + 1)}, "weight"),
        ({"penalties": (0, 2**53 + 1)}, "penalty"),
        ({"penalties": (0.5, 0)}, "penalty"),
        ({"grid": 3}, "grid"),
        ({"grid": 0}, "grid"),
        ({"grid": 2**21}, "grid"),
        ({"grid": True}, "grid"),
        ({"grid": 8.0}, "grid"),
        ({"estimates": (zeros(4),)}, "one estimate"),
        ({"estimates": (zeros(4), [0, 0])}, "int64"),
        ({"estimates": (zeros(4), zeros(2, 4).astype(np.int32))}, "int64"),
        ({"estimates": (zeros(4), zeros(2, 4).astype(np.float64))}, "int64"),
        ({"estimates": (zeros(4) + ESTIMATE_LIMIT + 1, zeros(2, 4))}, "outside"),
        ({"estimates": (zeros(4) - 2**62, zeros(2, 4))}, "outside"),
    ],
)
def test_malformed_selections_are_refused(changes, message):
    with pytest.raises(QueryRefused, match=message):
        select(**changes)


def test_p47_the_digest_binds_every_field():
    base = select()
    changed = [
        select(candidates=((SMOKER,), (SMOKER, SIZE))),
        select(weights=(2, 3)),
        select(estimates=(zeros(4) + 1, zeros(2, 4))),
        select(penalties=(0, -6)),
        select(grid=4),
        select(epsilon=Fraction(1, 3)),
        select(coding=Coding({SIZE: np.array([0, 0, 1, 1])})),
        Total(ONE),
        Total(Fraction(2)),
        Marginals(((COLOUR,),), ONE),
        Marginals(((SIZE,),), ONE),
        Marginals(((COLOUR,),), Fraction(2)),
        Marginals(((COLOUR,),), ONE, Coding({SIZE: np.array([0, 0, 1, 1])})),
        errors(),
        errors(variance=Fraction(4)),
    ]
    digests = [query_digest(question) for question in [base, *changed]]
    assert len(set(digests)) == len(digests)
    assert query_digest(select()) == digests[0]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_a_digest_is_that_of_the_canonical_description(question):
    assert query_digest(question) == hashlib.sha256(canonical_bytes(describe_query(question))).hexdigest()


def test_p47_one_digest_binds_every_array_of_a_list_and_where_each_ends():
    # Words that could be read as another array's dimensions and shape: moved borders must change the digest.
    a, b = np.array([1, 2], dtype=np.int64), np.array([3], dtype=np.int64)
    lists = [(), (a,), (b,), (a, b), (b, a), (a, a), (np.array([1, 2, 1, 1, 3]),), (zeros(0),), (zeros(0), zeros(0))]
    lists += [(a.reshape(1, 2),), (a.reshape(2, 1),), (zeros(0, 2),), (zeros(2, 0),), (zeros(),), (zeros(1),)]
    assert len({sha_of(*arrays) for arrays in lists}) == len(lists)


def test_a_digest_of_arrays_has_the_documented_bytes():
    words = [2, 1, 2, -5, 2**53, 1, 1, 7]
    arrays = [np.array([[-5, 2**53]]), np.array([7], dtype=np.int32)]
    assert sha_of(*arrays) == hashlib.sha256(struct.pack("<8q", *words)).hexdigest()
    assert describe_query(select(estimates=(zeros(4), zeros(2, 4))))["estimates"] == sha_of(zeros(4), zeros(2, 4))


def test_a_digest_of_an_array_binds_values_and_shape():
    flat = np.arange(6, dtype=np.int64)
    assert sha_of(flat) == sha_of(flat.astype(np.int32)) == sha_of(flat[::-1][::-1])
    assert len({sha_of(flat), sha_of(flat.reshape(2, 3)), sha_of(flat.reshape(3, 2)), sha_of(flat + 1)}) == 4


def test_descriptions_hold_public_fields_only():
    assert describe_query(Total(Fraction(5, 2))) == {"question": "total", "variance": "5/2"}
    assert describe_query(QUESTIONS[1]) == {
        "question": "marginals",
        "cliques": [[COLOUR], [COLOUR, SIZE]],
        "variance": "1/1",
        "coding": [],
    }
    assert describe_query(QUESTIONS[2])["coding"] == [[SIZE, sha_of(np.array([0, 0, 1, 1]))]]
    assert set(describe_query(select())) == {
        "question",
        "candidates",
        "estimates",
        "grid",
        "coding",
        "weights",
        "penalties",
        "epsilon",
    }
    assert describe_query(errors())["question"] == "errors"
    assert describe_query(errors())["variance"] == "3/1"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (QUESTIONS[0], NoisyTotal(7, -12)),
        (QUESTIONS[1], NoisyMarginals(7, (np.arange(4) - 2, np.arange(16).reshape(4, 4)))),
        (QUESTIONS[2], NoisyMarginals(7, (np.array([5, -6]),))),
        (QUESTIONS[3], Selected(7, 1)),
        (QUESTIONS[4], NoisyErrors(7, np.array([-(2**60), 2**62]))),
    ],
)
def test_answers_survive_storage(question, answer):
    data = answer_to_bytes(answer)
    read = answer_from_bytes(data, question, SCHEMA, 7)
    assert type(read) is type(answer)
    assert read.entry == 7
    for field in dataclasses.fields(answer):
        assert _plain(getattr(read, field.name)) == _plain(getattr(answer, field.name))
    assert answer_to_bytes(read) == data
    assert canonical_bytes(json.loads(data)) == data
    assert b"entry" not in data


def _plain(value):
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return (value.dtype.str, value.tolist()) if isinstance(value, np.ndarray) else value


def test_a_handle_is_a_protocol_without_rows():
    class Fake:
        schema = SCHEMA
        remaining = ONE

        def ask(self, query):
            return NoisyTotal(0, 0)

    assert isinstance(Fake(), PrivateTable)
    assert not isinstance(object(), PrivateTable)
    names = {name for name in vars(PrivateTable) if not name.startswith("_")}
    assert names == {"schema", "remaining", "ask"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": np.zeros((2, 3), dtype=np.int64)}, "int32 array"),
        ({"candidates": np.zeros(3, dtype=np.int32)}, "int32 array"),
        ({"candidates": [[0, 0, 0]]}, "int32 array"),
        ({"candidates": np.zeros((0, 3), dtype=np.int32)}, "from 1 to"),
        ({"votes": 0}, "from 1 vote"),
        ({"votes": 3}, "from 1 vote"),
        ({"votes": True}, "from 1 vote"),
        ({"embedding": {SIZE: None}}, "places each"),
    ],
)
def test_malformed_votes_are_refused(changes, message):
    with pytest.raises(QueryRefused, match=message):
        votes(**changes)


@pytest.mark.parametrize(
    ("coordinates", "classes", "apart", "message"),
    [
        (np.zeros(0), np.zeros(0), 0, "one coordinate"),
        (np.zeros((2, 2)), np.zeros(4), 0, "one coordinate"),
        (np.zeros(4), np.zeros(3), 0, "one class"),
        (np.zeros(4), np.array([0, 0, 0, -1]), 0, "class from 0"),
        (np.zeros(4), np.zeros(4), -1, "between classes"),
        (np.zeros(4), np.zeros(4), True, "between classes"),
        (np.zeros(4), np.zeros(4), 2**53 + 1, "between classes"),
    ],
)
def test_malformed_placements_are_refused(coordinates, classes, apart, message):
    with pytest.raises(QueryRefused, match=message):
        Placement(coordinates, classes, apart)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": np.zeros((2, 2), dtype=np.int32)}, "one cell for each column"),
        ({"candidates": np.full((2, 3), -1, dtype=np.int32)}, "outside the cells"),
        ({"candidates": np.full((2, 3), 2, dtype=np.int32)}, "outside the cells of column 'smoker'"),
        ({"embedding": {"weight": Placement(np.zeros(4), np.zeros(4), 0)}}, "does not cover"),
        ({"embedding": {SIZE: Placement(np.zeros(3), np.zeros(3), 0)}}, "does not cover"),
        ({"within": "id"}, "the schema models"),
        ({"embedding": {SIZE: Placement(np.full(4, 2**26), np.zeros(4), 0)}}, "leave 2\\^53"),
    ],
)
def test_votes_that_do_not_fit_the_schema_are_refused(changes, message):
    with pytest.raises(QueryRefused, match=message):
        check_query(votes(**changes), SCHEMA)


def test_every_field_of_votes_is_bound_by_the_digest():
    one = query_digest(votes())
    for changes in (
        {"candidates": np.array([[0, 1, 3], [3, 0, 1]], dtype=np.int32)},
        {"embedding": {COLOUR: Placement(np.zeros(4), np.arange(4), 9)}},
        {"embedding": {**votes().embedding, COLOUR: Placement(np.zeros(4), np.arange(4), 8)}},
        {"votes": 1},
        {"within": None},
        {"variance": Fraction(4)},
    ):
        assert query_digest(votes(**changes)) != one
    assert query_digest(votes()) == one


def test_what_votes_were_built_from_can_change_no_question():
    candidates = np.array([[0, 1, 3], [3, 0, 0]], dtype=np.int32)
    query = votes(candidates=candidates)
    candidates[0, 0] = 2
    assert query.candidates[0, 0] == 0
    for array in (query.candidates, query.embedding[SIZE].coordinates):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        query.embedding[SIZE] = None


INTERVALS = np.array([[0, 3], [4, 4], [8, 9]])


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        ([[0, 1]], "int64 array"),
        (INTERVALS.astype(np.int32), "int64 array"),
        (INTERVALS.ravel(), "int64 array"),
        (np.zeros((1, 3), dtype=np.int64), "int64 array"),
        (np.zeros((0, 2), dtype=np.int64), "from 1 to"),
        (np.repeat(np.arange(MAX_INTERVALS + 1), 2).reshape(-1, 2), "from 1 to"),
        (np.array([[3, 2]]), "disjoint"),
        (np.array([[0, 3], [3, 4]]), "disjoint"),
        (np.array([[5, 6], [0, 1]]), "disjoint"),
    ],
)
def test_intervals_are_disjoint_and_increase(intervals, message):
    with pytest.raises(QueryRefused, match=message):
        Quantiles("age", intervals, ONE)


@pytest.mark.parametrize(("threshold", "most"), [(1, 1), (True, 1), (2.0, 1), (2**40 + 1, 1), (2, 0), (2, True)])
def test_thresholds_and_how_many_names_leave_are_whole_numbers(threshold, most):
    with pytest.raises(QueryRefused):
        Categories("town", ONE, threshold, most)


@pytest.mark.parametrize(
    "question",
    [
        Quantiles("town", INTERVALS, ONE),
        Quantiles(SIZE, INTERVALS, ONE),
        Quantiles("salary", INTERVALS, ONE),
        Quantiles("age", np.array([[-1, 2]]), ONE),
        Quantiles("age", np.array([[0, 10]]), ONE),
        Categories("age", ONE, 7, 5),
        Categories(COLOUR, ONE, 7, 5),
    ],
)
def test_domains_are_asked_for_of_measured_columns_only(question):
    with pytest.raises(QueryRefused, match=r"measures|outside the declared limits"):
        check_query(question, MEASURED)


def test_answers_about_domains_are_read_as_they_were_written():
    asked = Categories("town", ONE, 7, 5)
    answer = FoundCategories(4, ("Zürich", "京都"), np.array([9, 12]))
    again = answer_from_bytes(answer_to_bytes(answer), asked, MEASURED, 4)
    assert (again.names, again.values.tolist(), again.entry) == (answer.names, [9, 12], 4)
    counts = NoisyQuantiles(4, np.array([-3, 2**40, 0]))
    again = answer_from_bytes(answer_to_bytes(counts), Quantiles("age", INTERVALS, ONE), MEASURED, 4)
    assert (again.values.tolist(), again.values.dtype) == ([-3, 2**40, 0], np.int64)


def test_what_the_ledger_says_of_questions_about_domains():
    assert describe_query(Categories("town", Fraction(5, 2), 7, 5)) == {
        "question": "categories",
        "column": "town",
        "threshold": 7,
        "most": 5,
        "variance": "5/2",
    }
    described = describe_query(Quantiles("age", INTERVALS, ONE))
    assert described == {
        "question": "quantiles",
        "column": "age",
        "intervals": sha_of(INTERVALS),
        "variance": "1/1",
    }
