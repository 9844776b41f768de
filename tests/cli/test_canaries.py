"""Canaries planted in every column: no command, file, log, warning, error or traceback ever shows one."""

import contextlib
import warnings
from pathlib import Path

import click
import pytest

import accounting.curator.table
from accounting.curator.delimited import DelimitedFile
from release.cli import dprelease
from tests.cli.shell import HEADER, OPEN, Done, release_of, write_rows
from tests.cli.test_metamorphic import MECHANISMS, WITH_A_MODEL, private, workspace_of

TEXT = "Zebulon-4711"
NUMBER = "471180934711"
PLANTED = [f"{TEXT},{TEXT},{TEXT},{TEXT}", f"{NUMBER},{NUMBER},{NUMBER},{NUMBER}.4711", f"{TEXT},north,3,{NUMBER}"]
CANARIES = (TEXT, NUMBER, "4711.4711")

FREE_OF_DATA = {
    "init",
    "keys new",
    "budget",
    "schema new",
    "schema from-dictionary",
    "schema show",
    "ledger open",
}
"""Commands that read neither private rows nor anything made of them."""


def before_a_run() -> list[str]:
    return ["schema check private.csv", "schema check private.csv --json", "plan", "plan --json --rows-guess 200"]


def after_a_run(name: str, mechanism: str) -> list[str]:
    folder = f"releases/{name}"
    model = [f"sample {folder} --rows 50 --where town=north --out more.csv"] * (mechanism in WITH_A_MODEL)
    return [
        f"verify {folder}",
        f"verify {folder} --json",
        "ledger show",
        "ledger log",
        "ledger export",
        "ledger verify",
        *model,
    ]


def at_last(name: str) -> list[str]:
    """Give the remaining commands, those that end a dataset's life among them."""
    folder = f"releases/{name}"
    return [
        "schema from-public private.csv --source survey --out leaked.toml",
        "schema from-public public.csv --source survey --out drafted.toml",
        f"report {folder} --out again.json",
        f"audit claim {folder}",
        f"export {folder} --format summary --out summary.md",
        f"compare {folder} --out compared.json",
        f"approve {folder} --key keys/signing-key.pem --yes",
        f"ledger recover {name}",
        "ledger checkpoint --out checkpoint.txt",
        "ledger raise visits --continues visits --rho 2 --yes",
        "ledger declare-disjoint visits others --yes",
        "ledger change-law visits --yes",
        f"ledger supersede {name} --by {name} --yes",
        f"ledger withdraw {name} --yes",
        "ledger close visits --yes",
    ]


def audits(name: str) -> list[str]:
    return [
        "audit mechanism --level quick --runs 25 --out audit.json",
        f"audit release releases/{name} --holdout held-out.csv",
    ]


def shown(done: Done, caplog) -> str:
    return done.out + done.err + caplog.text


def check_folder(folder: Path) -> None:
    for path in folder.rglob("*"):
        assert not any(canary in path.name for canary in CANARIES)
        if path.is_file() and path.name not in {"private.csv", "held-out.csv"}:
            content = path.read_bytes()
            assert not [canary for canary in CANARIES if canary.encode() in content], path


def planted(template: Path, folder: Path, mechanism: str) -> Path:
    made = workspace_of(template, folder, [*PLANTED, *private()], mechanism)
    (made / "public.csv").write_text(f"{HEADER}\n1,north,3,4.50\n")
    return made


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_p28_no_command_shows_a_canary_whatever_the_mechanism(template, tmp_path, give, caplog, mechanism):
    folder = planted(template, tmp_path / "workspace", mechanism)
    with contextlib.chdir(folder), caplog.at_level(0), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        said = [(line, give(line)) for line in [*before_a_run(), "run --yes"]]
        assert said[-1][1].code == 0, said[-1][1].err
        name = release_of(folder).name
        said += [(line, give(line)) for line in after_a_run(name, mechanism)]
        assert {done.code for line, done in said if not line.startswith("schema check")} == {0}
        if mechanism == "independent":
            said += [(line, give(line)) for line in at_last(name)]
    for line, done in said:
        assert not [canary for canary in CANARIES if canary in shown(done, caplog)], line
        assert done.code != 70, done.err
    assert not [canary for canary in CANARIES if canary in "".join(str(item.message) for item in warned)]
    assert not (folder / "leaked.toml").exists()
    check_folder(folder)


@pytest.mark.slow
def test_p28_no_audit_shows_a_canary(template, tmp_path, give, caplog):
    folder = planted(template, tmp_path / "workspace", "independent")
    write_rows(folder / "held-out.csv", [*PLANTED, *private()[:80]])
    with contextlib.chdir(folder), caplog.at_level(0):
        assert give("run --yes").code == 0
        for line in audits(release_of(folder).name):
            done = give(line)
            assert done.code == 0, done.err
            assert not [canary for canary in CANARIES if canary in shown(done, caplog)], line
    check_folder(folder)


def test_every_command_is_told_of_canaries_or_reads_no_data():
    story = [*before_a_run(), "run --yes", *after_a_run("x", "mst"), *at_last("x"), *audits("x")]
    left = set(commands()) - FREE_OF_DATA
    assert [command for command in sorted(left) if not any(line.startswith(command) for line in story)] == []


def commands() -> list[str]:
    found: list[str] = []

    def walk(command: click.Command, context: click.Context, path: tuple[str, ...]) -> None:
        if not isinstance(command, click.Group):
            found.append(" ".join(path))
            return
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            walk(child, click.Context(child, parent=context), (*path, name))

    walk(dprelease, click.Context(dprelease), ())
    return found


def failing(*_: object, **__: object) -> None:
    raise ValueError(f"cell {TEXT} {NUMBER}")


@pytest.mark.parametrize(
    ("owner", "name", "code"),
    [(DelimitedFile, "ticks", 70), (DelimitedFile, "chunks", 70), (accounting.curator.table, "count_tables", 5)],
)
def test_p28_an_error_of_the_program_on_private_rows_shows_no_cell(  # noqa: PLR0917 - fixtures
    template, tmp_path, give, caplog, monkeypatch, owner, name, code
):
    folder = planted(template, tmp_path / "workspace", "mst")
    monkeypatch.setattr(owner, name, failing)
    with contextlib.chdir(folder), caplog.at_level(0):
        for line in ("run --yes", "run --yes --json"):
            done = give(line)
            assert done.code == code, done.err
            assert not [canary for canary in CANARIES if canary in shown(done, caplog)]
    check_folder(folder)


@pytest.mark.parametrize("line", ["plan", "run --yes", "schema check private.csv", OPEN, "ledger show"])
def test_p28_a_refusal_shows_no_cell(workspace, give, caplog, line):
    """A header of private rows, and a config and schema that name nothing right."""
    write_rows(workspace / "private.csv", PLANTED)
    text = (workspace / "private.csv").read_text()
    (workspace / "private.csv").write_text(text.replace(HEADER, PLANTED[0], 1))
    with caplog.at_level(0):
        done = give(line)
    assert not [canary for canary in CANARIES if canary in shown(done, caplog)]
    assert done.code == (0 if line in {"plan", "ledger show"} else done.code)
