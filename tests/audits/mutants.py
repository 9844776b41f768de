"""Planted bugs: each plants one fault of a comparable system, or a likely slip, into the code that really runs.

An audit of the table :data:`MUTANTS` has to catch each; docs/audits.md holds the same table.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import accounting.curator.counting
import accounting.curator.measured
import accounting.curator.table
import accounting.ledger.account
import accounting.planted
import accounting.queries
import audits.goodness
import audits.replay
import audits.transcript.runs
import mechanisms.asking
from accounting.budget import Law, cap
from accounting.events import GaussianEvent, SelectionEvent, ThresholdEvent, delta_price, price
from accounting.noise import MIN_VARIANCE, SeededEntropy, rounded_gaussian
from accounting.planted import Planted, planted_table
from accounting.queries import Marginals, Placement, Select, Votes, question_event, selection_scale
from accounting.schema import Schema
from accounting.unit import PersonUnit, RowUnit
from audits.claims import claims_of
from audits.domain import SearchAlone
from audits.goodness import gaussian_fit, selection_fit
from audits.pairs import Rows, make_pair, random_pair, worst_case_pairs
from audits.replay import check_question, record_and_replay
from audits.transcript.kernels import NaiveTable
from audits.transcript.runs import Bench, Experiment
from audits.transcript.testing import PairTest
from mechanisms.adaptive import Adaptive
from mechanisms.domain import DomainSearch
from mechanisms.mst import MST
from tests.audits.subjects import calibrated, flags, mixed

TABLE = accounting.curator.table
NOISE_LEVEL = 1e-6
"""An audit that rejects at this level has caught the mutant; the tests are seeded, so that they repeat."""


def transcripts(kind: str = "independent", *, amount: str = "2", runs: int = 250, place: int = 0) -> bool:
    """Whether the transcript audit falsifies a claim; ten rows a person keep the noise well above its rounding."""
    schema, unit = flags("a", "b", "c", person=True), PersonUnit("id", 10)
    mechanism, release_cap = calibrated(kind, schema, amount=amount, unit=unit)
    pair = worst_case_pairs(schema, unit)[place]
    claims = claims_of(mechanism.plan, release_cap)
    test = PairTest(claims, runs, NOISE_LEVEL)
    test.add(Experiment(mechanism, release_cap, pair, seed=1).chunk(0, runs))
    return min(map(test.p_value, claims)) < NOISE_LEVEL


def replayed(kind: str = "aim", *, person: bool = False, law: Law = Law.ZCDP, pair=None) -> str:
    """Every violation that record and replay finds, as one text."""
    unit = PersonUnit("id", 3) if person else RowUnit()
    schema = mixed(person=person)
    mechanism, release_cap = calibrated(kind, schema, unit=unit, law=law)
    pair = pair or random_pair(schema, unit, 40, np.random.default_rng(1))
    report = record_and_replay(mechanism, release_cap, pair, entropy=SeededEntropy(1))
    return "; ".join(found.what for found in report.violations)


def noise_fits(variance: str = "4") -> bool:
    return gaussian_fit(Fraction(variance), 20_000, SeededEntropy(1)).p_value > NOISE_LEVEL


def selections_fit(epsilon: str = "2", draws: int = 300) -> bool:
    return selection_fit(Fraction(epsilon), draws, SeededEntropy(1)).p_value > NOISE_LEVEL


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted bug.

    Args:
        name: what is wrong.
        audit: the audit that catches it.
        plant: patches the code.
        caught: runs the audit; False without the mutant.
    """

    name: str
    audit: str
    plant: Callable
    caught: Callable[[], bool]


def _noise(draw):
    """Replace the sampler by ``draw(variance, size, entropy)``."""
    return lambda patch: patch.setattr(TABLE, "rounded_gaussian", draw)


def _events(change):
    """Replace the price table in the curator and, since mechanisms budget by it, in the asker."""

    def plant(patch):
        patch.setattr(TABLE, "question_event", change)
        patch.setattr(mechanisms.asking, "question_event", change)

    return plant


