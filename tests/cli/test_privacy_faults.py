"""Faults of comparable systems that a whole run must make impossible, named after them."""

import base64
import contextlib
import json
import re
import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np
import pytest

import release.running
from accounting.errors import ConfigError
from accounting.noise import OsEntropy, SeededEntropy
from release.cli import dprelease
from release.config import ReleaseConfig
from release.running import Job
from tests.cli.shell import HEADER, RELEASE, Done, manifest, release_of, rows, write_rows

CANARY = "Zebulon-4711"
NOISY_FIELDS = ("notes", "output_rows", "ledger", "questions", "error_bounds")


class RepeatableNoise:
    """Seeded words that call themselves the operating system's: for comparing whole runs, here and nowhere else."""

    source = "os"

    def __init__(self) -> None:
        self._seeded = SeededEntropy(11)

    def words(self, count: int):
        return self._seeded.words(count)


@pytest.fixture
def repeatable(monkeypatch):
    """Make two runs equal but for what the private rows change."""
    monkeypatch.setattr(release.running, "Job", lambda *parts, **named: Job(*parts, **named, entropy=RepeatableNoise()))
    monkeypatch.setattr(release.running, "new_release_id", lambda label: f"{label}-same")
    monkeypatch.setattr(secrets, "randbits", lambda _: 7)
    monkeypatch.setattr(secrets, "token_bytes", bytes)


def fresh(template: Path, folder: Path, lines: list[str]) -> Path:
    shutil.copytree(template, folder)
    write_rows(folder / "private.csv", lines)
    return folder


def whole_story(give, folder: Path) -> list[Done]:
    lines = ("plan", "run --yes", "verify releases/visits-same", "ledger show", "ledger log")
    with contextlib.chdir(folder):
        return [give(line) for line in lines]


def without_noise(release: Path) -> dict:
    """Return what is not noisy in a manifest."""
    content = manifest(release)
    kept = {key: value for key, value in content.items() if key not in NOISY_FIELDS}
    kept["questions"] = [
        {key: value for key, value in question.items() if key != "answer_digest"} for question in content["questions"]
    ]
    return kept


def without_digits(done: Done, folder: Path) -> tuple[int, str]:
    """Return what a command said without the noisy number of rows, digests and the workspace's path."""
    said = (done.out + done.err).replace(str(folder), "*")
    return done.code, re.sub(r"[0-9a-f]{64}|\d+ synthetic rows", "*", said)


CHANGES = {
    "no rare category and no nulls": rows(),
    "every row": [],
    "half of the rows": rows()[::2],
    "one row": rows()[1:],
    "the order": rows()[::-1],
    "values out of range": [line.replace(",5,", ",500,") for line in rows()],
    "undeclared categories": [line.replace("north", CANARY) for line in rows()],
    "empty fields": ["p,,,"] * 50,
}


def original_rows() -> list[str]:
    lines = rows()
    lines[3] = "p3,hamlet,1,0"
    lines[4] = "p4,,2,"
    return lines


@pytest.mark.parametrize("change", CHANGES)
def test_p23_p28_no_message_code_or_file_depends_on_private_rows_but_by_noise(
    template, tmp_path, give, repeatable, change
):
    before = fresh(template, tmp_path / "one" / "workspace", original_rows())
    after = fresh(template, tmp_path / "two" / "workspace", CHANGES[change])
    stories = [whole_story(give, folder) for folder in (before, after)]
    assert [done.code for done in stories[0]] == [0] * 5
    said = [
        [without_digits(done, folder) for done in story] for story, folder in zip(stories, (before, after), strict=True)
    ]
    assert said[0] == said[1]
    assert without_noise(release_of(before)) == without_noise(release_of(after))
    assert names(release_of(before)) == names(release_of(after))
    assert (release_of(before) / "schema.json").read_bytes() == (release_of(after) / "schema.json").read_bytes()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_p30_the_order_of_the_rows_changes_nothing(template, tmp_path, give, repeatable):
    lines = rows()
    folders = [fresh(template, tmp_path / "one", lines), fresh(template, tmp_path / "two", lines[::-1])]
    for folder in folders:
        whole_story(give, folder)
    one, two = (release_of(folder) for folder in folders)
    for name in names(one):
        if name != "manifest.dsse.json":
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    assert manifest(one) == manifest(two)


def test_p30_the_output_is_in_no_order_of_its_own(workspace, give):
    give("run --yes")
    ages = [int(line.split(",")[1]) for line in (release_of(workspace) / "synthetic.csv").read_text().splitlines()[1:]]
    assert ages != sorted(ages)


