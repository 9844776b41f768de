"""Which rows count: of each person's rows at most k, chosen by that person's rows alone.

Rule. Let a person's rows be a multiset of code vectors, and number equal ones 1, 2, … . Each (codes, number) gets a
keyed hash; the k smallest by (hash, codes, number) are kept. The key is drawn afresh for each load and does not depend
on the table. Rows without a person are dropped before.

Proof of what the guarantee needs, for every key:

- *A person's kept rows are a function of that person's rows.* The order above compares pairs (codes, number) of one
  person only; neither file positions nor other persons enter. So adding or removing one person adds or removes that
  person's kept rows, at most k, and changes no other kept row: the table moves by at most k rows.
- *Permuting the file changes nothing.* Equal rows are numbered 1…m in any order, so the set of pairs is a function of
  the multiset. The order is total on distinct pairs, even if hashes collide, so the kept multiset of codes is too.

The hash therefore carries no privacy: it only keeps the choice from favouring small codes. A fixed key would serve the
proof equally; a fresh one keeps a person from being represented by the same rows in release after release by design.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = Sequence[npt.NDArray[np.unsignedinteger[Any]]]

NO_PERSON = -1
KEY_BYTES = 16

_ODD = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def kept_rows(codes: Codes, persons: npt.NDArray[np.int64], max_rows: int, key: bytes) -> npt.NDArray[np.bool_]:
    """Mark the rows that count.

    Args:
        codes: the columns' codes, each of shape (rows,).
        persons: the person's number of each row, at least 0; ``NO_PERSON`` for none.
        max_rows: k, at least 1.
        key: ``KEY_BYTES`` random bytes that do not depend on the table.

    Returns:
        bool array of shape (rows,), with at most k rows of each person.
    """
    kept: npt.NDArray[np.bool_] = persons != NO_PERSON
    rows_of = np.bincount(persons[kept])
    crowded = np.flatnonzero(kept)
    crowded = crowded[rows_of[persons[crowded]] > max_rows]
    if crowded.size == 0:
        return kept
    columns = [column[crowded] for column in codes]
    person = persons[crowded]
    order = np.lexsort((*columns[::-1], person))
    columns, person = [column[order] for column in columns], person[order]
    hashes = _keyed_hash([*columns, _number_in_run([*columns, person])], key)
    by_hash = np.lexsort((hashes, person))  # stable: equal hashes stay in the order of codes and number
    place = _number_in_run([person[by_hash]])
    kept[crowded[order[by_hash[place >= max_rows]]]] = False
    return kept


def _number_in_run(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> npt.NDArray[np.int64]:
    """Number each row within its run of equal neighbours, from 0."""
    positions = np.arange(columns[0].size)
    starts = np.zeros(positions.size, dtype=bool)
    starts[0] = True
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return positions - np.maximum.accumulate(np.where(starts, positions, 0))


def _keyed_hash(columns: Sequence[npt.NDArray[np.integer[Any]]], key: bytes) -> npt.NDArray[np.uint64]:
    """Mix the columns into 64 bits, under a 128-bit key."""
    first, second = np.frombuffer(key, dtype="<u8")
    state = np.full(columns[0].size, first, dtype=np.uint64)
    for column in columns:
        state ^= column.astype(np.uint64)
        for shift, odd in zip((30, 27), _ODD, strict=True):
            state ^= state >> np.uint64(shift)
            state *= np.uint64(odd)
        state ^= state >> np.uint64(31)
        state += second
    return state
