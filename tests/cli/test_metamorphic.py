"""Change the private table: every artefact that is not noise stays the same, under a model too; no canary gets out."""

import contextlib
import shutil
from pathlib import Path

import pytest

from tests.cli.shell import HEADER, RELEASE, SCHEMA, release_of, rows, write_rows
from tests.cli.test_privacy_faults import names, repeatable, without_digits, without_noise

__all__ = ["repeatable"]

CANARY = "Zebulon-4711"
CONSTRAINTS = """
[[constraints]]
name = "the very young earn nothing"
kind = "impossible"
when = [{ column = "age", max = 1 }, { column = "income", null = false }]
"""
OUTPUT = '[output]\nformats = ["csv", "parquet"]\nmodel = true\nmarginals = true\n'
STORY = (
    "schema show",
    "plan",
    "run --yes",
    "verify releases/visits-same",
    "sample releases/visits-same --rows 40 --where age>=2 --out more.csv",
    "ledger show",
)


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
    release = RELEASE.replace('kind = "independent"', mechanism) + OUTPUT
    (folder / "release.toml").write_text(release, encoding="utf-8")
    write_rows(folder / "private.csv", lines)
    return folder


def told(give, folder: Path) -> list[tuple[int, str]]:
    with contextlib.chdir(folder):
        return [without_digits(give(line), folder) for line in STORY]


QUICK = {"a rare category", "one row", "rows that break a constraint"}


@pytest.mark.parametrize(
    "change", [pytest.param(change, marks=[pytest.mark.slow] * (change not in QUICK)) for change in CHANGES]
)
def test_p23_what_is_not_noise_stays_the_same_under_a_model_with_constraints(
    template, tmp_path, give, repeatable, change
):
    before = workspace_of(template, tmp_path / "one" / "workspace", private(), 'kind = "mst"')
    after = workspace_of(template, tmp_path / "two" / "workspace", CHANGES[change], 'kind = "mst"')
    stories = [told(give, folder) for folder in (before, after)]
    assert [code for code, _ in stories[0]] == [0] * len(STORY)
    assert stories[0] == stories[1]
    one, two = release_of(before), release_of(after)
    assert names(one) == names(two)
    public = [without_noise(release) for release in (one, two)]
    for kept in public:
        kept["questions"] = [question["cost"] for question in kept["questions"]]
        kept.pop("subject", None)
    assert public[0] == public[1]
    assert (one / "schema.json").read_bytes() == (two / "schema.json").read_bytes()


@pytest.mark.parametrize("mechanism", ['kind = "mst"', 'kind = "aim"\nmax_rounds = 3\ndegree = 2'], ids=["mst", "aim"])
def test_p28_no_canary_gets_into_a_model_a_sample_or_a_draft(template, tmp_path, give, mechanism):
    lines = [f"{CANARY},{CANARY},{CANARY},{CANARY}", *private()]
    folder = workspace_of(template, tmp_path / "workspace", lines, mechanism)
    (folder / "public.csv").write_text(f"{HEADER}\n1,north,3,4.50\n")
    with contextlib.chdir(folder):
        said = [give("schema check private.csv"), give("plan"), give("run --yes")]
        name = release_of(folder).name
        said += [
            give(f"verify releases/{name}"),
            give(f"sample releases/{name} --rows 50 --where town=north --out more.csv"),
            give("schema from-public public.csv --source survey --out drafted.toml"),
            give("schema from-public private.csv --source survey --out leaked.toml"),
            give("ledger export"),
        ]
    assert [done.code for done in said] == [1, 0, 0, 0, 0, 0, 2, 0]
    for done in said:
        assert CANARY not in done.out + done.err
    assert not (folder / "leaked.toml").exists()
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "private.csv":
            assert CANARY.encode() not in path.read_bytes(), path
