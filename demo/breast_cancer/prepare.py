"""Write scikit-learn's breast cancer data as the table that is treated as private; no value is looked at."""

import csv
import importlib.resources
from pathlib import Path

SHAPES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
)
COLUMNS = tuple(f"{shape}_{statistic}" for statistic in ("mean", "error", "worst") for shape in SHAPES)
DIAGNOSES = {"0": "malignant", "1": "benign"}


def prepare(target: Path) -> None:
    """Write the table.

    Args:
        target: the CSV file to write.
    """
    source = importlib.resources.files("sklearn.datasets") / "data" / "breast_cancer.csv"
    with source.open(encoding="ascii") as lines, target.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["diagnosis", *COLUMNS])
        next(lines)
        for *values, diagnosis in csv.reader(lines):
            writer.writerow([DIAGNOSES[diagnosis], *values])
