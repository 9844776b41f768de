"""The in-toto statement that binds a release's files to its manifest, and the folder's one signed file."""

import hashlib
from pathlib import Path
from typing import Final, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError, VerificationFailed
from release.confidentiality import is_confidential
from release.dsse import seal
from release.manifest import Hash, Manifest

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:dprelease:predicate:release:v1"
MANIFEST_NAME = "manifest.dsse.json"
ATTESTATIONS: Final = "attestations"
DOMAIN_NAME: Final = "domain.json"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class Digest(_Part):
    """The digests of one file."""

    sha256: Hash


class Subject(_Part):
    """One file of the release."""

    name: str
    digest: Digest


class Statement(_Part):
    """An in-toto Statement v1 whose predicate is a release's manifest."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[Subject, ...]
    predicate_type: Literal["urn:dprelease:predicate:release:v1"] = Field(alias="predicateType")
    predicate: Manifest

    def to_bytes(self) -> bytes:
        """Return the statement's one canonical byte form."""
        return canonical_bytes(self.model_dump(mode="json", by_alias=True))


def parse_statement(payload: bytes) -> Statement:
    """Read a statement strictly: known fields only, in canonical byte form.

    Raises:
        VerificationFailed: anything else.
    """
    try:
        statement = Statement.model_validate_json(payload)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise VerificationFailed(
            f"the manifest does not have the declared form, at {where}", file=MANIFEST_NAME
        ) from None
    if statement.to_bytes() != payload:
        raise VerificationFailed("the manifest is not in its one canonical byte form", file=MANIFEST_NAME)
    return statement


def write_signed(folder: Path, manifest: Manifest, keys: list[Ed25519PrivateKey]) -> Path:
    """Sign a folder's files with its manifest; every file that is there becomes a subject.

    Args:
        folder: the finished release without its manifest; plain files only.
        manifest: what is said about it.
        keys: one or more signing keys.

    Returns:
        The path of the envelope.

    Raises:
        ConfigError: a file is confidential.
    """
    for path in sorted(folder.iterdir()):
        if is_confidential(path):
            raise ConfigError(f"{path} is confidential and cannot be signed into a release")
    subjects = tuple(
        Subject(name=path.name, digest=Digest(sha256=file_digest(path))) for path in sorted(folder.iterdir())
    )
    statement = Statement(type_=STATEMENT_TYPE, subject=subjects, predicate_type=PREDICATE_TYPE, predicate=manifest)
    target = folder / MANIFEST_NAME
    with target.open("xb") as file:
        file.write(seal(statement.to_bytes(), keys))
    return target


def check_release_folder(folder: Path) -> None:
    """Refuse a folder that is no release; where releases lie inside it, name one.

    Raises:
        ConfigError: it holds no manifest.
    """
    if (folder / MANIFEST_NAME).is_file():
        return
    inside = sorted(path.parent for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{MANIFEST_NAME}"))
    hint = f"; did you mean {inside[0]}?" if inside else ""
    raise ConfigError(f"{folder} is not a release folder: it has no {MANIFEST_NAME}{hint}")


def file_digest(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
