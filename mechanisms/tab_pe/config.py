"""The options of Tab-PE, its two presets, and what the schema advises where an option is left open."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from accounting.budget import Cap
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms import options
from mechanisms.tab_pe.space import line_of

if TYPE_CHECKING:
    from mechanisms.tab_pe.evolution import TabPE

STARTS = ("tables", "model", "uniform")
MODELS = ("aim-gdp", "aim", "mst")
RANKINGS = ("weights", "votes")
OUTPUTS = ("candidates", "model")
FEW_ROWS = 1000
"""Up to so many rows (by the schema's max_rows) the tables are worth more than the votes."""

SMALL_DOMAIN = 4000
"""A domain of so many combinations of cells is covered by candidates, so that their weights say everything."""

_PAPER = MappingProxyType(
    {
        "start": "uniform",
        "opening_share": Fraction(1, 50),
        "rounds": 30,
        "population": 1000,
        "votes": 1,
        "warm_up": 5,
        "variations": 3,
        "mutation_first": Fraction(1, 2),
        "mutation_last": Fraction(1, 100),
        "ranking": "votes",
        "reweight": False,
        "jitter": Fraction(0),
    }
)
_RECOMMENDED = MappingProxyType(
    {
        "start": "tables",
        "votes": 4,
        "warm_up": 0,
        "variations": 1,
        "mutation_first": Fraction(1, 2),
        "ranking": "weights",
        "jitter": Fraction(1, 200),
    }
)
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType({"recommended": _RECOMMENDED, "paper": _PAPER})


@dataclass(frozen=True, slots=True)
class TabPEConfig:
    """Configure Tab-PE. An option that is left open takes the preset's value, else what the schema advises.

    Args:
        preset: "recommended", or "paper" for the semantics of the reference (uniform start, one vote, sampling for 5
            rounds and then ranks, 30 rounds, no reweighting).
        label: the column within which candidates are compared and whose table with every other column is paid for;
            one without an order, or of few cells. None compares all candidates.
        start: "tables" draws the first candidates from paid tables of the label with each column, "model" from a
            model fitted by ``model``, "uniform" from the declared domain.
        model: the mechanism of a start by model: "aim-gdp", "aim" or "mst".
        model_options: its options, as in release.toml.
        opening_share: the share of the cap that the tables, the model or (uniform start) the label's counts take.
            Advised for tables: 1/20 on numeric columns, 3/20 on mixed ones; for a model: 1/20 and 9/10; and 9/10 on a
            few hundred rows.
        rounds: rounds of votes, 1 to 1000. Advised: 2 on mixed columns (1 after a model), 8 on up to 6 numeric ones, 30
            on more, 1 on a few hundred rows.
        population: candidates of a question, 4 to 2^20. Advised: 8000 on mixed columns (1000 after a model), else 4000;
            below 500 hurts.
        votes: how many nearest candidates a row votes for, 1 to 64; the sensitivity is its root. Measured: 4.
        warm_up: the first rounds, which sample by votes and keep no parents; from 0 to ``rounds``.
        variations: variations of each parent, 1 to 64. Measured: 1; with 4 votes a family of four is kept or dropped
            as a whole, and the candidates soon gather in a few places.
        mutation_first: the mutation rate at the start, above 0 and at most 1. Measured: 1/2.
        mutation_last: the mutation rate after the last round, above 0 and at most ``mutation_first``. Advised: 1/20;
            1/50 for up to 3 ordered columns, which candidates cover densely.
        mutation_decay: γ in first − (first − last)·(round/rounds)^γ.
        mismatch: the squared distance of two values without an order, where an ordered column's line has length 1.
        bins: the most bins of an ordered column in the paid tables, 2 to 4096.
        ranking: "weights" keeps the candidates of most weight in a fit to the votes of all rounds so far, "votes" those
            of most votes in the round, as the paper does.
        reweight: whether the paid tables (of a model: its measured marginals) count in the weights. Advised: on mixed
            columns, few rows and small domains, where low-order accuracy is at stake; not on numeric ones, where it
            costs points.
        output: what rows are drawn from: the last "candidates", or rows of the "model" that the start fitted, by their
            weights. Advised: the model wherever ``reweight`` is advised.
        jitter: how far an ordered value of a repeated row moves at most, as a share of its line, from 0 to 1/2.
            Measured: 1/200; 1/50 blurs the sides of a parity.
    """

    preset: str = "recommended"
    label: str | None = None
    start: str | None = None
    model: str = "aim-gdp"
    model_options: Mapping[str, Any] | None = None
    opening_share: Fraction | None = None
    rounds: int | None = None
    population: int | None = None
    votes: int | None = None
    warm_up: int | None = None
    variations: int | None = None
    mutation_first: Fraction | None = None
    mutation_last: Fraction | None = None
    mutation_decay: Fraction = Fraction(1, 5)
    mismatch: Fraction = Fraction(1)
    bins: int | None = None
    ranking: str | None = None
    reweight: bool | None = None
    output: str | None = None
    jitter: Fraction | None = None

    def __post_init__(self) -> None:
        _one_of(self.preset, "preset", tuple(PRESETS))
        for name, value in PRESETS[self.preset].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        self._check_names()
        for name, low, high in _WHOLE:
            if getattr(self, name) is not None:
                options.whole(getattr(self, name), name, low, high)
        if self.opening_share is not None:
            object.__setattr__(self, "opening_share", options.share(self.opening_share, "opening_share"))
        for name in ("mutation_first", "mutation_last", "mutation_decay", "mismatch"):
            self._exact(name, Fraction(1) if name.startswith("mutation_") else Fraction(16))
        if self.jitter:
            self._exact("jitter", Fraction(1, 2))
        self._check_pairs()

    def __reduce__(self) -> tuple[type["TabPEConfig"], tuple[Any, ...]]:
        """Pickle by the options, which are checked again; a read-only mapping itself does not pickle."""
        values = (getattr(self, item.name) for item in fields(self))
        return TabPEConfig, tuple(dict(value) if isinstance(value, Mapping) else value for value in values)

    def _check_names(self) -> None:
        if self.label is not None and not isinstance(self.label, str):
            raise ConfigError("option 'label' must be the name of a column")
        _one_of(self.start, "start", STARTS)
        _one_of(self.model, "model", MODELS)
        _one_of(self.ranking, "ranking", RANKINGS)
        if self.reweight is not None and not isinstance(self.reweight, bool):
            raise ConfigError("option 'reweight' must be true or false")
        if self.output is not None:
            _one_of(self.output, "output", OUTPUTS)
        if self.output == "model" and self.start != "model":
            raise ConfigError('option \'output\' can be "model" only with start = "model"')
        if self.model_options is not None:
            if not isinstance(self.model_options, Mapping) or self.start != "model":
                raise ConfigError("option 'model_options' must be a table, and needs start = \"model\"")
            object.__setattr__(self, "model_options", MappingProxyType(dict(self.model_options)))

    def _exact(self, name: str, most: Fraction) -> None:
        value = getattr(self, name)
        if value is None:
            return
        exact = options.exact_number(value, name)
        if exact > most:
            raise ConfigError(f"option {name!r} must be at most {most}")
        object.__setattr__(self, name, exact)

    def _check_pairs(self) -> None:
        if self.rounds is not None and self.warm_up is not None and self.warm_up > self.rounds:
            raise ConfigError("option 'warm_up' must be at most the number of rounds")
        first, last = self.mutation_first, self.mutation_last
        if first is not None and last is not None and last > first:
            raise ConfigError("option 'mutation_last' must be at most mutation_first")

    def settled(self, schema: Schema) -> "TabPEConfig":
        """Return the configuration with every open option set to what the schema advises."""
        advised = _advice(schema, self)
        open_options = {name: value for name, value in advised.items() if getattr(self, name) is None}
        return replace(self, **open_options)

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "TabPE":
        """Bind to a release's cap.

        Raises:
            ConfigError: the label is no column or has an order, or the tables are too large; nothing spent.
        """
        from mechanisms.tab_pe.evolution import calibrate

        return calibrate(self.settled(schema), cap, unit, schema)

    def to_json(self) -> dict[str, Json]:
        """Every parameter, for the manifest; open ones are null here and stated by the run's notes."""
        return {item.name: _json(getattr(self, item.name)) for item in fields(self)}


_WHOLE = (
    ("rounds", 1, 1000),
    ("population", 4, 2**20),
    ("votes", 1, 64),
    ("warm_up", 0, 1000),
    ("variations", 1, 64),
    ("bins", 2, 4096),
)


def _advice(schema: Schema, config: TabPEConfig) -> dict[str, Any]:
    """Say what the schema advises; the figures are those measured in docs/tab-pe.md."""
    features = [column for column in schema.columns if column.name != config.label]
    lines = [line_of(column) for column in features]
    ordered = sum(line is not None for line in lines)
    with_states = sum(line is None or line.beside.size > 0 for line in lines)  # categories, declared points, nulls
    few_rows = schema.max_rows is not None and schema.max_rows <= FEW_ROWS
    mixed = 4 * with_states > len(features)
    modelled, few_lines = config.start == "model", not mixed and ordered <= 3
    if config.start == "uniform":
        share = Fraction(1, 50)
    elif few_rows:
        share = Fraction(9, 10)
    elif modelled:
        share = Fraction(9, 10) if mixed else Fraction(1, 20)
    else:
        share = Fraction(3, 20) if mixed else Fraction(1, 20)
    low_order = mixed or few_rows or prod(column.cells for column in schema.columns) <= SMALL_DOMAIN
    return {
        "opening_share": share,
        "rounds": 1 if few_rows or (mixed and modelled) else 2 if mixed else 8 if ordered <= 6 else 30,
        "mutation_last": min(config.mutation_first or Fraction(1), Fraction(1, 50 if few_lines else 20)),
        "population": 1000 if low_order and modelled else 8000 if mixed else 4000,
        "bins": 5 if few_rows else 24,
        "reweight": low_order,
        "output": "model" if low_order and modelled else "candidates",
    }


def _one_of(value: object, name: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"option {name!r} must be one of {', '.join(known)}")


def _json(value: object) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    return str(value) if isinstance(value, Decimal) else options.to_json(value)
