"""Fixtures: commands given in this process, and a workspace that is ready to release."""

import contextlib
import shutil
from pathlib import Path

import pytest

from release.cli import dprelease
from release.cli.exits import run_guarded
from tests.cli.shell import OPEN, RELEASE, SCHEMA, Done, Give, rows, write_rows


@pytest.fixture
def give(capfd: pytest.CaptureFixture[str]) -> Give:
    """Give one command line to dprelease."""

    def command(line: str, *further: str) -> Done:
        capfd.readouterr()
        code = run_guarded(dprelease, [*line.split(), *further])
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return command


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the workspace that each test gets a copy of."""
    folder = tmp_path_factory.mktemp("template")
    with contextlib.chdir(folder):
        for command in ("init", "keys new", OPEN):
            assert run_guarded(dprelease, command.split()) == 0
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "release.toml").write_text(RELEASE, encoding="utf-8")
    write_rows(folder / "private.csv", rows())
    return folder


@pytest.fixture
def workspace(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a workspace with a key, an open dataset of ρ = 1/2 and 200 private rows; it is the current folder."""
    folder = tmp_path / "workspace"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    return folder
