"""What decides over privacy uses integers and rationals only, and the limits that remain are published."""

import ast
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from accounting.budget import Cap, Law, Rho
from accounting.errors import BudgetRefused
from accounting.filters import Filter

ROOT = Path(__file__).resolve().parents[2]
DECIDING = sorted(
    path
    for path in (
        *(ROOT / "accounting" / "ledger").glob("*.py"),
        *(ROOT / "accounting" / "queries").glob("*.py"),
        *(ROOT / "accounting" / f"{name}.py" for name in ("budget", "events", "filters", "unit")),
        *(ROOT / "accounting" / "curator" / f"{name}.py" for name in ("counting", "table", "persons")),
    )
    if path.name != "dialects.py"  # waits for a lock, in seconds
)
SOLVERS = {"sympy", "scipy", "z3", "cvxpy", "pulp", "ortools"}


def floats(tree):
    """Yield the lines of a module where a float is written, made or chosen."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is float:
            yield node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
            yield node.lineno
        if isinstance(node, ast.Attribute) and re.fullmatch(r"float\d+|fsum|inf|nan", node.attr):
            yield node.lineno


@pytest.mark.parametrize("path", DECIDING, ids=lambda path: path.name)
def test_p37_no_float_decides(path):
    assert list(floats(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("code", ["a = 0.1", "a = float(b)", "a = np.float64(b)", "a = math.fsum(b)", "a = math.inf"])
def test_p37_the_search_for_floats_finds_one(code):
    assert list(floats(ast.parse(code))) == [1]


def test_p37_sums_neither_round_nor_wrap():
    cap, tenth = Cap(Rho(Fraction(10**12))), Fraction(1, 10)
    spent = sum([tenth] * 10, Fraction(0))
    assert spent == 1 != sum([0.1] * 10)
    nearly = cap.value - Fraction(1, 2**200)  # a float sum would swallow the rest, a 64-bit one wrap
    Filter(cap, nearly, Fraction(0)).check(Fraction(1, 2**200), Fraction(0))
    with pytest.raises(BudgetRefused):
        Filter(cap, nearly, Fraction(0)).check(Fraction(1, 2**199), Fraction(0))
    assert cap.law is Law.ZCDP


def test_p37_no_solver_is_asked():
    modules = "accounting.planted, accounting.second_opinion, accounting.convert, accounting.ledger.sql, release.verify"
    code = f"import sys, {modules}; print(sorted({SOLVERS!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_p37_the_known_limits_are_published():
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    known = security.partition("## What is known and open")[2].partition("\n## ")[0]
    assert known.count("\n- ") >= 6
    guarantees = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    for section in re.findall(r"\((?:section )?(\d+)\)", known):
        assert re.search(rf"^## {section}\. ", guarantees, re.MULTILINE), section
    for subject in ("same process", "random generator", "older copy", "withdrawn", "not recognised", "solver"):
        assert subject in known
