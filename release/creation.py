"""Make a workspace with files to edit: each example is valid as it stands and says what to replace."""

from pathlib import Path

from accounting.errors import ConfigError
from release.keys import PRIVATE_NAME, PUBLIC_NAME
from release.workspace import FILE

WORKSPACE = f"""\
# A dprelease workspace. Paths are relative to this folder.
version = 1

# The central ledger: an SQLite file, or postgresql+psycopg://… for a team.
ledger = "sqlite:///ledger.db"

# The private key that signs releases, and the public keys that `dprelease verify` trusts.
key = "keys/{PRIVATE_NAME}"
trusted_keys = ["keys/{PUBLIC_NAME}"]

# No budget may state a larger delta than this.
max_delta = 1e-6
"""

SCHEMA = """\
# What is public about the table. Write it from documentation, from law, from what everybody knows: never from the rows.
# Every column of the file is declared, in the order of its header. docs/schema.md describes every kind and key.

[table]
name = "my-table"
# A public ceiling on the number of rows; the synthetic table never has more.
max_rows = 100000

# An identifier is never modelled and never released. Where the unit is a person, one of them is the person's id.
[[columns]]
name = "id"
kind = "identifier"

[[columns]]
name = "sex"
kind = "categorical"
categories = ["female", "male"]
nullable = true

[[columns]]
name = "age"
kind = "integer"
min = 0
max = 110
nullable = true

[[columns]]
name = "income"
kind = "real"
min = 0
max = 200000
decimals = 0
bins = 40
points = [0]
nullable = true
"""

RELEASE = """\
# What one release asks for. Paths are relative to this file.
version = 1
# The dataset's label in the ledger: it names the people, so every version of the same people's table keeps it.
dataset = "my-table"
schema = "schema.toml"
data = "private.csv"

# Whose presence the release hides; the same as in `dprelease ledger open`.
# For tables where a person may have several rows: kind = "person", id_column = "id", max_rows = 5
[unit]
kind = "row"

# This release's share of the dataset's cap: epsilon with delta, or rho = "1/8", or mu = "1/2".
[budget]
epsilon = 1
delta = 1e-6

[mechanism]
kind = "aim"

# What the report says of the release, all of it public. With language = "ja" the signed page is in Japanese.
# [about]
# publisher = "who releases the data"
# purpose = "what for, in a sentence"
# language = "en"

# rows = "noisy" takes the noisy number of rows; a whole number declares it.
[output]
rows = "noisy"
formats = ["csv"]
"""

GITIGNORE = """\
# Private, or good for one machine only: never share these.
keys/*
!keys/*.pub.pem
ledger.db*
runs/
confidential/
"""


def create_workspace(folder: Path) -> tuple[Path, ...]:
    """Make a workspace's folder and files; nothing is overwritten.

    Returns:
        The files written; schema.toml and release.toml are left alone where they are there already.

    Raises:
        ConfigError: the folder is a workspace already.
    """
    if (folder / FILE).exists():
        raise ConfigError(f"{folder} is a workspace already; nothing was changed")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in (
        (FILE, WORKSPACE),
        ("schema.toml", SCHEMA),
        ("release.toml", RELEASE),
        (".gitignore", GITIGNORE),
    ):
        path = folder / name
        if path.exists():
            continue
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        written.append(path)
    return tuple(written)


def refuse_present(path: Path) -> None:
    """Refuse a new file's name where a file is there already.

    Raises:
        ConfigError: it is there already.
    """
    if path.exists():
        raise ConfigError(f"{path} is there already; nothing was overwritten")


def write_new(path: Path, text: str) -> None:
    """Write a new text file.

    Raises:
        ConfigError: it is there already; nothing was overwritten.
        OSError: it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError(f"{path} is there already; nothing was overwritten") from None
