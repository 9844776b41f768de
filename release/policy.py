"""policy.toml: what an organisation asks of a release that verifies: who signed, how strong, whom it hides."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from accounting.budget import Cap
from accounting.budget import cap as cap_of
from accounting.errors import ConfigError, VerificationFailed
from accounting.exact import decimal_above, from_text
from release.dsse import key_ids
from release.keys import fingerprint, load_public
from release.manifest import CapPart, Manifest
from release.statement import MANIFEST_NAME
from release.toml import Exact, read_toml
from release.verify import Verified, verify_release

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class KeyTable(_Table):
    """One public key and how long its signatures count.

    Args:
        file: the public key, relative to the policy.
        expires: the last day on which a release may be made with it.
        revoked: whether none of its signatures count, whenever they were made.
    """

    file: Annotated[StrictStr, Field(min_length=1)]
    expires: date | None = None
    revoked: StrictBool = False


class PolicyTable(_Table):
    """A whole policy.toml.

    Args:
        version: the version of this file's form.
        epsilon: the largest ε of a release at ``delta``.
        dataset_epsilon: the largest ε of all releases of its dataset together at ``delta``.
        delta: the δ at which ε is compared, and the largest δ that a release or its dataset may state.
        unit: whose presence must be hidden.
        threshold: how many of the approvers must have signed.
        issuers: the keys of which one must have signed.
        approvers: the keys that count for the threshold.
    """

    version: Literal[1]
    epsilon: Exact | None = None
    dataset_epsilon: Exact | None = None
    delta: Exact | None = None
    unit: Literal["row", "person"] | None = None
    threshold: Annotated[StrictInt, Field(ge=1)] | None = None
    issuers: Annotated[tuple[KeyTable, ...], Field(min_length=1)]
    approvers: tuple[KeyTable, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyKey:
    """A key as the policy sees it.

    Args:
        key: the public key.
        table: how long its signatures count.
    """

    key: "Ed25519PublicKey"
    table: KeyTable


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with its keys read, by fingerprint.

    Args:
        table: policy.toml.
        issuers: the keys of which one must have signed.
        approvers: the keys that count for the threshold.
    """

    table: PolicyTable
    issuers: Mapping[str, PolicyKey]
    approvers: Mapping[str, PolicyKey]

    @property
    def keys(self) -> "dict[str, Ed25519PublicKey]":
        """Every key that is not revoked, by fingerprint."""
        known = {**self.issuers, **self.approvers}
        return {name: found.key for name, found in known.items() if not found.table.revoked}


def read_policy(path: Path) -> Policy:
    """Read a policy.toml and its keys.

    Raises:
        ConfigError: missing, malformed, it breaks a rule, or a key is missing, listed twice, or there are too few.
    """
    table = read_toml(path, PolicyTable)
    if (table.threshold is None) != (not table.approvers) or (table.threshold or 0) > len(table.approvers):
        raise ConfigError(f"{path}: threshold goes with at least as many [[approvers]]")
    if (table.epsilon is not None or table.dataset_epsilon is not None) and table.delta is None:
        raise ConfigError(f"{path}: epsilon needs delta beside it, at which it is compared")
    if table.delta is not None and not 0 < table.delta < 1:
        raise ConfigError(f"{path}: delta must lie strictly between 0 and 1")
    return Policy(table, _keys(path, table.issuers), _keys(path, table.approvers))


def verify_under(folder: Path, policy: Policy) -> Verified:
    """Verify a release with the policy's keys, and hold it against the policy.

    Raises:
        VerificationFailed: the release does not verify, or the policy does not accept it.
        ConfigError: there is no such release.
    """
    path = folder / MANIFEST_NAME
    if path.is_file():
        _refuse_revoked(key_ids(path.read_bytes(), file=MANIFEST_NAME), policy)
    verified = verify_release(folder, policy.keys)
    day = date.fromisoformat(verified.manifest.day)
    _check_issuer(verified.signers, day, policy)
    _check_approvers(verified.signers, day, policy)
    _check_strength(verified.manifest, policy.table)
    if policy.table.unit not in {None, verified.manifest.unit["kind"]}:
        raise VerificationFailed(f"the policy asks for unit {policy.table.unit}, and the release hides another")
    return verified


def _keys(path: Path, tables: tuple[KeyTable, ...]) -> dict[str, PolicyKey]:
    keys: dict[str, PolicyKey] = {}
    for table in tables:
        key = load_public(path.parent / table.file)
        if fingerprint(key) in keys:
            raise ConfigError(f"{path}: {table.file} is a key that is listed already; each key counts once")
        keys[fingerprint(key)] = PolicyKey(key, table)
    return keys


def _refuse_revoked(named: tuple[str, ...], policy: Policy) -> None:
    """Name a revoked key where no other issuer signed; else the sentence would be of an unknown key."""
    issuing = [policy.issuers[name] for name in named if name in policy.issuers]
    if issuing and all(found.table.revoked for found in issuing):
        raise VerificationFailed("the key of the issuer that signed it was revoked", file=MANIFEST_NAME)


def _check_issuer(signers: tuple[str, ...], day: date, policy: Policy) -> None:
    issuing = [policy.issuers[name].table for name in signers if name in policy.issuers]
    if not issuing:
        raise VerificationFailed("none of the policy's issuers signed it", file=MANIFEST_NAME)
    if not any(_in_time(table, day) for table in issuing):
        raise VerificationFailed("the key of the issuer had expired when the release was made", file=MANIFEST_NAME)


def _check_approvers(signers: tuple[str, ...], day: date, policy: Policy) -> None:
    needed = policy.table.threshold or 0
    approved = [name for name in signers if name in policy.approvers and _in_time(policy.approvers[name].table, day)]
    if len(approved) < needed:
        raise VerificationFailed(
            f"{len(approved)} of the policy's approvers signed it, and {needed} must", file=MANIFEST_NAME
        )


def _in_time(table: KeyTable, day: date) -> bool:
    return table.expires is None or day <= table.expires


def _check_strength(manifest: Manifest, table: PolicyTable) -> None:
    guarantee = manifest.guarantee
    for whom, ceiling, part, stated in (
        ("the release", table.epsilon, guarantee.release_cap, guarantee.release_statement),
        ("all releases together", table.dataset_epsilon, guarantee.dataset_cap, guarantee.dataset_statement),
    ):
        if table.delta is not None:
            delta = max(from_text(part.delta), Fraction(0) if stated is None else from_text(stated.delta))
            if delta > table.delta:
                raise VerificationFailed(
                    f"{whom} may have delta {decimal_above(delta)}, and the policy allows {decimal_above(table.delta)}"
                )
        if ceiling is not None and table.delta is not None:
            reached = _epsilon(manifest, part, table.delta)
            if reached > ceiling:
                raise VerificationFailed(
                    f"{whom} may have epsilon {decimal_above(reached)} at delta {decimal_above(table.delta)}, and the "
                    f"policy allows {decimal_above(ceiling)}"
                )


def _epsilon(manifest: Manifest, part: CapPart, delta: Fraction) -> Fraction:
    from accounting.convert import epsilon

    stated: Cap = cap_of(manifest.guarantee.law, from_text(part.amount), from_text(part.delta))
    return epsilon(stated, delta)
