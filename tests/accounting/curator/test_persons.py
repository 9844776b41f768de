"""The bound on a person's rows, exhaustively over small tables: own rows only, any order, at most k."""

import hashlib
import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.curator import persons
from accounting.curator.persons import KEY_BYTES, NO_PERSON, kept_rows

ROW_KINDS = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0))
PERSON_KINDS = tuple(rows for size in range(5) for rows in itertools.combinations_with_replacement(ROW_KINDS, size))
"""Every multiset of at most four rows over these kinds."""


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()[:KEY_BYTES]


def kept(rows: list[tuple[int, tuple[int, ...]]], k: int, number: int = 0) -> dict[int, Counter]:
    """The kept multiset of rows of each person; rows are (person, codes)."""
    columns = [np.array([codes[i] for _, codes in rows], dtype=np.uint8) for i in range(3)]
    mask = kept_rows(columns, np.array([person for person, _ in rows], dtype=np.int64), k, key(number))
    found: dict[int, Counter] = {}
    for (person, codes), keep in zip(rows, mask, strict=True):
        if keep:
            found.setdefault(person, Counter())[codes] += 1
    return found


def of(person: int, rows) -> list:
    return [(person, codes) for codes in rows]


@pytest.fixture(params=["mixed", "colliding"])
def hashing(request, monkeypatch):
    """Run with the real hash and with one that is equal for all rows: the proof holds for any hash."""
    if request.param == "colliding":
        monkeypatch.setattr(persons, "_keyed_hash", lambda columns, _: np.zeros(columns[0].size, dtype=np.uint64))


@pytest.mark.usefixtures("hashing")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_at_most_k_rows_of_a_person_are_kept_and_all_where_there_are_no_more(k):
    for rows in PERSON_KINDS:
        found = kept(of(0, rows), k).get(0, Counter())
        assert found.total() == min(k, len(rows))
        assert found <= Counter(rows)


@pytest.mark.usefixtures("hashing")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_p46_kept_rows_do_not_change_when_the_file_is_permuted(k):
    for rows in PERSON_KINDS:
        found = {tuple(sorted(kept(of(0, order), k).get(0, {}).items())) for order in itertools.permutations(rows)}
        assert len(found) == 1


@pytest.mark.usefixtures("hashing")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_p46_a_persons_kept_rows_do_not_depend_on_any_other_person(k):
    """Every pair of persons with more than k rows, whichever of them is numbered first."""
    alone = {rows: kept(of(0, rows), k).get(0) for rows in PERSON_KINDS}
    crowded = [rows for rows in PERSON_KINDS if len(rows) == k + 1]
    for one, other in itertools.product(crowded, repeat=2):
        beside = kept(of(0, one) + of(1, other), k)
        assert beside.get(0) == alone[one]
        assert beside.get(1) == alone[other]


@pytest.mark.usefixtures("hashing")
@pytest.mark.parametrize("k", [1, 2, 3])
def test_p46_rows_without_an_id_are_dropped_and_push_nobody_out(k):
    for rows in PERSON_KINDS:
        beside = kept(of(NO_PERSON, ROW_KINDS) + of(0, rows) + of(NO_PERSON, rows), k)
        assert beside.get(0) == kept(of(0, rows), k).get(0)
        assert NO_PERSON not in beside


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.tuples(st.integers(-1, 3), st.sampled_from(ROW_KINDS)), max_size=14),
    k=st.integers(1, 4),
    seed=st.integers(0, 5),
    data=st.data(),
)
def test_p46_any_table_permuted_and_without_one_person(rows, k, seed, data):
    whole = kept(rows, k, seed)
    assert kept(data.draw(st.permutations(rows)), k, seed) == whole
    gone = data.draw(st.integers(0, 3))
    assert kept([row for row in rows if row[0] != gone], k, seed) == {
        person: found for person, found in whole.items() if person != gone
    }


def test_the_choice_favours_no_row_over_the_keys():
    chosen = Counter()
    for number in range(400):
        (found,) = kept(of(0, ROW_KINDS), 1, number)[0]
        chosen[found] += 1
    assert all(60 < chosen[codes] < 140 for codes in ROW_KINDS)  # the keys are fixed: this never flickers


def test_equal_rows_count_by_their_number_so_that_frequent_rows_are_kept_more_often():
    rows = of(0, [(0, 0, 0)] * 9 + [(1, 0, 0)])
    chosen = Counter()
    for number in range(200):
        chosen.update(kept(rows, 1, number)[0])
    assert 160 < chosen[0, 0, 0] < 200


def test_the_key_changes_the_choice():
    assert len({tuple(sorted(kept(of(0, ROW_KINDS), 2, number)[0].items())) for number in range(20)}) > 1


def test_no_rows():
    assert kept([], 2) == {}
    assert kept(of(NO_PERSON, ROW_KINDS), 2) == {}
