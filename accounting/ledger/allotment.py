"""The checks before a release gets its share: form, purpose, recognised rows, and the dataset's filter."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from accounting.budget import Cap
from accounting.canonical import Json, sha256
from accounting.errors import BudgetRefused, ConfigError
from accounting.filters import Filter
from accounting.ledger.amounts import check_short, check_sum, to_text
from accounting.ledger.content import check_context, check_digest, check_token
from accounting.ledger.store import Dataset, DatasetTotals, Salt
from accounting.ledger.values import PURPOSES, Commitment, Purpose


@dataclass(slots=True)
class Recognition:
    """Tells whether rows were released under another label, and commits to them with a fresh salt.

    Args:
        commitment: recomputes the salted hash of the rows.
        label: the label under which they are released now.
    """

    commitment: Commitment
    label: str
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _compared: set[str] = field(default_factory=set)

    def own(self) -> str:
        """Return the commitment under the fresh salt."""
        return check_digest(self.commitment(self.salt), "commitment")

    def refuse_known(self, salts: Iterable[Salt]) -> None:
        """Compare with every salt of another label that was not compared before.

        Raises:
            ConfigError: the rows are known under another label; nothing was spent.
        """
        for salt in salts:
            if salt.label == self.label or salt.release_id in self._compared:
                continue
            if self.commitment(salt.salt) == salt.commitment:
                raise ConfigError(
                    f"these rows were released under label {salt.label!r}; one group of people has one label and one "
                    "cap, so release them from there"
                )
            self._compared.add(salt.release_id)


def check_allotment(
    cap: Cap, purpose: Purpose, noise: str, context: Mapping[str, Json], commitment: Commitment | None
) -> dict[str, Json]:
    """Check what does not need the ledger, and write the fields of the entry that do not need the rows.

    Raises:
        ConfigError: an argument is invalid, or a release lacks operating system noise or the commitment to its rows.
    """
    if not isinstance(cap, Cap):
        raise ConfigError("a release needs a Cap")
    check_short(cap.value, "cap")
    check_short(cap.delta, "cap's delta")
    if purpose not in PURPOSES:
        raise ConfigError(f"a release's purpose is one of {', '.join(PURPOSES)}")
    if purpose == "release" and noise != "os":
        raise ConfigError("a release needs noise from the operating system; a seeded source is for purpose 'test' only")
    if purpose == "release" and commitment is None:
        raise ConfigError("a release needs the commitment to its rows")
    return {
        "purpose": purpose,
        "noise": check_token(noise, "noise"),
        "unit": cap.law.unit,
        "amount": to_text(cap.value),
        "delta": to_text(cap.delta),
        "context": check_context(context),
    }


def commitment_fields(recognition: Recognition | None) -> dict[str, Json]:
    """Write the commitment as an entry holds it; the salt appears by its own SHA-256 only."""
    if recognition is None:
        return {"commitment": None, "salt_digest": None}
    return {"commitment": recognition.own(), "salt_digest": sha256(recognition.salt)}


def allotted(dataset: Dataset, cap: Cap, purpose: Purpose) -> DatasetTotals:
    """Return the dataset's totals after an allotment that fits.

    Raises:
        BudgetRefused: it does not fit, or the dataset is closed; nothing was spent.
        ConfigError: another law or purpose than the dataset's; nothing was spent.
    """
    before = dataset.totals
    law = before.cap.law
    if before.closed:
        raise BudgetRefused(
            f"dataset {dataset.label!r} is closed and takes no further release; nothing was spent",
            asked=cap.value,
            left=Fraction(0),
            unit=law.unit,
        )
    if cap.law is not law:
        raise ConfigError(f"dataset {dataset.label!r} composes under {law.value}; the release's cap must too")
    if before.purpose not in (None, purpose):
        raise ConfigError(
            f"dataset {dataset.label!r} has releases for purpose {before.purpose!r}; one dataset serves one purpose"
        )
    Filter(before.cap, before.allotted, before.allotted_delta).check(cap.value, cap.delta)
    check_sum(before.allotted + cap.value)
    return replace(
        before,
        allotted=before.allotted + cap.value,
        allotted_delta=before.allotted_delta + cap.delta,
        purpose=purpose,
    )
