"""Draw more rows from a verified release's model: post-processing, without data, ledger or budget."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from accounting.schema import Schema
from mechanisms.fitted import FittedModel, read_condition
from release.output import write_rows
from release.publishing import SCHEMA_NAME
from release.verify import verify_release


def sample_release(
    folder: Path,
    trusted: Mapping[str, Ed25519PublicKey],
    *,
    rows: int,
    conditions: Sequence[str] = (),
    out: Path,
    seed: int | None = None,
) -> None:
    """Verify a release, draw rows from its model and write them.

    Args:
        folder: the release.
        trusted: the public keys that may sign it.
        rows: how many rows.
        conditions: what every row meets, as ``mechanisms.fitted.read_condition`` reads it.
        out: a new file.
        seed: of the public randomness; None draws anew.

    Raises:
        VerificationFailed: the release is not what was signed.
        ConfigError: it holds no model, a condition is none, or the file is there already.
    """
    verify_release(folder, trusted)
    schema = Schema.from_json(json.loads((folder / SCHEMA_NAME).read_bytes()))
    where = [read_condition(text, schema) for text in conditions]
    table = FittedModel.load(folder, schema).sample(rows, np.random.default_rng(seed), where)
    write_rows(out, table)
