"""The states of datasets, releases and questions as plain values, for people and programs."""

from fractions import Fraction

from accounting.errors import ConfigError
from accounting.ledger.amounts import in_law
from accounting.ledger.store import Dataset, Reading, Release, Standing
from accounting.ledger.values import DatasetState, InFlight, ReleaseState


def known_dataset(view: Reading, label: str) -> Dataset:
    """Return a dataset that must exist.

    Raises:
        ConfigError: the label was never opened.
    """
    dataset = view.dataset(label)
    if dataset is None:
        raise ConfigError(f"no dataset {label!r} is open in this ledger; open its budget first")
    return dataset


def known_release(view: Reading, release_id: str) -> Release:
    """Return a release that must exist.

    Raises:
        ConfigError: the release was never allotted.
    """
    release = view.release(release_id)
    if release is None:
        raise ConfigError(f"release {release_id!r} is not in this ledger")
    return release


def dataset_state(view: Reading, label: str) -> DatasetState:
    """Return what a dataset's budget is and what became of it."""
    dataset = known_dataset(view, label)
    totals = dataset.totals
    standings = view.standings(label)
    releases = view.releases(label)
    law = totals.cap.law
    settled = sum((in_law(release.totals.settled, release.cap.law, law) for release in releases), Fraction(0))
    granted = sum((in_law(release.totals.granted, release.cap.law, law) for release in releases), Fraction(0))
    disjoint = dict.fromkeys(name for standing in standings for name in standing.others)
    return DatasetState(
        label=label,
        unit=dataset.unit,
        law=law,
        cap=totals.cap,
        statement=totals.statement,
        allotted=totals.allotted,
        allotted_delta=totals.allotted_delta,
        settled=settled,
        in_flight=granted - settled,
        purpose=totals.purpose,
        closed=totals.closed,
        releases=tuple(_release_state(release, totals.raised, standings) for release in releases),
        looks=totals.looks,
        raised=totals.raised,
        disjoint=tuple(disjoint),
        head=view.head(label),
    )


def in_flight(view: Reading, release_id: str) -> tuple[InFlight, ...]:
    """Return a release's questions that are charged and have no stored answer."""
    return tuple(
        InFlight(release_id, request, question.status, question.amount, question.grant)
        for request, question in view.questions(release_id).items()
        if question.status == "reserved" or question.status == "started"  # noqa: PLR1714  # mypy narrows only this form
    )


def _release_state(release: Release, raised: int | None, standings: list[Standing]) -> ReleaseState:
    totals = release.totals
    said = [standing for standing in standings if standing.about == release.release_id]
    return ReleaseState(
        release_id=release.release_id,
        label=release.label,
        purpose=release.purpose,
        noise=release.noise,
        cap=release.cap,
        granted=totals.granted,
        granted_delta=totals.granted_delta,
        settled=totals.settled,
        settled_delta=totals.settled_delta,
        closed=totals.closed,
        entry=release.entry,
        commitment=release.commitment,
        replaced=raised is not None and release.entry < raised,
        superseded_by=next((standing.by for standing in said if standing.by is not None), None),
        withdrawn=any(standing.kind == "withdrawn" for standing in said),
    )