def _prices(change):
    def plant(patch):
        for module in (TABLE, accounting.ledger.account, mechanisms.asking):
            patch.setattr(module, "price", change)

    return plant


def _half_sensitivity(query, unit):
    event = question_event(query, unit)
    return replace(event, sensitivity_squared=event.sensitivity_squared / 4) if type(event) is GaussianEvent else event


def _no_composition(query, unit):
    event = question_event(query, unit)
    if type(query) is Marginals:
        return replace(event, sensitivity_squared=event.sensitivity_squared / len(query.cliques))
    return event


def _half_selection_price(event, law):
    return price(event, law) / (2 if type(event) is SelectionEvent else 1)


def _sigma_for_variance(variance, size, entropy):
    return rounded_gaussian(max(Fraction(math.sqrt(variance)), MIN_VARIANCE), size, entropy)


def _rho_as_sigma(variance, size, entropy):
    return rounded_gaussian(max((1 / (2 * variance)) ** 2, MIN_VARIANCE), size, entropy)


def _half_sigma(variance, size, entropy):
    return rounded_gaussian(max(variance / 4, MIN_VARIANCE), size, entropy)


def _two_draws(variance, size, entropy):
    half = max(variance / 2, MIN_VARIANCE)
    return rounded_gaussian(half, size, entropy) + rounded_gaussian(half, size, entropy)


def _discrete(variance, size, entropy):
    reach = np.arange(-30, 31)
    mass = np.exp(-(reach**2) / (2 * float(variance)))
    uniform = entropy.words(size).astype(np.float64) / 2.0**64
    return reach[np.minimum(np.searchsorted(np.cumsum(mass / mass.sum()), uniform), 60)].astype(np.int64)


def _truncated(variance, size, entropy):
    most = int(2.5 * math.sqrt(variance))
    return np.clip(rounded_gaussian(variance, size, entropy), -most, most)


def _seeded(variance, size, _):
    return rounded_gaussian(variance, size, SeededEntropy(0))


def _one_draw(variance, size, entropy):
    return np.repeat(rounded_gaussian(variance, 1, entropy), size)


def _permute_and_flip(scores, scale, entropy):
    best = int(scores.max())
    words = iter(entropy.words(64).astype(np.float64) / 2.0**64)
    order = list(np.argsort([next(words) for _ in scores]))
    for index in order:
        if next(words) < math.exp(-float(scale) * (best - int(scores[index]))):
            return int(index)
    return int(scores.argmax())


def _one_seed(patch):
    def planted(*arguments, entropy, **others):
        return planted_table(*arguments, entropy=SeededEntropy(5), **others)

    patch.setattr(audits.goodness, "planted_table", planted)


def _double_spend(patch):
    """The ledger grants a release its cap twice, and the mechanism spends both."""

    def planted(schema, ticks, unit, release_cap, **others):
        return Planted(schema, ticks, unit, cap(release_cap.law, 2 * release_cap.value), **others)

    def twice(mechanism):
        return replace(mechanism, plan=replace(mechanism.plan, total=2 * mechanism.plan.total))

    set_up = Bench.__init__
    patch.setattr(audits.transcript.runs, "Planted", planted)
    patch.setattr(
        Bench, "__init__", lambda self, subject: set_up(self, replace(subject, mechanism=twice(subject.mechanism)))
    )


class _Wrapped:
    def __init__(self, table):
        self.table = table

    @property
    def schema(self):
        return self.table.schema

    @property
    def remaining(self):
        return self.table.remaining


def _unpaid_one_ways(patch):
    class Free(_Wrapped):
        def __init__(self, table, free):
            super().__init__(table)
            self.free = free

        def ask(self, query):
            one_way = type(query) is Marginals and all(len(clique) == 1 for clique in query.cliques)
            return (self.free if one_way else self.table).ask(query)

    def planted(*arguments, **others):
        return Free(planted_table(*arguments, **others), planted_table(*arguments, **others))

    patch.setattr(audits.replay, "planted_table", planted)


