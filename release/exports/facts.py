"""What every export is made from: the release's files, its report, and what the publisher adds."""

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from urllib.parse import quote

from accounting.exact import decimal_above
from release.dsse import payload_of
from release.exports.publication import Publication
from release.manifest import CapPart, Manifest
from release.output import NAMES
from release.report.build import build_report
from release.report.files import ReleaseFiles, read_release
from release.report.model import Report
from release.statement import ATTESTATIONS, MANIFEST_NAME, file_digest


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file of the release.

    Args:
        name: its name in the folder.
        sha256: its SHA-256, hexadecimal.
        size: its length in bytes.
    """

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What an export may say.

    Args:
        folder: the name of the release's folder.
        files: what the release holds.
        report: its report, for words and figures.
        published: every file of the folder, the manifest included, by name.
        statement: the SHA-256 of the signed statement, which names the release and stays as further people sign it.
        publication: what the publisher adds.
    """

    folder: str
    files: ReleaseFiles
    report: Report
    published: tuple[PublishedFile, ...]
    statement: str
    publication: Publication

    @property
    def manifest(self) -> Manifest:
        """The release's manifest."""
        return self.files.manifest

    @property
    def title(self) -> str:
        """The release's name in a catalogue."""
        return self.publication.title or f"{self.files.schema.name} (synthetic)"

    @property
    def description(self) -> str:
        """What the release is, in one paragraph."""
        table = self.publication.description or self.files.schema.table.description
        about = f"{table.rstrip('.')}. " if table else ""
        rows = f"{self.manifest.output_rows:,}".replace(",", " ")
        return (
            f"{about}{rows} synthetic rows with the statistics of a private table, made under differential privacy. "
            "No row stands for a real person."
        )

    @property
    def publishers(self) -> tuple[str, ...]:
        """Who publishes the release: by publication.toml, else by the release itself."""
        named = tuple(each.name for each in self.publication.publishers)
        own = self._about.get("publisher")
        return named or ((own,) if own else ())

    @property
    def intended_use(self) -> str | None:
        """What it is meant for: by publication.toml, else by the release itself."""
        return self.publication.intended_use or self._about.get("purpose")

    @property
    def _about(self) -> dict[str, str]:
        about: dict[str, str] = self.manifest.config.get("about", {})
        return about

    @property
    def tables(self) -> dict[str, PublishedFile]:
        """The synthetic table in each format that the release holds."""
        names = {file.name for file in self.published}
        return {kind: self.file(name) for kind, name in NAMES.items() if name in names}

    @property
    def guarantee(self) -> str:
        """The guarantee of this release, and of all releases of the dataset, in one sentence each."""
        part = self.report.guarantee
        law = {"zcdp": "zero-concentrated differential privacy (zCDP)", "gdp": "Gaussian differential privacy (GDP)"}
        own, every = part.release_epsilon, part.dataset_epsilon
        return (
            f"This release keeps {law[part.law]} with {part.amount_name} at most {_cap(part.release_cap)}: epsilon "
            f"{above(own.epsilon)} at delta {above(own.delta)}. All releases of the dataset together keep "
            f"{part.amount_name} at most {_cap(part.dataset_cap)}: epsilon {above(every.epsilon)} at delta "
            f"{above(every.delta)}. Figures are rounded up."
        )

    @property
    def domains(self) -> str:
        """Where the columns' domains come from."""
        if self.manifest.domain is None:
            return "Domains, bounds and categories were declared, not taken from the table."
        measured = ", ".join(part.column for part in self.manifest.domain.columns)
        return f"The domains of {measured} were found by paid questions; all others were declared."

    @property
    def noise(self) -> str:
        """What noise was added, and where its randomness came from."""
        sources = {"os": "the operating system's generator"}
        named = self.manifest.randomness.noise
        return f"Noise: the rounded Gaussian and exact selection, from {sources.get(named, named)}."

    def file(self, name: str) -> PublishedFile:
        """Return one file of the release by its name."""
        (found,) = [file for file in self.published if file.name == name]
        return found

    def address(self, name: str) -> str:
        """Return where a file is found: in the release's folder beside the export, or where the publisher says."""
        return f"{self.publication.files or quote(f'{self.folder}/')}{name}"


def above(amount: str, digits: int = 4) -> str:
    """Write an exact amount ``p/q`` or a decimal as a short decimal, rounded up."""
    return decimal_above(Fraction(amount), digits)


def _cap(part: CapPart) -> str:
    aside = "" if part.delta == "0/1" else f" (up to delta {above(part.delta)}, set aside for finding categories)"
    return f"{above(part.amount)}{aside}"


def read_facts(folder: Path, publication: Publication) -> Facts:
    """Read a release whose signature is checked elsewhere.

    Raises:
        ConfigError: there is no such release, or it lacks a file.
        VerificationFailed: a file is not what the manifest says.
    """
    files = read_release(folder)
    paths = [path for path in sorted(folder.iterdir()) if path.name != ATTESTATIONS]
    published = tuple(PublishedFile(path.name, file_digest(path), path.stat().st_size) for path in paths)
    payload = payload_of((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME)
    statement = hashlib.sha256(payload).hexdigest()
    return Facts(folder.resolve().name, files, build_report(files), published, statement, publication)
