"""Look at the private table without paying: for the curator alone, and in the ledger before it happens."""

from pathlib import Path
from typing import TYPE_CHECKING

from accounting.confidential import Confidential, SchemaReport, schema_check
from accounting.errors import InputFileError
from accounting.schema import Schema

if TYPE_CHECKING:
    from accounting.ledger import Ledger

SCHEMA_CHECK = "schema-check"


def check_schema(
    ledger: "Ledger", dataset: str, data: Path, schema: Schema, *, encoding: str
) -> Confidential[SchemaReport]:
    """Count, for the curator only, how many rows of a private file break which rule of a schema.

    The look is an entry of the dataset's ledger, durable before the file is opened; every later manifest lists it.

    Raises:
        ConfigError: the dataset is not open, or the file is refused; nothing is spent by a look.
    """
    unit = ledger.dataset(dataset).unit
    if not data.is_file():
        raise InputFileError(f"{data} is not a file: give the path of the private table")
    ledger.record_look(dataset, SCHEMA_CHECK, schema.digest)
    return schema_check(data, schema, unit, encoding=encoding)
