"""Our attacks beside anonymeter's on the same tables. It needs an older NumPy, hence an environment of its own.

Linkability and inference mean the same in both: the nearest synthetic row of either half of the columns is one row; the
nearest synthetic row by the other columns has the secret's value. So their risks must agree within their intervals.
Singling out differs: anonymeter draws its predicates from random rows and columns with its own rules for numbers and
keeps drawing until it has enough that single out one synthetic row, ours takes a synthetic row's values or sides of the
median on three to five columns. Both must be above 0 on a table that copies private rows, and hold 0 on a fresh one.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from accounting.schema import Schema
from audits.attacks.guessing import inference, linkability, singling_out

pytestmark = pytest.mark.slow

PEER = Path(__file__).with_name("anonymeter_peer.py")
CELLS = 6


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment with anonymeter 1.1."""
    folder = tmp_path_factory.mktemp("anonymeter")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "anonymeter>=1.1,<1.2", "numpy<1.27"]
    done = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        pytest.skip(f"anonymeter 1.1 cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return folder / "bin" / "python"


def diabetes():
    """Rows of a public table, its columns cut into cells of about equal size."""
    data = load_diabetes()
    values = np.column_stack([data.data, data.target])
    ranks = values.argsort(axis=0, kind="stable").argsort(axis=0)
    cells = ranks * CELLS // len(values)
    cells[:, 1] = (values[:, 1] > 0).astype(int)
    return np.random.default_rng(0).permutation(cells)


ROWS = diabetes()
NAMES = tuple(f"c{place}" for place in range(ROWS.shape[1]))
SCHEMA = Schema(
    table={"name": "diabetes"},
    columns=[
        {"name": name, "kind": "categorical", "categories": [str(n) for n in range(CELLS)], "nullable": False,
         "replacement": "0"}
        for name in NAMES
    ],
)  # fmt: skip
PRIVATE, CONTROL, FRESH = np.split(ROWS, [147, 294])
SYNTHETIC = {"copies": np.concatenate([PRIVATE[:90], FRESH[:60]]), "fresh": FRESH}


def ticks(rows):
    return {name: rows[:, place].astype(np.int64) for place, name in enumerate(NAMES)}


def theirs(python, folder, synthetic):
    for name, rows in (("private", PRIVATE), ("control", CONTROL), ("synthetic", synthetic)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([NAMES, *rows.tolist()])
    done = subprocess.run([python, PEER, folder], capture_output=True, text=True, check=True, timeout=900)
    return json.loads(done.stdout.strip().splitlines()[-1])


def ours(synthetic):
    tables = (SCHEMA, *(ticks(rows) for rows in (PRIVATE, CONTROL, synthetic)))
    return {
        "linkability": linkability(*tables, np.random.default_rng(1)).risk,
        "inference": inference(*tables, NAMES[-1], np.random.default_rng(1)).risk,
        "singling_out": singling_out(*tables, np.random.default_rng(1)).risk,
    }


@pytest.mark.parametrize("table", list(SYNTHETIC))
def test_risks_agree_with_anonymeters(python, tmp_path, table):
    other, own = theirs(python, tmp_path, SYNTHETIC[table]), ours(SYNTHETIC[table])
    for name in ("linkability", "inference"):
        assert max(own[name].low, other[name]["low"]) <= min(own[name].high, other[name]["high"]), name
    for risk in (own["singling_out"].low, other["singling_out"]["low"]):
        assert (risk > 0) == (table == "copies")
