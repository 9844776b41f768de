"""Find domains that are not public: bounds and edges by noisy counts in ever smaller intervals, names by a threshold.

Everything but the answers is post-processing: the same answers give the same questions and the same schema, so that
anyone who has the answers can repeat the search.

A search for quantiles cuts the declared range into 16 parts and counts them with noise, then cuts only the parts that
hold a wanted quantile, until a part is one value. Each count is one question of sensitivity k, so that L steps cost
what one table of all L levels would, and only the parts that matter are ever counted. (With b parts a step the error of
a rank grows as √(b − 1)/ln b: 16 is within 13 % of the best, and takes few questions.) A bound lies where, coming from
outside, the counts first stand out from their noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap, cap
from accounting.errors import ConfigError
from accounting.events import gaussian_variance, threshold_for
from accounting.exact import short_below
from accounting.queries import Categories, FoundCategories, NoisyQuantiles, PrivateTable, Quantiles
from accounting.schema import CategoricalColumn, Column, OrderedColumn, Schema
from accounting.unit import PrivacyUnit
from mechanisms.asking import Asker, spendable
from mechanisms.base import Asked, Plan, PlannedQuestions

PARTS = 16
"""The parts into which an interval is cut at each step."""

CLEAR = 4
"""How many standard deviations of its noise a sum of counts must reach to be taken for rows rather than for noise."""

Interval = tuple[int, int]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """A column whose domain was measured.

    Args:
        column: its name.
        question: the kind of the questions.
        entries: the numbers of the ledger entries that settled them.
    """

    column: str
    question: Literal["quantiles", "categories"]
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FoundDomain:
    """What a search gives.

    Args:
        schema: the schema in which every domain is known; public from now on.
        transcript: every question and answer, in order.
        columns: the measured columns.
    """

    schema: Schema
    transcript: tuple[Asked, ...]
    columns: tuple[MeasuredColumn, ...]


@dataclass(frozen=True, slots=True)
class DomainSearch:
    """The questions that find the domains of a schema's measured columns, within a cap of their own.

    Args:
        schema: the schema as declared; at least one domain is measured.
        unit: the privacy unit.
        cap: what the search may cost, δ included: each column takes an equal share of the amount, each categorical one
            an equal share of δ.

    Raises:
        ConfigError: categories are measured and no δ is set aside, or δ is and none are.
    """

    schema: Schema
    unit: PrivacyUnit
    cap: Cap

    def __post_init__(self) -> None:
        if not self.schema.measured:
            raise ConfigError("the schema leaves no domain to be measured")
        if bool(self._categorical) != bool(self.cap.delta):
            named = ", ".join(repr(column.name) for column in self._categorical)
            raise ConfigError(
                f"finding the categories of {named} costs δ: state it, as delta = 1e-7 under [domain]"
                if named
                else "delta under [domain] is for columns whose categories are measured, and this schema has none"
            )

    @property
    def plan(self) -> Plan:
        """What the search may ask at most."""
        return Plan(self.cap.law, tuple(map(self._line, self.schema.measured)), self.cap.value)

    def widest(self) -> Schema:
        """Return the largest schema that a search can find: what a mechanism must be able to hold."""
        return self.schema.with_columns({column.name: _widest(column) for column in self.schema.measured})

    def run(self, table: PrivateTable) -> FoundDomain:
        """Ask for every measured column in the schema's order.

        Raises:
            ConfigError: the table's schema is another one; nothing spent.
            BudgetRefused: the handle refused; the question cost nothing.
        """
        asker = Asker(table, self.schema, self.unit, self.cap, self.plan)
        found: dict[str, Column] = {}
        columns = []
        for column in self.schema.measured:
            before = len(asker.transcript)
            if isinstance(column, CategoricalColumn):
                found[column.name] = self._find_names(column, asker)
            else:
                found[column.name] = self._find_bounds(cast("OrderedColumn", column), asker)
            entries = tuple(asked.answer.entry for asked in asker.transcript[before:])
            columns.append(MeasuredColumn(column.name, _question(column), entries))
        return FoundDomain(self.schema.with_columns(found), asker.transcript, tuple(columns))

    @property
    def _categorical(self) -> tuple[CategoricalColumn, ...]:
        return tuple(column for column in self.schema.measured if isinstance(column, CategoricalColumn))

    @property
    def _amount(self) -> Fraction:
        """What each column may cost."""
        return short_below(self.cap.value / len(self.schema.measured))

    @property
    def _delta(self) -> Fraction:
        """What each categorical column may cost in δ."""
        return self.cap.delta / len(self._categorical)

    def _line(self, column: Column) -> PlannedQuestions:
        if isinstance(column, CategoricalColumn):
            purpose = f"the categories of {column.name}"
            return PlannedQuestions("categories", purpose, 1, self._amount, self._delta)
        return PlannedQuestions("quantiles", f"the bounds and edges of {column.name}", _steps(column), self._amount)

    def _find_names(self, column: CategoricalColumn, asker: Asker) -> CategoricalColumn:
        k = self.unit.max_rows
        variance = gaussian_variance(Fraction(k), self._amount, self.cap.law)
        threshold = threshold_for(variance, k, self._delta)
        assert column.most is not None
        answer = asker.ask(Categories(column.name, variance, threshold, column.most))
        return column.with_found(cast("FoundCategories", answer).names)

    def _find_bounds(self, column: OrderedColumn, asker: Asker) -> OrderedColumn:
        assert column.bins is not None
        steps = _steps(column)
        share = short_below(self._amount / steps)
        variance = gaussian_variance(Fraction(self.unit.max_rows**2), share, self.cap.law)
        low = high = (0, column.ticks - 1)
        inner: list[tuple[Interval, int]] = []
        for step in range(steps):
            active = {low, high, *(place for place, _ in inner)}
            parts = [part for place in sorted(active) if place[0] < place[1] or step == 0 for part in _cut(place)]
            if not parts:
                break
            answer = asker.ask(Quantiles(column.name, np.array(parts, dtype=np.int64), variance))
            counts = dict(zip(parts, cast("NoisyQuantiles", answer).values.tolist(), strict=True))
            if step == 0:
                rows = sum(counts.values())
                if not _is_clear(rows, steps * Fraction(PARTS - 1, 2), variance):
                    return _equal_bins(column)
                inner = [(low, number * rows // column.bins) for number in range(1, column.bins)]
            low = _outermost(_asked(low, counts), counts, variance)
            high = _outermost(_asked(high, counts)[::-1], counts, variance)
            inner = [_descend(interval, rank, counts) for interval, rank in inner]
        first, last = sorted((low[0], high[0]))
        return column.narrowed(first, last, _edges(first, last, [place[0] for place, _ in inner]))


def _is_clear(count: int, parts: Fraction, variance: Fraction) -> bool:
    """Say whether a sum of noisy counts exceeds ``CLEAR`` standard deviations of its noise and what rounding adds."""
    above = count - parts / 2
    return above > 0 and above * above >= CLEAR * CLEAR * parts * variance


def domain_cap(release_cap: Cap, share: Fraction) -> Cap:
    """Return what a search may cost: a share of a release's cap, as a short rational, and all of its δ."""
    return cap(release_cap.law, spendable(release_cap.value * share), release_cap.delta)


