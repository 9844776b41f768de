"""Releases side by side: what is averaged, what is refused, and where confidential figures may go."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import pytest
from click.testing import CliRunner

from accounting.errors import ConfigError
from release.cli import dprelease
from release.comparison import build
from release.comparison.build import compare
from release.comparison.page import comparison_html, write_page
from release.report.files import ReleaseFiles, read_release
from tests.release.report.browser import measure, needs_chromium
from tests.release.report.test_confidential import audit_of
from tests.release.report.test_report import Page
from tests.release.small_release import command, make_release


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Path:
    """A workspace with two releases of one mechanism at one cap."""
    folder = tmp_path_factory.mktemp("compared") / "workspace"
    make_release(folder, formats='["csv"]')
    command(folder, "run", str(folder / "release.toml"), "--yes")
    return folder


@pytest.fixture(scope="module")
def folders(workspace) -> list[Path]:
    return sorted((workspace / "releases").iterdir())


@pytest.fixture(scope="module")
def files(folders) -> ReleaseFiles:
    return read_release(folders[0])


def variant(files: ReleaseFiles, number: int, *, shift: float = 0.0, **changes) -> ReleaseFiles:
    """A release like another one, under a name of its own and with bounds moved by ``shift``."""
    manifest = files.manifest.model_copy(update={"release_id": f"r{number}", **changes})
    bounds = tuple({**row, "share": str(float(row["share"]) + shift)} for row in files.bounds)
    return replace(files, manifest=manifest, bounds=bounds)


@pytest.fixture
def comparing(monkeypatch):
    """Compare releases that stand in memory."""

    def do(*variants: ReleaseFiles, confidential: Path | None = None):
        by_name = {one.manifest.release_id: one for one in variants}
        monkeypatch.setattr(build, "read_release", lambda folder: by_name[folder.name])
        return compare([Path(one.manifest.release_id) for one in variants], confidential)

    return do


def shares(files: ReleaseFiles) -> list[float]:
    return [float(row["share"]) for row in files.bounds]


def test_runs_of_one_setting_are_averaged_with_their_sd(files, comparing):
    found = comparing(*(variant(files, number, shift=number / 100) for number in range(3)))
    (setting,) = found.settings
    mean = fmean(shares(files))
    spread = setting.metrics["bound_1_way"]
    assert setting.runs == spread.runs == 3
    assert spread.mean == pytest.approx(mean + 0.01, abs=1e-6)
    assert spread.sd == pytest.approx(stdev([0, 0.01, 0.02]), abs=1e-6)


def test_mechanisms_and_caps_stand_apart_and_are_named_by_what_differs(files, comparing):
    own = files.manifest.mechanism
    other_cap = files.manifest.guarantee.model_copy(
        update={"release_cap": files.manifest.guarantee.release_cap.model_copy(update={"amount": "1/8"})}
    )
    found = comparing(
        variant(files, 1),
        variant(files, 2, guarantee=other_cap),
        variant(files, 3, mechanism={**own, "bins": 99}),
        variant(files, 4, mechanism={"kind": "tab-pe"}),
    )
    assert [setting.runs for setting in found.settings] == [1, 1, 1, 1]
    assert all(setting.metrics["bound_1_way"].sd is None for setting in found.settings)
    names = {one.release_id: one.mechanism for one in found.releases}
    assert names["r3"].startswith("independent, bins = 99")
    assert names["r1"].startswith("independent, bins = ")
    assert names["r4"] == "tab-pe"


def test_only_marginals_that_all_releases_bound_are_averaged(files, comparing):
    shorter = variant(files, 2)
    shorter = replace(shorter, bounds=shorter.bounds[1:])
    found = comparing(variant(files, 1), shorter)
    assert found.releases[0].metrics["bound_1_way"] == pytest.approx(fmean(shares(files)[1:]), abs=1e-6)
    assert "2 marginals" in found.metrics[0].label


def test_what_cannot_be_compared_is_refused_in_words(files, comparing):
    with pytest.raises(ConfigError, match="two releases or more"):
        comparing(variant(files, 1))
    with pytest.raises(ConfigError, match="another schema"):
        comparing(variant(files, 1), variant(files, 2, schema_digest="0" * 64))
    with pytest.raises(ConfigError, match="another unit"):
        comparing(variant(files, 1), variant(files, 2, unit={"kind": "person", "id_column": "x", "max_rows": 2}))
    no_curve = files.manifest.guarantee.model_copy(update={"release_curve": files.manifest.guarantee.release_curve[:0]})
    with pytest.raises(ConfigError, match="no delta is common"):
        comparing(variant(files, 1), variant(files, 2, guarantee=no_curve))
    with pytest.raises(ConfigError, match="named twice"):
        compare([Path("r1"), Path("r1")])


def many(files: ReleaseFiles) -> list[ReleaseFiles]:
    kinds = ("aim", "mst", "independent", "tab-pe", "aim-gdp")
    return [variant(files, number, shift=number / 200, mechanism={"kind": kinds[number % 5]}) for number in range(10)]


def test_the_page_is_self_contained_and_accessible(files, comparing):
    text = comparison_html(comparing(*many(files))).decode()
    page = Page(text)
    assert page.headings == [1, 2, 2, 2]
    assert len(page.images) == 1
    assert "All values are in the table below" in page.images[0]
    assert all(load.startswith("data:image/svg+xml;base64,") for load in page.loads)
    assert "onfidential" not in text.split("</style>")[1]
    assert comparison_html(comparing(*many(files))).decode() == text


@needs_chromium
def test_nothing_runs_out_of_the_margins(files, comparing, tmp_path):
    page = comparison_html(comparing(*many(files)))
    for name, layout in measure(tmp_path, {str(width): (page, width) for width in (375, 1280)}).items():
        assert layout["beyond"] == [], name
        assert layout["broken"] == 0


def test_confidential_results_are_compared_where_there_are_some(files, comparing, tmp_path):
    with pytest.raises(ConfigError, match="r1 has no confidential result here"):
        comparing(variant(files, 1), variant(files, 2), confidential=tmp_path)
    for number, held_out in ((1, True), (2, False)):
        (tmp_path / f"r{number}").mkdir()
        content = audit_of(3, held_out=held_out).model_dump_json()
        (tmp_path / f"r{number}" / "output-audit.json").write_text(content, encoding="utf-8")
    found = comparing(variant(files, 1), variant(files, 2), confidential=tmp_path)
    assert found.confidential
    assert [one.metrics["membership_auc"] for one in found.releases] == [0.51, None]
    assert found.releases[0].metrics["variation_2_way"] == 0.0321
    assert found.settings[0].metrics["membership_auc"].runs == 1
    text = comparison_html(found).decode()
    Page(text)
    assert text.startswith("<!DOCTYPE html>\n<!-- dprelease/confidential-")
    assert "For the curator's eyes only" in text


def test_a_confidential_page_stays_in_its_folder(files, comparing, tmp_path):
    place = tmp_path / "confidential"
    for number in (1, 2):
        (place / f"r{number}").mkdir(parents=True)
        content = audit_of(2).model_dump_json()
        (place / f"r{number}" / "output-audit.json").write_text(content, encoding="utf-8")
    found = comparing(variant(files, 1), variant(files, 2), confidential=place)
    (place / "link").symlink_to(tmp_path)
    for out in (tmp_path / "out.html", place / "link" / "out.html", place / ".." / "out.html"):
        with pytest.raises(ConfigError, match="stays in"):
            write_page(found, out, place)
    written = write_page(found, place / "comparisons" / "one.html", place)
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    with pytest.raises(ConfigError, match="nothing was overwritten"):
        write_page(found, written, place)


def test_the_command_compares(workspace, folders, tmp_path):
    names = [str(folder) for folder in folders]
    done = CliRunner().invoke(dprelease, ["compare", *names, "--out", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert "2 releases; epsilon at delta" in done.output
    assert "independent" in done.output
    Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    document = json.loads(CliRunner().invoke(dprelease, ["compare", *names, "--json"]).output)
    assert document["format"] == "dprelease.comparison"
    assert document["settings"][0]["metrics"]["bound_1_way"]["runs"] == 2
    refused = CliRunner().invoke(dprelease, ["compare", *names, "--out", str(folders[0] / "page.html")])
    assert isinstance(refused.exception, ConfigError)
    nothing = ["compare", *names, "--confidential", "--workspace", str(workspace)]
    assert "no confidential result" in str(CliRunner().invoke(dprelease, nothing).exception)
