"""Refuse to draft from the private table."""

from pathlib import Path

from accounting.errors import ConfigError
from release.config import read_config


def check_not_private(file: Path, workspace: Path) -> None:
    """Check that a file is not the private table that the workspace's release.toml names.

    Raises:
        ConfigError: it is; nothing was read.
    """
    config = workspace / "release.toml"
    if not config.is_file():
        return
    private = workspace / read_config(config).data
    if private.exists() and file.exists() and private.samefile(file):
        raise ConfigError(
            f"{file} is the private table that {config} names; a schema is never drafted from private rows"
        )
