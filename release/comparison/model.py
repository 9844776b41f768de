"""The content of a comparison, version 1."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from release.manifest import Exact


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MetricPart(_Part):
    """One figure that releases are compared by.

    Args:
        key: its name in ``metrics``.
        label: what it is.
        better: which way is better.
        source: where it comes from.
    """

    key: str
    label: str
    better: Literal["lower", "higher"]
    source: str


class ComparedRelease(_Part):
    """One release.

    Args:
        mechanism: its kind, with the options in which releases of this kind differ.
        options: every option.
        epsilon: at the comparison's δ, rounded up.
        metrics: each figure, None where the release has none.
    """

    release_id: str
    dataset: str
    mechanism: str
    options: dict[str, Any]
    law: str
    cap: Exact
    epsilon: float
    rows: int
    metrics: dict[str, float | None]


class Spread(_Part):
    """A figure over several runs; ``sd`` is the sample standard deviation, None for a single run."""

    mean: float
    sd: float | None
    runs: int


class Setting(_Part):
    """The releases of one mechanism at one cap."""

    mechanism: str
    law: str
    cap: Exact
    epsilon: float
    runs: int
    metrics: dict[str, Spread | None]


class Comparison(_Part):
    """Everything that a comparison says; confidential where it holds figures of private rows."""

    confidential: bool
    delta: Exact
    unit: dict[str, Any]
    columns: int
    metrics: tuple[MetricPart, ...]
    releases: tuple[ComparedRelease, ...]
    settings: tuple[Setting, ...]
