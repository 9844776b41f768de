"""Write the reports: into a release before it is signed, or beside it afterwards, never into a signed folder."""

from pathlib import Path

from accounting.errors import ConfigError
from release.manifest import Manifest
from release.report.build import build_report
from release.report.files import HTML_NAME, JSON_NAME, ReleaseFiles, read_files, read_release
from release.report.language import Language
from release.report.page import report_html, report_json
from release.statement import MANIFEST_NAME


def write_reports(folder: Path, manifest: Manifest) -> None:
    """Write ``report.html`` and ``report.json`` into a finished folder that is about to be signed.

    Args:
        folder: the release's files, without its manifest.
        manifest: what will be signed.
    """
    names = tuple(sorted(path.name for path in folder.iterdir()))
    for name, content in _reports(read_files(folder, names, manifest)).items():
        with (folder / name).open("xb") as file:
            file.write(content)


def regenerate_report(folder: Path, out: Path, language: Language | None = None) -> Path:
    """Make a release's report again, as a page or as JSON by the ending of the file's name.

    Args:
        folder: the release.
        out: the file to write.
        language: of the page; None for that of the signed one.

    Raises:
        ConfigError: the file is there already, lies in a release, or ends neither in .html nor in .json; or a language
            is asked of the JSON document, which has none.
        VerificationFailed: a file of the release is not what its manifest says.
    """
    if out.suffix not in {".html", ".json"}:
        raise ConfigError(f"{out} must end in .html or .json")
    if out.suffix == ".json" and language is not None:
        raise ConfigError("report.json is the same for every language; leave --lang out")
    if any((parent / MANIFEST_NAME).exists() for parent in out.absolute().resolve().parents):
        raise ConfigError(f"{out} lies in a signed release, which nothing may be added to; choose another place")
    if out.exists():
        raise ConfigError(f"{out} is there already; nothing was overwritten")
    content = _reports(read_release(folder), language)[HTML_NAME if out.suffix == ".html" else JSON_NAME]
    with out.open("xb") as file:
        file.write(content)
    return out


def _reports(files: ReleaseFiles, language: Language | None = None) -> dict[str, bytes]:
    report = build_report(files)
    return {HTML_NAME: report_html(report, language or report.language), JSON_NAME: report_json(report)}
