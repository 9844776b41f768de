"""Recognise the files that the curator alone may see, so that no release can hold one."""

import json
from pathlib import Path
from typing import Final

JSON_FORMAT: Final = "dprelease/confidential-"
PAGE_MARK: Final = b"<!DOCTYPE html>\n<!-- dprelease/confidential-"


def is_confidential(path: Path) -> bool:
    """Say whether a file is a confidential result or a page of one, by what stands in it and whatever it is called.

    A table is not looked into: its rows are the release's own.
    """
    with path.open("rb") as file:
        if file.read(len(PAGE_MARK)) == PAGE_MARK:
            return True
    if path.suffix != ".json":
        return False
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return False
    return isinstance(document, dict) and (
        document.get("confidential") is True or str(document.get("format")).startswith(JSON_FORMAT)
    )
