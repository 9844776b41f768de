"""Light commands load light packages, and help loads no command at all."""

import json
import subprocess
import sys

import click
import pytest

from release.cli import dprelease

HEAVY = ("jax", "torch", "pandas", "sklearn", "matplotlib", "ot", "dp_accounting", "pyarrow", "scipy.stats")
PROGRAM = """
import json, sys
from release.cli import main
try:
    main(json.loads(sys.argv[1]))
except SystemExit as left:
    code = left.code
print(json.dumps({"code": code, "loaded": sorted(sys.modules)}), file=sys.stderr)
"""


def run(folder, *arguments: str) -> tuple[int, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(arguments)], cwd=folder, capture_output=True, text=True, check=True
    )
    report = json.loads(done.stderr.splitlines()[-1])
    return report["code"], set(report["loaded"])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    for arguments in (["init"], ["keys", "new"]):
        assert run(folder, *arguments)[0] == 0
    opening = "ledger open my-table --unit row --law zcdp --epsilon 3 --delta 1e-6".split()
    assert run(folder, *opening)[0] == 0
    return folder


def test_help_loads_no_command(workspace):
    code, loaded = run(workspace, "--help")
    assert code == 0
    assert not {"numpy", "sqlalchemy", "pydantic", "mpmath", "cryptography", "rich"} & loaded
    assert not [name for name in loaded if name.startswith(("mechanisms", "audits", "accounting.ledger"))]


@pytest.mark.parametrize(
    "command",
    [
        "plan",
        "ledger show",
        "schema show",
        "budget --epsilon 1 --delta 1e-6",
        "verify .",
    ],
)
def test_light_commands_load_nothing_heavy(workspace, command):
    _, loaded = run(workspace, *command.split())
    assert not [name for name in HEAVY if name in loaded]


@pytest.mark.parametrize("group", ["ledger", "schema", "audit", "keys"])
def test_a_groups_help_page_says_whole_sentences(group, capsys):
    from release.cli.exits import run_guarded

    assert run_guarded(dprelease, [group, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


def test_the_help_pages_sentences_are_the_commands_own():
    context = click.Context(dprelease)
    for name, (_, text) in dprelease.lazy.items():
        command = dprelease.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(200) == text
