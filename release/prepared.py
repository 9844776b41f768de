"""A release made ready: everything that can be checked without the private file has been checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.budget import Cap, EpsilonDelta
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit
from mechanisms.base import CalibratedMechanism, Plan
from mechanisms.domain import DomainSearch, cap_after, domain_cap
from mechanisms.registry import config_from_table
from mechanisms.rows import check_rows
from release.amounts import delta_text
from release.config import ReleaseConfig, read_config
from release.units import describe_unit
from release.workspace import Workspace

if TYPE_CHECKING:
    from accounting.ledger import DatasetState, Ledger

MODELLED = ("aim", "aim-gdp", "mst")
"""The mechanisms that can leave a model in the release."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A release that could run: its configuration, schema, cap and calibrated mechanism; no private value.

    Args:
        workspace: where its ledger and keys are.
        config: release.toml.
        config_folder: the folder that its paths are relative to.
        declared: the schema as declared.
        schema: the schema that the mechanism is for: the declared one; where domains are measured, the largest that the
            search can find, and once it has found one, that.
        unit: the privacy unit, equal to the dataset's.
        dataset: the state of the dataset's budget.
        cap: the cap that the release asks for.
        delta: the δ at which ε is reported.
        mechanism_cap: what of it the mechanism may spend.
        mechanism: the mechanism, calibrated to that.
        mechanism_json: its kind and every parameter.
        search: what finds the domains that are measured, or None.
    """

    workspace: Workspace
    config: ReleaseConfig
    config_folder: Path
    declared: Schema
    schema: Schema
    unit: PrivacyUnit
    dataset: "DatasetState"
    cap: Cap
    delta: Fraction
    mechanism_cap: Cap
    mechanism: CalibratedMechanism
    mechanism_json: Mapping[str, Json] = field(repr=False)
    search: DomainSearch | None = None

    @property
    def data(self) -> Path:
        """The private file."""
        return self.config_folder / self.config.data

    @property
    def statement(self) -> EpsilonDelta | None:
        """The (ε, δ) of release.toml, or None where it states ρ or μ."""
        return self.config.choice.statement

    @property
    def plan(self) -> Plan:
        """What the release may ask at most: the search for domains, then the mechanism."""
        own = self.mechanism.plan
        if self.search is None:
            return own
        first = self.search.plan
        return Plan(own.law, (*first.lines, *own.lines), first.total + own.total)

    def with_domain(self, schema: Schema) -> "Prepared":
        """Return the release once its domains are known."""
        return replace(self, schema=schema, mechanism=_mechanism(self.config, self.mechanism_cap, self.unit, schema))

    @property
    def declared_rows(self) -> int | None:
        """The declared number of synthetic rows, or None for the noisy total."""
        return None if self.config.output.rows == "noisy" else self.config.output.rows


def prepare(workspace: Workspace, ledger: "Ledger", path: Path) -> Prepared:
    """Read and check a release.toml, its schema and its dataset's budget; the private file is not opened.

    Raises:
        ConfigError: anything that does not fit together; nothing was spent.
    """
    config = read_config(path)
    schema = Schema.from_toml(path.parent / config.schema_file)
    dataset = ledger.dataset(config.dataset)
    unit = config.unit.unit
    if unit != dataset.unit:
        raise ConfigError(
            f"{path}: [unit] is {describe_unit(unit)}, but dataset {config.dataset!r} was opened for "
            f"{describe_unit(dataset.unit)}; one dataset has one unit"
        )
    if isinstance(unit, PersonUnit):
        schema.identifier(unit.id_column)
    choice = config.choice
    choice.check_law(dataset.law, config.dataset)
    choice.check_delta(workspace.max_delta)
    cap = choice.cap(dataset.law)
    if config.output.model and config.mechanism_kind not in MODELLED:
        raise ConfigError(f"{path}: model = true needs a mechanism whose rows come from a model: {', '.join(MODELLED)}")
    search = _search(path, config, cap, unit, schema)
    mechanism_cap = cap if search is None else cap_after(cap, search.cap)
    modelled = schema if search is None else search.widest()
    mechanism_config = config_from_table(config.mechanism_kind, config.mechanism_options)
    declared_rows = None if config.output.rows == "noisy" else config.output.rows
    check_rows(declared_rows, schema)
    return Prepared(
        workspace=workspace,
        config=config,
        config_folder=path.parent,
        declared=schema,
        schema=modelled,
        unit=unit,
        dataset=dataset,
        cap=cap,
        delta=reported_delta(choice.delta, dataset, workspace, set_aside=max(cap.delta, dataset.cap.delta)),
        mechanism_cap=mechanism_cap,
        mechanism=_mechanism(config, mechanism_cap, unit, modelled),
        mechanism_json={"kind": config.mechanism_kind, **mechanism_config.to_json()},
        search=search,
    )


def _mechanism(config: ReleaseConfig, cap: Cap, unit: PrivacyUnit, schema: Schema) -> CalibratedMechanism:
    return config_from_table(config.mechanism_kind, config.mechanism_options).calibrate(cap, unit, schema)


def _search(path: Path, config: ReleaseConfig, cap: Cap, unit: PrivacyUnit, schema: Schema) -> DomainSearch | None:
    names = ", ".join(repr(column.name) for column in schema.measured)
    if not names:
        if config.domain.share is not None:
            raise ConfigError(f'{path}: [domain] is for columns with domain = "measured", and the schema has none')
        return None
    if config.domain.share is None:
        raise ConfigError(
            f"{path}: the domains of {names} are not public, and nothing may be spent on finding them: declare them in "
            'the schema, or add [domain] and below it share = "1/20", the share of the budget that may be'
        )
    return DomainSearch(schema, unit, domain_cap(cap, config.domain.share))


def reported_delta(
    stated: Fraction | None, dataset: "DatasetState", workspace: Workspace, *, set_aside: Fraction = Fraction(0)
) -> Fraction:
    """Return the δ at which ε is reported: the stated one, else the dataset's, else the workspace's ceiling.

    Raises:
        ConfigError: it is not above the δ that is set aside for finding categories.
    """
    delta = stated
    if delta is None:
        delta = workspace.max_delta if dataset.statement is None else dataset.statement.delta
    if delta <= set_aside:
        raise ConfigError(
            f"epsilon is stated at a delta above the {delta_text(set_aside)} that is set aside for finding categories: "
            "state a larger delta under [budget]"
        )
    return delta
