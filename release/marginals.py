"""The noisy marginals of a run as a table: every paid count as it was answered, with the σ of its noise."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from accounting.canonical import Json
from accounting.queries import Marginals, NoisyMarginals
from accounting.schema import Schema
from mechanisms.base import Asked
from mechanisms.coding import HybridCoding

MARGINALS_NAME = "marginals.csv"
HEADER = ("entry", "columns", "cell", "noisy_count", "sigma")


def write_marginals(path: Path, schema: Schema, transcript: Sequence[Asked]) -> None:
    """Write each cell of each measured marginal: ledger entry, columns and cell as JSON lists, noisy count, σ.

    Noisy counts may be negative. Post-processing: everything here was paid for.
    """
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(HEADER)
        for asked in transcript:
            if not isinstance(asked.query, Marginals) or not isinstance(asked.answer, NoisyMarginals):
                continue
            query, coding = asked.query, HybridCoding(schema, asked.query.coding, {}, 1.0, 1.0)
            sigma = format(float(query.variance) ** 0.5, ".10g")
            for clique, counts in zip(query.cliques, asked.answer.tables, strict=True):
                labels = [
                    coding.labels(name) if name in query.coding.bins else schema.column(name).labels()
                    for name in clique
                ]
                columns = _text(list(clique))
                for position, count in np.ndenumerate(counts):
                    cell = [texts[index] for texts, index in zip(labels, position, strict=True)]
                    writer.writerow([asked.answer.entry, columns, _text(list(cell)), int(count), sigma])


def _text(items: Json) -> str:
    return json.dumps(items, ensure_ascii=False)
