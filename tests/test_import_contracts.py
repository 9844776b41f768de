"""The contracts of [tool.importlinter] in pyproject.toml hold, and each would be broken by what it forbids."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("jax", "torch", "numba", "pandas", "polars", "sklearn", "scipy", "matplotlib", "ot", "dp_accounting", "opendp")
LIGHT_MODULES = (
    "errors",
    "exact",
    "canonical",
    "enclosures",
    "unit",
    "budget",
    "events",
    "schema",
    "queries",
    "convert",
    "second_opinion",
    "filters",
    "nearest",
    "nearest_tree",
    "noise",
    "ledger",
    "curator",
    "planted",
    "confidential",
)


def _lint(folder: Path, config: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--config", str(config), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_import_contracts_are_kept():
    result = _lint(ROOT, ROOT / "pyproject.toml")
    assert result.returncode == 0, result.stdout + result.stderr


def _tree(folder: Path) -> Path:
    """Write empty packages of the project's module names, which keep every contract."""
    modules = [f"accounting/{name}.py" for name in LIGHT_MODULES]
    for module in [f"{package}/__init__.py" for package in ("accounting", "mechanisms", "audits", "release")] + modules:
        path = folder / module
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    config = folder / "pyproject.toml"
    text = (ROOT / "pyproject.toml").read_text()
    config.write_text(text[text.index("[tool.importlinter]") :])
    return config


def test_the_light_modules_are_all_of_accounting():
    present = {path.stem for path in (ROOT / "accounting").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert present - {"__init__", "__pycache__"} == set(LIGHT_MODULES)


def test_empty_packages_keep_every_contract(tmp_path):
    assert _lint(tmp_path, _tree(tmp_path)).returncode == 0


FORBIDDEN = (
    ("accounting.errors", "mechanisms"),
    ("accounting.curator", "release"),
    ("mechanisms.aim", "audits"),
    ("audits.replay", "release"),
    ("accounting.budget", "accounting.filters"),
    ("accounting.convert", "accounting.filters"),
    ("accounting.filters", "accounting.ledger"),
    ("accounting.ledger", "accounting.curator"),
    ("accounting.curator", "accounting.planted"),
    ("accounting.exact", "accounting.budget"),
    ("mechanisms.aim", "accounting.curator"),
    ("mechanisms.aim", "accounting.ledger"),
    ("mechanisms.aim", "accounting.noise"),
    ("mechanisms.aim", "accounting.planted"),
    ("mechanisms.aim", "accounting.confidential"),
    ("audits.replay", "accounting.curator"),
    ("audits.replay", "accounting.ledger"),
    ("audits.replay", "accounting.noise"),
    ("audits.replay", "accounting.confidential"),
    ("mechanisms.aim", "pandas"),
    ("mechanisms.aim", "pyarrow"),
    ("accounting.convert", "dp_accounting"),
    ("accounting.noise", "scipy"),
    ("accounting.second_opinion", "accounting.convert"),
    ("accounting.convert", "accounting.second_opinion"),
)


def test_every_forbidden_import_is_found(tmp_path):
    config = _tree(tmp_path)
    for module, imported in FORBIDDEN:
        with (tmp_path / f"{module.replace('.', '/')}.py").open("a") as file:
            file.write(f"def use_{imported.replace('.', '_')}():\n    import {imported}\n")
    result = _lint(tmp_path, config)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "0 kept, 7 broken" in result.stdout
    missing = [pair for pair in FORBIDDEN if f"{pair[0]} -> {pair[1]} (l." not in result.stdout]
    assert missing == []


def test_a_new_module_of_accounting_needs_a_layer(tmp_path):
    config = _tree(tmp_path)
    (tmp_path / "accounting/new.py").write_text("")
    result = _lint(tmp_path, config)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "accounting.new" in result.stdout + result.stderr


def test_audits_may_use_planted_tables(tmp_path):
    config = _tree(tmp_path)
    (tmp_path / "accounting/curator.py").write_text("import accounting.ledger\n")
    (tmp_path / "accounting/planted.py").write_text("import accounting.curator\n")
    (tmp_path / "audits/replay.py").write_text("import accounting.planted\nimport mechanisms\n")
    assert _lint(tmp_path, config).returncode == 0


def test_every_package_is_installed_and_linted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["tool"]["importlinter"]["root_packages"]) == {"accounting", "mechanisms", "audits", "release"}


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_accounting_loads_no_large_library(module):
    program = (
        f"import sys, accounting.{module}\n"
        f"print(*sorted({set(HEAVY)!r} & {{name.partition('.')[0] for name in sys.modules}}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == ""


def test_conversions_load_no_large_library_when_they_run():
    program = (
        "import sys\n"
        "from fractions import Fraction as F\n"
        "from accounting import convert, second_opinion\n"
        "from accounting.budget import EpsilonDelta, Law\n"
        "assert 'mpmath' not in sys.modules\n"
        "for law in Law:\n"
        "    budget = convert.cap_for(EpsilonDelta(F(3), F(1, 10**6)), law)\n"
        "    convert.epsilon(budget, F(1, 10**6)), second_opinion.epsilon(budget, F(1, 10**6))\n"
        f"print(*sorted({set(HEAVY)!r} & {{name.partition('.')[0] for name in sys.modules}}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == ""
