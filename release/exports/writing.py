"""Write one export of a verified release beside it, never into it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from accounting.errors import ConfigError
from release.exports.croissant import croissant
from release.exports.facts import Facts, read_facts
from release.exports.frictionless import data_package
from release.exports.opendp import registry_record
from release.exports.publication import read_publication
from release.exports.summary_page import summary_page
from release.statement import MANIFEST_NAME
from release.verify import verify_release

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ExportFormat = Literal["summary", "croissant", "frictionless", "opendp"]
FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)

_WRITERS: Mapping[ExportFormat, tuple[str, Callable[[Facts], bytes]]] = {
    "summary": (".md", summary_page),
    "croissant": (".json", croissant),
    "frictionless": (".json", data_package),
    "opendp": (".yaml", registry_record),
}


def export_release(
    folder: Path,
    trusted: "Mapping[str, Ed25519PublicKey] | None",
    *,
    kind: ExportFormat,
    out: Path,
    publication: Path | None = None,
) -> Path:
    """Verify a release and write it down in a catalogue's form; the same release gives the same bytes.

    Args:
        folder: the release.
        trusted: the public keys that may sign it, or None to check the files' digests only.
        kind: the form.
        out: a new file with the form's ending.
        publication: a publication.toml, or None.

    Raises:
        ConfigError: the file is there already, lies in a release, has another ending, or the form needs more facts.
        VerificationFailed: the release is not what was signed.
    """
    suffix, write = _WRITERS[kind]
    if out.suffix != suffix:
        raise ConfigError(f"{out} must end in {suffix}")
    if any((parent / MANIFEST_NAME).exists() for parent in out.absolute().resolve().parents):
        raise ConfigError(f"{out} lies in a signed release, which nothing may be added to; choose another place")
    if out.exists():
        raise ConfigError(f"{out} is there already; nothing was overwritten")
    facts = read_publication(publication)
    if trusted is not None:
        verify_release(folder, trusted)
    content = write(read_facts(folder, facts))
    with out.open("xb") as file:
        file.write(content)
    return out
