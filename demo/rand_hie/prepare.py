"""Select the demonstration's columns from the RAND Health Insurance Experiment, row by row; no value is looked at.

The source file ships with statsmodels. Three 0/1 columns (good, fair, poor) become one self-rated health column.
"""

import csv
import importlib.resources
from pathlib import Path

COLUMNS = {
    "person": "zper",
    "plan": "plan",
    "site": "site",
    "coinsurance": "coins",
    "year": "year",
    "age": "xage",
    "female": "female",
    "education": "educdec",
    "income": "income",
    "spending": "meddol",
    "visits": "mdvis",
    "chronic": "disea",
    "mental_health": "mhi",
    "admissions": "totadm",
}
HEALTH = {"hlthg": "good", "hlthf": "fair", "hlthp": "poor"}


def prepare(target: Path) -> None:
    """Write the table that the demonstration treats as private.

    Args:
        target: the CSV file to write.
    """
    source = importlib.resources.files("statsmodels.datasets.randhie") / "src" / "randhie.csv"
    with source.open(encoding="ascii") as lines, target.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, "health"])
        for row in csv.DictReader(lines):
            health = next((name for flag, name in HEALTH.items() if row[flag] == "1"), "excellent")
            writer.writerow([*(row[name] for name in COLUMNS.values()), health])