def _answers_again(patch):
    """A request id stands for any question of the same form."""

    class Stale(_Wrapped):
        def __init__(self, table):
            super().__init__(table)
            self.known = {}

        def ask(self, query):
            answer = self.table.ask(query)
            form = (type(query), len(query.cliques) if type(query) is Marginals else 0)
            if type(query) is Select:
                return self.known.setdefault(form, answer)
            return answer

    patch.setattr(audits.replay, "planted_table", lambda *a, **o: Stale(planted_table(*a, **o)))


def _peeking(change, mechanism=MST):
    """A mechanism that sees the rows: what stands behind the last handle that was opened."""

    def plant(patch):
        seen = {}

        def planted(schema, ticks, *arguments, **others):
            seen["rows"] = len(next(iter(ticks.values())))
            seen["c"] = set(ticks["c"].tolist())
            return planted_table(schema, ticks, *arguments, **others)

        patch.setattr(audits.replay, "planted_table", planted)
        run = mechanism.run
        patch.setattr(mechanism, "run", lambda self, table, rng, *a, **o: change(run, self, table, rng, seen))

    return plant


def _domain_from_data(run, mechanism, table, rng, seen):
    pairs = tuple(pair for pair in mechanism.pairs if len(seen["c"]) > 2 or "c" not in pair)
    return run(replace(mechanism, pairs=pairs or mechanism.pairs[:1]), table, rng)


def _exact_rows(run, mechanism, table, rng, seen):
    return run(mechanism, table, rng, rows=seen["rows"])


def _stops_on_truth(run, mechanism, table, rng, seen):
    if seen["rows"] % 2:
        mechanism = replace(mechanism, draft=replace(mechanism.draft, rounds=1))
    return run(mechanism, table, rng)


def _measure_then_charge(patch):
    class Early(_Wrapped):
        def __init__(self, table, entropy):
            super().__init__(table)
            self.entropy = entropy

        def ask(self, query):
            self.entropy.words(1)
            return self.table.ask(query)

    def planted(*arguments, entropy, **others):
        return Early(planted_table(*arguments, entropy=entropy, **others), entropy)

    patch.setattr(audits.replay, "planted_table", planted)


def _count_tables(change):
    def plant(patch):
        real = accounting.curator.counting.count_tables
        for module in (accounting.planted, TABLE, accounting.curator.counting):
            patch.setattr(module, "count_tables", lambda *arguments: change(real(*arguments), *arguments))

    return plant


def _replaces(tables, cells, *_):
    for table in tables:
        padded = table.copy()
        padded.ravel()[0] += 1000 - cells.rows
        yield padded


def _unclipped(tables, cells, *_):
    nulls = int((cells.columns["age"] == 41).sum())
    for table in tables:
        escaped = table.copy()
        escaped.ravel()[-1] += 9 * nulls
        yield escaped


def _narrow(tables, *_):
    for table in tables:
        yield table.astype(np.int8).astype(np.int64)


def _null_ids_are_a_person(patch):
    number = accounting.planted.number_persons
    patch.setattr(
        accounting.planted,
        "number_persons",
        lambda ids, known: number(["nobody" if one is None else one for one in ids], known),
    )


def _null_id_pair():
    schema, unit = mixed(person=True), PersonUnit("id", 3)
    pair = random_pair(schema, unit, 12, np.random.default_rng(3))
    ids = (None, None, *pair.absent.ids[2:])
    return replace(pair, absent=Rows(pair.absent.ticks, ids))


def _person_as_row(query, unit):
    return question_event(query, RowUnit())


def _votes_differ() -> bool:
    """Whether naive votes differ from the curator's on cells whose distances need every bit."""
    column = {"name": "x", "kind": "integer", "min": 0, "max": 2999, "nullable": False, "replacement": 0}
    schema = flags("a")
    schema = type(schema)(table={"name": "votes"}, columns=[column])
    candidates = np.array([[0], [1490], [1491]], dtype=np.int32)
    line = Placement(np.arange(3000, dtype=np.int32) + 10**6, np.zeros(3000, dtype=np.int32), 0)
    query = Votes(candidates, {"x": line}, 1, None, Fraction(1))
    pair = make_pair("far", schema, RowUnit(), [{"x": n} for n in range(0, 2999, 7)], [{"x": 1499}])
    naive = (NaiveTable(schema, pair.absent), NaiveTable(schema, pair.present))
    return bool(check_question(query, pair, naive)[1])