def test_p28_no_command_shows_a_canary_planted_in_every_column(workspace, give):
    lines = [f"{CANARY},{CANARY},{CANARY},{CANARY}", *rows()]
    write_rows(workspace / "private.csv", lines)
    said = [
        give(line)
        for line in (
            "schema check private.csv",
            "plan",
            "run --yes",
            "ledger show",
            "ledger log",
            "ledger export",
            "ledger verify",
        )
    ]
    assert [done.code for done in said] == [1, 0, 0, 0, 0, 0, 0]
    for done in said:
        assert CANARY not in done.out + done.err
    for path in workspace.rglob("*"):
        if path.is_file() and path.name != "private.csv":
            assert CANARY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "text",
    [
        f"{CANARY},{CANARY},{CANARY}\n1,2,3\n",
        f"{HEADER}\n{CANARY},north\n",
        f"{HEADER}\n{CANARY},north,1,1,{CANARY}\n",
        f'{HEADER}\n"{CANARY},north,1,1\n',
        f"{HEADER},{CANARY}\n1,north,1,1,1\n",
        "",
    ],
)
def test_p28_a_file_is_refused_for_its_form_without_quoting_it(workspace, give, text):
    (workspace / "private.csv").write_text(text)
    done = give("run --yes --json")
    assert done.code == 2
    assert CANARY not in done.out + done.err
    (dataset,) = give("ledger show --json").document["datasets"]
    assert dataset["releases"] == []


def test_p28_an_encoding_is_refused_without_quoting_the_file(workspace, give):
    (workspace / "private.csv").write_bytes(f"{HEADER}\n{CANARY},é,1,1\n".encode("latin-1"))
    done = give("run --yes")
    assert done.code == 2
    assert CANARY not in done.out + done.err


def test_p29_a_release_holds_allowed_public_fields_only(workspace, give):
    (workspace / "release.toml").write_text(RELEASE.replace("private.csv", f"{CANARY}.csv"))
    (workspace / "private.csv").rename(workspace / f"{CANARY}.csv")
    give("run --yes")
    release = release_of(workspace)
    for path in release.iterdir():
        assert CANARY.encode() not in path.read_bytes(), path
    assert CANARY not in json.dumps(manifest(release))
    with pytest.raises(ConfigError):
        give_extra_field()


def give_extra_field() -> None:
    from release.toml import read_toml

    path = Path("extra.toml")
    path.write_text(RELEASE + "[extra]\nrow_count = 200\n")
    read_toml(path, ReleaseConfig)


def test_p32_nothing_that_a_user_can_write_changes_the_noise(workspace, give):
    context = click.Context(dprelease)
    offered = {
        option
        for name in ("run", "plan", "init", "budget")
        for parameter in dprelease.get_command(context, name).params
        for option in parameter.opts
    }
    assert "--yes" in offered
    assert not [name for name in offered if re.search("seed|noise|random|unsafe|insecure|test", name)]
    for table in ("[noise]\nsource = 'seeded'\n", "seed = 1\n"):
        (workspace / "release.toml").write_text(table + RELEASE if table.startswith("seed") else RELEASE + table)
        assert give("run --yes").code == 2
    (workspace / "release.toml").write_text(RELEASE)
    give("run --yes")
    assert manifest(release_of(workspace))["randomness"]["noise"] == OsEntropy().source == "os"


def test_p35_a_seeded_run_is_a_test_and_cannot_be_signed(workspace, give, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(release.running, "Job", lambda *parts, **named: Job(*parts, **named, entropy=SeededEntropy(1)))
        done = give("run --yes")
    assert done.code == 5
    assert "cannot be signed" in done.err
    assert not list((workspace / "releases").glob("visits*"))
    (dataset,) = give("ledger show --json").document["datasets"]
    assert dataset["releases"][0]["purpose"] == "test"
    after = give("run --yes")
    assert after.code == 2
    assert "purpose" in after.err


def test_p35_two_runs_never_share_noise(workspace, give):
    give("run --yes")
    give("run --yes")
    one, two = (path / "synthetic.csv" for path in sorted((workspace / "releases").iterdir()))
    assert one.read_bytes() != two.read_bytes()


def test_p45_nothing_public_tells_when_or_how_long_a_run_was(workspace, give):
    give("run --yes")
    release = release_of(workspace)
    midnight = datetime.now(tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    fine = re.compile(
        rb"\d\d:\d\d|T\d\d\d\d|\b1[6-9]\d{8}(\.\d+)?\b|duration|elapsed|seconds|memory|megabyte|hostname|pid"
    )
    for path in [release, *release.iterdir()]:
        assert path.stat().st_mtime == midnight
        if path.suffix in {".json", ".jsonl"}:
            content = path.read_bytes()
            if path.name == "manifest.dsse.json":
                content = base64.b64decode(json.loads(content)["payload"])
            content = re.sub(rb"[0-9a-f]{32,64}", b"", content)
            assert not fine.search(content), (path.name, fine.search(content))


def test_the_output_is_never_the_exact_number_of_rows_but_by_chance(workspace, give):
    write_rows(workspace / "private.csv", rows(200))
    path = workspace / "release.toml"
    path.write_text(RELEASE.replace('"1/4"', '"1/1000"'))
    counts = {give("run --yes --json").document["rows"] for _ in range(6)}
    assert len(counts) > 1
    assert np.all(np.array(list(counts)) <= 1000)
