"""Fixtures: commands given in this process, and a workspace that is ready to release."""

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


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, give: Give) -> Path:
    """Make a workspace with a key, an open dataset of ρ = 1/2 and 200 private rows; it is the current folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for command in ("init", "keys new", OPEN):
        assert give(command).code == 0
    Path("schema.toml").write_text(SCHEMA, encoding="utf-8")
    Path("release.toml").write_text(RELEASE, encoding="utf-8")
    write_rows(Path("private.csv"), rows())
    return folder