def _float_distances(patch):
    def votes(query, cells, _schema):
        lines = [placement.coordinates.astype(np.float32) for placement in query.embedding.values()]
        rows = np.stack([line[cells.columns[name]] for name, line in zip(query.embedding, lines, strict=True)], axis=1)
        spots = np.stack([line[query.candidates[:, 0]] for line in lines], axis=1)
        scores = (spots**2).sum(axis=1)[None, :] - 2 * rows @ spots.T
        return np.bincount(scores.argmin(axis=1), minlength=len(spots)).astype(np.int64)

    for module in (accounting.planted, TABLE):
        patch.setattr(module, "count_votes", votes)


def _twice_the_scale(query, unit):
    return 2 * selection_scale(query, unit)


def searched() -> str:
    """What record and replay says of a search for categories, among persons with three rows and shared names."""
    schema = Schema(
        table={"name": "towns"},
        columns=[
            {"name": "town", "kind": "categorical", "domain": "measured", "other": "other", "nullable": True},
            {"name": "id", "kind": "identifier"},
        ],
    )
    unit, release_cap = PersonUnit("id", 3), cap(Law.ZCDP, Fraction(1, 20), Fraction(3, 10))
    search = SearchAlone(DomainSearch(schema, unit, release_cap))
    own = [{"town": 1}, {"town": 1}, {"town": 2}]
    pair = make_pair("towns", schema, unit, [{"town": 1 + number % 3} for number in range(24)], own)
    report = record_and_replay(search, release_cap, pair, entropy=SeededEntropy(3))
    return "; ".join(found.what for found in report.violations)


def _strict_threshold(patch):
    def charged(event):
        return delta_price(replace(event, threshold=event.threshold + 1) if type(event) is ThresholdEvent else event)

    patch.setattr(accounting.ledger.account, "delta_price", charged)


def _one_name(query, unit):
    event = question_event(query, unit)
    return replace(event, names=1) if type(event) is ThresholdEvent else event


def _lower_threshold(patch):
    real = accounting.curator.measured.names_above
    lower = lambda query, texts, noisy: real(replace(query, threshold=query.threshold - 1), texts, noisy)  # noqa: E731
    patch.setattr(TABLE, "names_above", lower)


def _rows_with_a_name(patch):
    real = accounting.curator.measured.count_names
    for module in (accounting.planted, TABLE):
        patch.setattr(module, "count_names", lambda query, held: real(query, replace(held, persons=None)))


