"""The error bounds of a release as a table: one row a marginal, readable by any spreadsheet."""

import csv
from pathlib import Path

from mechanisms.bounds import ErrorBounds

BOUNDS_NAME = "bounds.csv"
HEADER = ("columns", "cells", "basis", "l1", "l1_simultaneous", "share", "share_simultaneous")


def write_bounds(folder: Path, bounds: ErrorBounds) -> Path:
    """Write the bound of every marginal, in the workload's order; nothing is overwritten.

    Privacy:
        The bounds follow from paid answers and the released rows alone.
    """
    path = folder / BOUNDS_NAME
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(bounds.rows())
    return path
