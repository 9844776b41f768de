"""A release made ready: everything that can be checked without the private file has been checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.budget import Cap, EpsilonDelta
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit
from mechanisms.base import CalibratedMechanism
from mechanisms.registry import config_from_table
from mechanisms.rows import check_rows
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
        schema: the public schema.
        unit: the privacy unit, equal to the dataset's.
        dataset: the state of the dataset's budget.
        cap: the cap that the release asks for.
        delta: the δ at which ε is reported.
        mechanism: the mechanism, calibrated to the cap.
        mechanism_json: its kind and every parameter.
    """

    workspace: Workspace
    config: ReleaseConfig
    config_folder: Path
    schema: Schema
    unit: PrivacyUnit
    dataset: "DatasetState"
    cap: Cap
    delta: Fraction
    mechanism: CalibratedMechanism
    mechanism_json: Mapping[str, Json] = field(repr=False)

    @property
    def data(self) -> Path:
        """The private file."""
        return self.config_folder / self.config.data

    @property
    def statement(self) -> EpsilonDelta | None:
        """The (ε, δ) of release.toml, or None where it states ρ or μ."""
        return self.config.budget.choice.statement

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
    choice = config.budget.choice
    choice.check_law(dataset.law, config.dataset)
    choice.check_delta(workspace.max_delta)
    cap = choice.cap(dataset.law)
    if config.output.model and config.mechanism_kind not in MODELLED:
        raise ConfigError(f"{path}: model = true needs a mechanism whose rows come from a model: {', '.join(MODELLED)}")
    mechanism_config = config_from_table(config.mechanism_kind, config.mechanism_options)
    mechanism = mechanism_config.calibrate(cap, unit, schema)
    declared = None if config.output.rows == "noisy" else config.output.rows
    check_rows(declared, schema)
    return Prepared(
        workspace=workspace,
        config=config,
        config_folder=path.parent,
        schema=schema,
        unit=unit,
        dataset=dataset,
        cap=cap,
        delta=reported_delta(choice.delta, dataset, workspace),
        mechanism=mechanism,
        mechanism_json={"kind": config.mechanism_kind, **mechanism_config.to_json()},
    )


def reported_delta(stated: Fraction | None, dataset: "DatasetState", workspace: Workspace) -> Fraction:
    """Return the δ at which ε is reported: the stated one, else the dataset's, else the workspace's ceiling."""
    if stated is not None:
        return stated
    return workspace.max_delta if dataset.statement is None else dataset.statement.delta