MUTANTS = (
    Mutant("noise has half the declared sigma", "transcripts", _noise(_half_sigma), transcripts),
    Mutant("sigma passed where its square is meant", "goodness", _noise(_sigma_for_variance), lambda: not noise_fits()),
    Mutant("rho passed as sigma (P1)", "transcripts", _noise(_rho_as_sigma), transcripts),
    Mutant("sum of two rounded draws sold as one (P42)", "goodness", _noise(_two_draws), lambda: not noise_fits("1/4")),
    Mutant("discrete Gaussian sold as GDP (P42)", "goodness", _noise(_discrete), lambda: not noise_fits("1/4")),
    Mutant("noise clipped at 2.5 sigma", "goodness", _noise(_truncated), lambda: not noise_fits()),
    Mutant("built-in seed (P35)", "goodness", _noise(_seeded), lambda: not noise_fits()),
    Mutant("one seed for two mechanisms (P36)", "goodness", _one_seed, lambda: not noise_fits()),
    Mutant("one draw for all cells of a table", "goodness", _noise(_one_draw), lambda: not noise_fits()),
    Mutant(
        "factor 1/2 of the selection dropped",
        "goodness",
        lambda patch: patch.setattr(TABLE, "selection_scale", _twice_the_scale),
        lambda: not selections_fit(),
    ),
    Mutant(
        "permute-and-flip charged as softmax (P2)",
        "goodness",
        lambda patch: patch.setattr(TABLE, "select_softmax", _permute_and_flip),
        lambda: not selections_fit(draws=1000),
    ),
    Mutant("double spend (P4)", "transcripts", _double_spend, lambda: transcripts(runs=400)),
    Mutant("sensitivity halved (P18)", "replay", _events(_half_sensitivity), lambda: "charged" in replayed("mst")),
    Mutant("composition count dropped", "replay", _events(_no_composition), lambda: "charged" in replayed()),
    Mutant(
        "person with k rows counted as one (P48)",
        "replay",
        _events(_person_as_row),
        lambda: "charged" in replayed(person=True),
    ),
    Mutant("selection charged half", "replay", _prices(_half_selection_price), lambda: "charged" in replayed()),
    Mutant("unpaid one-way round (P5)", "replay", _unpaid_one_ways, lambda: "charged" in replayed()),
    Mutant("same request id, another question (P47)", "replay", _answers_again, lambda: "one entry" in replayed("aim")),
    Mutant(
        "domain from data (P23)",
        "replay",
        _peeking(_domain_from_data),
        lambda: "another question" in replayed("mst", pair=_rare_pair()),
    ),
    Mutant(
        "exact row count reused (P25)", "replay", _peeking(_exact_rows), lambda: "synthetic table" in replayed("mst")
    ),
    Mutant(
        "stopping on the true table (P28)",
        "replay",
        _peeking(_stops_on_truth, Adaptive),
        lambda: "another question" in replayed("aim"),
    ),
    Mutant("entry after the measurement", "replay", _measure_then_charge, lambda: "was refused" in replayed()),
    Mutant(
        "replace-one charged as add/remove (P22)",
        "replay",
        _count_tables(_replaces),
        lambda: "times its sensitivity" in replayed("independent", pair=_lone_pair()),
    ),
    Mutant(
        "null escaping the clip (P19)",
        "replay",
        _count_tables(_unclipped),
        lambda: "times its sensitivity" in replayed("independent", pair=_null_pair()),
    ),
    Mutant(
        "counts wrap around (P21)",
        "replay",
        _count_tables(_narrow),
        lambda: "plain count" in replayed("independent", pair=_crowded_pair()),
    ),
    Mutant(
        "null ids form one person (P46)",
        "replay",
        _null_ids_are_a_person,
        lambda: "plain count" in replayed("independent", person=True, pair=_null_id_pair()),
    ),
    Mutant("float distances (P41)", "replay", _float_distances, _votes_differ),
    Mutant(
        "threshold charged without the mass at it (P10)",
        "replay",
        _strict_threshold,
        lambda: "under a delta below its own" in searched(),
    ),
    Mutant(
        "names of a person charged as one name (P48)",
        "replay",
        _events(_one_name),
        lambda: "under a delta below its own" in searched(),
    ),
    Mutant(
        "names that leave below the threshold (P10)",
        "replay",
        _lower_threshold,
        lambda: "left below its threshold" in searched(),
    ),
    Mutant(
        "rows with a name counted, not persons (P48)",
        "replay",
        _rows_with_a_name,
        lambda: "plain count" in searched(),
    ),
)


def _rare_pair():
    schema = mixed()
    common = [{"a": n % 2, "age": n, "c": n % 2} for n in range(12)]
    return make_pair("rare", schema, RowUnit(), common, [{"a": 1, "age": 3, "c": 2}])


def _lone_pair():
    return worst_case_pairs(mixed(), RowUnit())[1]


def _null_pair():
    row = {"a": 1, "age": 5, "c": 1}
    return make_pair("null", mixed(), RowUnit(), [row] * 5, [{**row, "age": -1}])


def _crowded_pair():
    row = {"a": 1, "age": 5, "c": 1}
    return make_pair("crowd", mixed(), RowUnit(), [row] * 200, [row])
