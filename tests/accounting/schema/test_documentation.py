"""docs/schema.md: every example loads, every key is described."""

import re
import tomllib
from pathlib import Path

import pytest

from accounting.schema import Schema
from accounting.schema.schema import KINDS, TableKeys

TEXT = (Path(__file__).parents[3] / "docs" / "schema.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_loads(example):
    whole = example if "[table]" in example else f'[table]\nname = "t"\n{example}'
    if {column["kind"] for column in tomllib.loads(whole)["columns"]} == {"identifier"}:
        whole += '[[columns]]\nname = "x"\nkind = "boolean"\nnullable = true\n'
    assert Schema.from_text(whole).columns


def test_every_key_is_described():
    described = set(re.findall(r"`([a-z_]+)`", "\n".join(line for line in TEXT.splitlines() if line.startswith("| `"))))
    keys = {key for kind in (TableKeys, *KINDS.values()) for key in kind.model_fields}
    assert len(EXAMPLES) > 5
    assert keys <= described


def test_cells_are_as_described():
    age = Schema.from_text(
        '[table]\nname = "t"\n[[columns]]\nname = "x"\nkind = "integer"\nnullable = true\n'
        "min = 0\nmax = 99\nedges = [18, 65]\n"
    ).column("x")
    assert age.labels() == ["0 to 17", "18 to 64", "65 to 99", "(null)"]
