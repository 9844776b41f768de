"""release.toml: what one release asks for. It holds a release's share of a budget and never opens a budget."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from accounting.budget import Law
from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.exact import to_text
from accounting.unit import PrivacyUnit, unit_to_json
from release.budgets import BudgetChoice
from release.toml import Exact, read_toml
from release.units import privacy_unit

Format = Literal["csv", "parquet"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class UnitTable(_Table):
    """``[unit]``: whose presence the guarantee hides; it must equal the unit that the dataset was opened with."""

    kind: Literal["row", "person"]
    id_column: StrictStr | None = None
    max_rows: StrictInt | None = None

    @model_validator(mode="after")
    def _complete(self) -> "UnitTable":
        try:
            self.unit  # noqa: B018 - builds the unit once to check its ranges
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit."""
        return privacy_unit(self.kind, self.id_column, self.max_rows)


class BudgetTable(_Table):
    """``[budget]``: this release's share of the dataset's cap: ε with δ, or ρ, or μ."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None
    mu: Exact | None = None

    @model_validator(mode="after")
    def _one_budget(self) -> "BudgetTable":
        try:
            self.choice  # noqa: B018 - builds the choice once to check it
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def choice(self) -> BudgetChoice:
        """The budget as written."""
        return self.beside(None)

    def beside(self, domain_delta: Fraction | None) -> BudgetChoice:
        """Return the budget of which a δ is set aside for finding categories."""
        return BudgetChoice(
            epsilon=self.epsilon, delta=self.delta, rho=self.rho, mu=self.mu, domain_delta=domain_delta or Fraction(0)
        )


class DomainTable(_Table):
    """``[domain]``: what finding the domains of measured columns may cost; nothing unless it is declared.

    Args:
        share: the share of this release's budget, above 0 and below 1; None refuses measured columns.
        delta: the δ of finding categories, out of the release's δ; None where no categories are measured.
    """

    share: Exact | None = None
    delta: Exact | None = None

    @model_validator(mode="after")
    def _in_range(self) -> "DomainTable":
        if self.share is not None and not 0 < self.share < 1:
            raise ValueError('share lies above 0 and below 1, such as share = "1/20"')
        if self.delta is not None and (self.share is None or not 0 < self.delta < 1):
            raise ValueError("delta lies above 0 and below 1, and needs share beside it")
        return self

    def to_json(self) -> dict[str, Json]:
        """Return what is declared, as exact texts."""
        given = (("share", self.share), ("delta", self.delta))
        return {name: to_text(value) for name, value in given if value is not None}


class OutputTable(_Table):
    """``[output]``: how many rows are written, in which formats, and whether model and noisy marginals go with them."""

    rows: Annotated[StrictInt, Field(ge=0)] | Literal["noisy"] = "noisy"
    formats: Annotated[tuple[Format, ...], Field(min_length=1)] = ("csv",)
    model: StrictBool = False
    marginals: StrictBool = False

    @model_validator(mode="after")
    def _distinct(self) -> "OutputTable":
        if len(set(self.formats)) != len(self.formats):
            raise ValueError("formats lists each format once")
        return self


class AboutTable(_Table):
    """``[about]``: what the report says about the release; public.

    Args:
        publisher: who releases the data.
        purpose: what for, in a sentence.
        language: of the signed report's page: English or Japanese.
    """

    publisher: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None
    purpose: Annotated[StrictStr, Field(min_length=1, max_length=1000)] | None = None
    language: Literal["en", "ja"] = "en"

    def to_json(self) -> dict[str, Json]:
        """Return what differs from the defaults."""
        return self.model_dump(exclude_defaults=True)


class ReleaseConfig(_Table):
    """A whole release.toml.

    Args:
        version: the version of this file's form.
        dataset: the dataset's label in the ledger.
        schema_file: the schema, relative to this file (key ``schema``).
        data: the private file, relative to this file.
        encoding: the private file's text encoding.
        unit: the privacy unit.
        budget: this release's share of the dataset's cap.
        domain: what of it goes to domains that are measured.
        mechanism: its kind and options; checked by the mechanism itself.
        output: rows and formats.
        about: who releases the data, and what for.
    """

    version: Literal[1]
    dataset: StrictStr
    schema_file: Annotated[StrictStr, Field(alias="schema", min_length=1)]
    data: Annotated[StrictStr, Field(min_length=1)]
    encoding: StrictStr = "utf-8"
    unit: UnitTable
    budget: BudgetTable
    domain: DomainTable = DomainTable()
    mechanism: dict[str, Any]
    output: OutputTable = OutputTable()
    about: AboutTable = AboutTable()

    @model_validator(mode="after")
    def _has_kind(self) -> "ReleaseConfig":
        if not isinstance(self.mechanism.get("kind"), str):
            raise ValueError(  # noqa: TRY004 - pydantic reports ValueErrors only
                '[mechanism] needs kind, such as kind = "aim"'
            )
        return self

    @property
    def mechanism_kind(self) -> str:
        """The mechanism's kind."""
        return str(self.mechanism["kind"])

    @property
    def mechanism_options(self) -> dict[str, Any]:
        """The mechanism's options, as written."""
        return {name: value for name, value in self.mechanism.items() if name != "kind"}

    def to_json(self) -> dict[str, Json]:
        """Describe the release for its manifest; the private file's path is not public."""
        budget: dict[str, Json] = {
            name: to_text(value)
            for name, value in (
                ("epsilon", self.budget.epsilon),
                ("delta", self.budget.delta),
                ("rho", self.budget.rho),
                ("mu", self.budget.mu),
            )
            if isinstance(value, Fraction)
        }
        output: dict[str, Json] = {"rows": self.output.rows, "formats": list(self.output.formats)}
        output |= {key: True for key in ("model", "marginals") if getattr(self.output, key)}
        parts = {"domain": self.domain.to_json(), "about": self.about.to_json()}
        return {
            "version": self.version,
            "dataset": self.dataset,
            "unit": unit_to_json(self.unit.unit),
            "budget": budget,
            "output": output,
            **{name: part for name, part in parts.items() if part},
        }

    @property
    def choice(self) -> BudgetChoice:
        """The budget, with the δ of finding categories set aside.

        Raises:
            ConfigError: that δ is not below the budget's.
        """
        return self.budget.beside(self.domain.delta)

    def check_law(self, law: Law) -> None:
        """Refuse a budget in the other law's unit."""
        self.budget.choice.check_law(law, self.dataset)


def read_config(path: Path) -> ReleaseConfig:
    """Read a release.toml.

    Raises:
        ConfigError: missing, malformed, or it breaks a rule.
    """
    return read_toml(path, ReleaseConfig)
