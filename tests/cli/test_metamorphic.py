"""Change the private table: every artefact that is not noise stays the same, whatever the mechanism."""

import contextlib
import shutil
from pathlib import Path

import pytest

from tests.cli.shell import RELEASE, SCHEMA, release_of, rows, write_rows
from tests.cli.test_privacy_faults import names, repeatable, without_digits, without_noise

__all__ = ["repeatable"]

CONSTRAINTS = """
[[constraints]]
name = "the very young earn nothing"
kind = "impossible"
when = [{ column = "age", max = 1 }, { column = "income", null = false }]
"""
MECHANISMS = {
    "independent": "",
    "mst": "",
    "aim": "max_rounds = 1\ndegree = 2",
    "aim-gdp": "max_rounds = 1\ndegree = 2",
    "tab-pe": "rounds = 2\npopulation = 60",
}
"""With one round the number of AIM's questions does not depend on answers."""

WITH_A_MODEL = ("mst", "aim", "aim-gdp")
OUTPUT = '[output]\nformats = ["csv", "parquet"]\nmarginals = true\n'
STORY = (
    "schema show",
    "plan",
    "run --yes",
    "verify releases/visits-same",
    "ledger show",
)
SAMPLE = "sample releases/visits-same --rows 40 --where age>=2 --out more.csv"


def private() -> list[str]:
    lines = [line.replace(",5,", ",,") for line in rows()]
    lines[7] = "p7,hamlet,3,0"
    lines[8] = "p8,north,0,500.00"
    return lines


def edited(edit) -> list[str]:
    return [edit(line) for line in private()]


CHANGES = {
    "a rare category": edited(lambda line: line.replace("hamlet", "south")),
    "all nulls of a column": edited(lambda line: line.replace(",,", ",5,")),
    "one label": edited(lambda line: line.replace("p9,", "p10,")),
    "one row": private()[1:],
    "a column made constant": edited(lambda line: ",".join([*line.split(",")[:3], "0"])),
    "rows that break a constraint": edited(lambda line: line.replace(",4,", ",0,")),
    "no row that breaks a constraint": [line for line in private() if ",0," not in line and ",1," not in line],
}


def workspace_of(template: Path, folder: Path, lines: list[str], mechanism: str) -> Path:
    shutil.copytree(template, folder)
    (folder / "schema.toml").write_text(SCHEMA + CONSTRAINTS, encoding="utf-8")
    chosen = f'kind = "{mechanism}"\n{MECHANISMS[mechanism]}'
    output = OUTPUT + "model = true\n" * (mechanism in WITH_A_MODEL)
    release = RELEASE.replace('kind = "independent"', chosen) + output
    (folder / "release.toml").write_text(release, encoding="utf-8")
    write_rows(folder / "private.csv", lines)
    return folder


def told(give, folder: Path, mechanism: str) -> list[tuple[int, str]]:
    lines = (*STORY, SAMPLE) if mechanism in WITH_A_MODEL else STORY
    with contextlib.chdir(folder):
        return [without_digits(give(line), folder) for line in lines]


QUICK = {
    *(("a rare category", mechanism) for mechanism in MECHANISMS),
    ("one row", "mst"),
    ("rows that break a constraint", "mst"),
}


@pytest.mark.parametrize(
    ("change", "mechanism"),
    [
        pytest.param(change, mechanism, marks=[pytest.mark.slow] * ((change, mechanism) not in QUICK))
        for change in CHANGES
        for mechanism in MECHANISMS
    ],
)
def test_p23_what_is_not_noise_stays_the_same_under_constraints(  # noqa: PLR0917 - fixtures
    template, tmp_path, give, repeatable, change, mechanism
):
    before = workspace_of(template, tmp_path / "one" / "workspace", private(), mechanism)
    after = workspace_of(template, tmp_path / "two" / "workspace", CHANGES[change], mechanism)
    stories = [told(give, folder, mechanism) for folder in (before, after)]
    assert {code for code, _ in stories[0]} == {0}, stories[0]
    assert stories[0] == stories[1]
    one, two = release_of(before), release_of(after)
    assert names(one) == names(two)
    public = [without_noise(release) for release in (one, two)]
    for kept in public:
        kept["questions"] = [question["cost"] for question in kept["questions"]]
        kept.pop("subject", None)
    assert public[0] == public[1]
    assert (one / "schema.json").read_bytes() == (two / "schema.json").read_bytes()
