"""Run anonymeter's three attacks on tables of whole numbers and print its risks: in an environment of its own.

python anonymeter_peer.py FOLDER, which holds private.csv, control.csv and synthetic.csv with columns of one header; the
last column is the secret.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator


def main(folder: Path) -> None:
    np.random.seed(0)  # noqa: NPY002 - what anonymeter draws from
    private, control, synthetic = (
        pd.read_csv(folder / f"{name}.csv").astype(str) for name in ("private", "control", "synthetic")
    )
    names = list(private.columns)
    middle, attacks = len(names) // 2, min(len(private), len(control))
    evaluators = {
        "linkability": LinkabilityEvaluator(
            ori=private, syn=synthetic, control=control, n_attacks=attacks, n_neighbors=1,
            aux_cols=(names[:middle], names[middle:]),
        ),
        "inference": InferenceEvaluator(
            ori=private, syn=synthetic, control=control, n_attacks=attacks, secret=names[-1], aux_cols=names[:-1]
        ),
        "singling_out": SinglingOutEvaluator(ori=private, syn=synthetic, control=control, n_attacks=attacks, n_cols=4),
    }  # fmt: skip
    found = {}
    for name, evaluator in evaluators.items():
        evaluator.evaluate(**({"mode": "multivariate"} if name == "singling_out" else {}))
        risk = evaluator.risk(confidence_level=0.95)
        found[name] = {"value": risk.value, "low": risk.ci[0], "high": risk.ci[1]}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
