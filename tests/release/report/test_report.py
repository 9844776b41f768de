"""What a report says, of ordinary and of degenerate releases; every release is made by the product's own commands."""

import csv
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from accounting.errors import ConfigError, VerificationFailed
from accounting.exact import from_text
from audits.document import AuditDocument, BlackBoxPart, GoodnessPart, PairPart, ReplayPart
from release.cli import dprelease
from release.report.build import build_report
from release.report.files import read_files, read_release
from release.report.language import LANGUAGES
from release.report.model import Report
from release.report.page import report_html
from release.report.pictures import columns_drawn
from release.report.writing import regenerate_report
from tests.release.small_release import RELEASE, command, make_release

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Collect what accessibility and self-containment need, and check that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.headings, self.images, self.loads = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.images.append(given.get("alt", ""))
        self.loads += [given[name] for name in ("src", "href", "action") if given.get(name)]
        if tag in {"script", "link", "iframe", "object"}:
            self.loads.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    return make_release(tmp_path_factory.mktemp("small") / "workspace", mechanism="aim", formats='["csv"]')


@pytest.fixture(scope="module")
def report(release) -> Report:
    return build_report(read_release(release))


def test_a_run_signs_its_reports(release):
    page, document = (release / "report.html").read_bytes(), (release / "report.json").read_bytes()
    assert Report.model_validate_json(document).release_id == release.name
    assert release.name.encode() in page
    command(release.parents[1], "verify", str(release))


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_the_command_makes_the_same_bytes(release, tmp_path, name):
    done = CliRunner().invoke(dprelease, ["report", str(release), "--out", str(tmp_path / name)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_bytes() == (release / name).read_bytes()


def test_nothing_is_written_into_a_release_or_over_a_file(release, tmp_path):
    (tmp_path / "there.html").write_text("kept")
    (tmp_path / "link").symlink_to(release)
    for out in (release / "new.html", tmp_path / "link" / "new.html", tmp_path / "there.html", tmp_path / "new.txt"):
        with pytest.raises(ConfigError):
            regenerate_report(release, out)
    assert (tmp_path / "there.html").read_text() == "kept"
    assert not (release / "new.html").exists()


def test_a_changed_file_is_not_reported(release, tmp_path):
    copy = shutil.copytree(release, tmp_path / "copy")
    with (copy / "bounds.csv").open("a") as file:
        file.write("age,10,measured,0,0,0,0\r\n")
    with pytest.raises(VerificationFailed, match=r"bounds\.csv"):
        regenerate_report(copy, tmp_path / "out.html")


def test_no_release_is_said_so(tmp_path):
    with pytest.raises(ConfigError, match="not a release folder"):
        read_release(tmp_path)


def test_the_budget_adds_up(report):
    charges = [from_text(charge.cost) for charge in report.budget.charges]
    settled = from_text(report.budget.settled)
    assert sum(charges) == sum(from_text(stage.cost) for stage in report.budget.stages) == settled
    assert settled + from_text(report.budget.unused) == from_text(report.guarantee.release_cap.amount)
    assert from_text(report.budget.left) == 1 - settled
    assert {stage.name for stage in report.budget.stages} >= {"single columns", "choosing what to measure"}


def test_the_bounds_are_those_of_the_table(release, report):
    with (release / "bounds.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["columns"]: row for row in csv.DictReader(file)}
    for column in report.accuracy.columns:
        assert column.error == min(1.0, float(rows[column.name]["share"]))
        assert column.margin is not None
    shown = [*report.accuracy.best, *report.accuracy.worst]
    assert {marginal.columns for marginal in shown} == {name for name in rows if " × " in name}
    assert [marginal.error for marginal in report.accuracy.best] == sorted(m.error for m in report.accuracy.best)


def test_values_below_the_noise_are_counted_in_the_synthetic_rows(release, report):
    with (release / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        ages = [row["age"] for row in csv.DictReader(file)]
    (column,) = [column for column in report.accuracy.columns if column.name == "age"]
    assert column.below_margin == sum(ages.count(str(age)) < column.margin for age in range(10))


def test_the_page_is_self_contained_and_accessible(release):
    page = Page((release / "report.html").read_text(encoding="utf-8"))
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(page.headings, page.headings[1:], strict=False))
    assert len(page.images) == 5
    assert all(len(text) > 20 for text in page.images)
    assert all(load.startswith("data:image/svg+xml;base64,") for load in page.loads)


def test_nothing_finer_than_a_day_is_said(release):
    for name in ("report.html", "report.json"):
        text = re.sub(r"base64,[^\"]*", "", (release / name).read_text(encoding="utf-8"))
        assert not re.search(r"\d\d:\d\d", text)
        assert set(re.findall(r"20\d\d-\d\d-\d\d", text)) <= {json.loads((release / "report.json").read_text())["day"]}


def release_of(folder: Path, schema: str, lines: list[str], about: str = "[output]") -> Path:
    """Make a release of a given table; ``about`` stands before the keys of [output] in release.toml."""
    command(folder, "init", str(folder))
    (folder / "schema.toml").write_text('[table]\nname = "odd"\nmax_rows = 50\n' + schema, encoding="utf-8")
    release = RELEASE.format(mechanism="independent", formats='["parquet"]').replace("[output]", about)
    (folder / "release.toml").write_text(release, encoding="utf-8")
    (folder / "private.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command(folder, "keys", "new")
    command(folder, "ledger", "open", "small", "--unit", "row", "--law", "zcdp", "--rho", "1")
    command(folder, "run", str(folder / "release.toml"), "--yes")
    return next((folder / "releases").iterdir())


COLUMN = '[[columns]]\nname = "{name}"\nkind = "categorical"\ncategories = {values}\nnullable = true\n'
DEGENERATE = {
    "constant": (COLUMN.format(name="only", values='["x"]'), ["only", *["x"] * 20]),
    "all-null": (COLUMN.format(name="only", values='["x", "y"]'), ["only", *['""'] * 20]),
    "few-rows": (COLUMN.format(name="<b>&amp;", values='["x", "<script>"]'), ["<b>&amp;", "x"]),
    "many-columns": (
        "".join(COLUMN.format(name=f"c{i}", values='["x", "y"]') for i in range(200)),
        [",".join(f"c{i}" for i in range(200)), *[",".join("xy"[(i + j) % 2] for i in range(200)) for j in range(20)]],
    ),
}


@pytest.fixture(scope="module")
def degenerate(tmp_path_factory) -> Callable[[str], Path]:
    """Make a degenerate release once; the constant one has a publisher and is signed with a Japanese page."""

    @cache
    def make(name: str) -> Path:
        schema, lines = DEGENERATE[name]
        about = '[about]\npublisher = "統計局 <b>"\npurpose = "研究"\nlanguage = "ja"\n[output]'
        folder = tmp_path_factory.mktemp(name) / "workspace"
        return release_of(folder, schema, lines, about=about if name == "constant" else "[output]")

    return make


@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_release_makes_a_readable_report(degenerate, name):
    report = build_report(read_release(degenerate(name)))
    assert {stage.name for stage in report.budget.stages} == {"single columns"}
    assert len(report.accuracy.warnings) <= 4
    for language in LANGUAGES:
        text = report_html(report, language).decode()
        Page(text)
        assert "<script>" not in text
        said = text.split("</style>")[1]
        assert all(float(share) <= 100 for share in re.findall(r"([0-9.]+)[ \u00a0]?%", said))


def test_what_many_columns_share_is_said_once(degenerate):
    report = build_report(read_release(degenerate("many-columns")))
    (poor,) = [warning for warning in report.accuracy.warnings if warning.key == "use.poor-many"]
    count = sum(column.reliability == "poor" for column in report.accuracy.columns)
    assert (poor.values["n"], poor.values["more"]) == (count, count - 10)
    assert str(poor).startswith(f"In {count} columns more than 10 % of the rows")
    assert len(columns_drawn(report)) == 40


def test_every_table_and_figure_has_its_source(report):
    """Between a table or a figure and the next heading, a source is named."""
    for language in LANGUAGES:
        body = report_html(report, language).decode().split("</header>")[1]
        for part in re.split(r"<h[23]", body):
            if "<table" in part or "<figure" in part:
                assert 'class="source"' in part.split("<table" if "<table" in part else "<figure")[-1], part[:200]


def test_rounds_hold_every_question_after_the_first_choice(report):
    rounds, charges = report.budget.rounds, report.budget.charges
    begun = next(place for place, charge in enumerate(charges) if charge.stage == "choosing what to measure")
    shares = sum(part.choosing + part.measuring for part in rounds)
    assert shares == pytest.approx(sum(charge.share for charge in charges[begun:]), abs=1e-5)
    assert [part.number for part in rounds] == list(range(1, len(rounds) + 1))
    assert rounds[0].entries[0] == charges[begun].entry
    assert rounds[-1].entries[1] == charges[-1].entry
    assert all(part.about for part in rounds)


def test_groups_below_the_noise_are_named_smallest_first(release, report, degenerate):
    few = degenerate("few-rows")
    rows = {
        "age": csv.DictReader((release / "synthetic.csv").read_text(encoding="utf-8").splitlines()),
        "<b>&amp;": parquet.read_table(few / "synthetic.parquet").to_pylist(),
    }
    values = {"age": [str(age) for age in range(10)], "<b>&amp;": ["x", "<script>", None]}
    for made, name in ((report, "age"), (build_report(read_release(few)), "<b>&amp;")):
        (column,) = [column for column in made.accuracy.columns if column.name == name]
        found = [row[name] for row in rows[name]]
        places = sorted((found.count(value), place) for place, value in enumerate(values[name]))
        small = [(values[name][place] or "null", count) for count, place in places if count < column.margin]
        groups = {group.column: group for group in made.accuracy.groups}
        assert (name in groups) == bool(small)
        if small:
            assert [(label.strip("()"), count) for label, count in groups[name].values] == small
            assert groups[name].entry == column.margin_entry
    assert small  # of one private row, two of three values are below the noise


def test_the_schema_is_shown_column_by_column(report):
    columns = {column.name: column for column in report.annex.columns}
    assert str(columns["colour"].domain) == "red, green, blue, light"
    assert [str(rule) for rule in columns["colour"].rules] == ["may be null", "an undeclared value becomes null"]
    assert str(columns["age"].domain) == "0 to 9, 10 steps"
    assert [str(rule) for rule in columns["member"].rules] == ["a null becomes false"]
    assert all(column.origin is None for column in report.annex.columns)


def test_earlier_runs_are_counted(release):
    files = read_release(release)
    assert "this release is the first of its dataset" in report_html(build_report(files)).decode()
    earlier = files.manifest.runs[0].model_copy(update={"release_id": "before", "withdrawn": True})
    later = replace(files, manifest=files.manifest.model_copy(update={"runs": (earlier, *files.manifest.runs)}))
    page = report_html(build_report(later)).decode()
    assert "there was 1 run of the same dataset" in page
    assert "<td>withdrawn</td>" in page


def test_the_signed_page_may_be_in_japanese(degenerate, tmp_path):
    japanese = degenerate("constant")
    signed = (japanese / "report.html").read_text(encoding="utf-8")
    assert '<html lang="ja">' in signed
    assert "公開者：統計局 &lt;b&gt;" in signed
    assert "プライバシー損失パラメータ" in signed
    again = regenerate_report(japanese, tmp_path / "again.html")
    assert again.read_text(encoding="utf-8") == signed
    english = regenerate_report(japanese, tmp_path / "en.html", "en").read_text(encoding="utf-8")
    assert "Released by 統計局 &lt;b&gt;." in english
    assert json.loads((japanese / "report.json").read_bytes())["purpose"] == "研究"


def test_the_language_is_an_option_of_pages_only(release, tmp_path):
    arguments = ["report", str(release), "--lang", "ja", "--out"]
    assert CliRunner().invoke(dprelease, [*arguments, str(tmp_path / "ja.html")]).exit_code == 0
    assert "技術付録" in (tmp_path / "ja.html").read_text(encoding="utf-8")
    refused = CliRunner().invoke(dprelease, [*arguments, str(tmp_path / "ja.json")])
    assert "the same for every language" in str(refused.exception)


def test_a_release_without_rows_says_so(release):
    """A noisy total of zero is rare; the report of a release with rows, told that there are none, stands for it."""
    files = read_release(release)
    empty = replace(files, manifest=files.manifest.model_copy(update={"output_rows": 0}))
    assert b"no rows" in report_html(build_report(empty))


AUDIT = AuditDocument(
    level="quick",
    mechanism={"kind": "aim"},
    law="zcdp",
    cap="1/4",
    unit={"kind": "row"},
    columns=("age",),
    whole_schema=False,
    neighbouring="add-or-remove-one-unit",
    significance=0.05,
    claims=(),
    pairs=(
        PairPart(
            pair="a row more",
            runs_each_side=1200,
            planned_runs_each_side=1200,
            false_positives=300,
            false_negatives=321,
            lower_bound=0.4567,
            lower_bound_apart=0.4,
            claimed_mu=0.7071,
            pair_value=0.5,
            charged_mu=0.7,
            bound_over_value=None,
            value_over_claim=0.7,
            power=0.97,
            p_values={},
            stopped_early=False,
            verdict="not falsified",
        ),
    ),
    black_box=BlackBoxPart(
        pair="a row more",
        training_runs_each_side=10,
        runs_each_side=10,
        false_positives=5,
        false_negatives=5,
        lower_bound=0.0,
        p_value=1.0,
    ),
    replay=(ReplayPart(pair="a row more", questions=7, largest_share_of_sensitivity=1.0, violations=()),),
    goodness=(GoodnessPart(sampler="gaussian", draws=1000, p_value=0.25, verdict="not falsified"),),
    verdict="not falsified",
)


def test_an_audit_of_the_release_is_shown_with_its_limits(release):
    files = read_release(release)
    assert "No audit was signed" in report_html(build_report(files)).decode()
    report = build_report(replace(files, audit=AUDIT))
    assert report.audit is not None
    assert (report.audit.pairs[0].errors, report.audit.pairs[0].claimed) == (621, 0.7071)
    page = report_html(report).decode()
    Page(page)
    shown = ("1 of 3 columns", "0.457", "0.707", "97.0 %", "not falsified", "7 questions", "smallest p-value is 0.25")
    for text in (*shown, AUDIT.no_proof):
        assert text in page


def test_a_signed_audit_is_read(release, tmp_path):
    names = sorted(path.name for path in release.iterdir() if path.suffix != ".html" and "report" not in path.name)
    copy = shutil.copytree(release, tmp_path / "copy")
    (copy / "audit.json").write_text(AUDIT.model_dump_json(), encoding="utf-8")
    manifest = read_release(release).manifest
    assert read_files(copy, (*names, "audit.json"), manifest).audit == AUDIT