def cap_after(release_cap: Cap, search: Cap) -> Cap:
    """Return what a search leaves of a release's cap to a mechanism."""
    return cap(release_cap.law, release_cap.value - search.value)


def _question(column: Column) -> Literal["quantiles", "categories"]:
    return "categories" if isinstance(column, CategoricalColumn) else "quantiles"


def _widest(column: Column) -> Column:
    if isinstance(column, CategoricalColumn):
        assert column.most is not None
        return column.with_found([f"category {number} of {column.name}" for number in range(column.most)])
    return _equal_bins(cast("OrderedColumn", column))


def _equal_bins(column: OrderedColumn) -> OrderedColumn:
    """Return the column with the declared bounds and equal bins: what stands where too few rows were found."""
    return column.narrowed(0, column.ticks - 1, column.cell_starts[1:].tolist())


def _steps(column: Column) -> int:
    """Return how many cuts lead from the whole range to single values, at least 1."""
    return max(1, -(-(column.ticks - 1).bit_length() // 4))


def _cut(interval: Interval) -> list[Interval]:
    """Cut an interval into at most ``PARTS`` parts of equal width, the last one perhaps shorter."""
    first, last = interval
    width = -(-(last - first + 1) // PARTS)
    return [(start, min(start + width - 1, last)) for start in range(first, last + 1, width)]


def _asked(interval: Interval, counts: dict[Interval, int]) -> list[Interval]:
    """Return the parts of an interval, or a single value itself."""
    return [part for part in _cut(interval) if part in counts] or [interval]


def _outermost(parts: list[Interval], counts: dict[Interval, int], variance: Fraction) -> Interval:
    """Return the first part, coming from outside, that stands out from noise, alone or with those before; or the last.

    What was passed on earlier steps did not stand out and is left out.
    """
    total = 0
    for number, part in enumerate(parts, start=1):
        total += counts.get(part, 0)
        if _is_clear(counts.get(part, 0), Fraction(1), variance) or _is_clear(total, Fraction(number), variance):
            return part
    return parts[-1]


def _descend(interval: Interval, rank: int, counts: dict[Interval, int]) -> tuple[Interval, int]:
    """Return the part in which a rank falls, and the rank within it; of rising ranks no later one falls earlier."""
    parts = _asked(interval, counts)
    if parts == [interval]:
        return interval, rank
    before = 0
    for part, upto in zip(parts, accumulate(counts[part] for part in parts), strict=True):
        if rank < upto:
            return part, rank - before
        before = upto
    return parts[-1], rank - before + counts[parts[-1]]


def _edges(low: int, high: int, quantiles: list[int]) -> list[int]:
    """Return where cells begin: at each quantile, and after a value that holds several, so that it is a cell."""
    heavy = {quantile + 1 for quantile in quantiles if quantiles.count(quantile) > 1}
    return sorted(edge for edge in {*quantiles, *heavy} if low < edge <= high)
