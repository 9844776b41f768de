"""A workspace: a folder with dprelease.toml that says where the ledger and the keys are."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from accounting.errors import ConfigError
from release.toml import Exact, read_toml

if TYPE_CHECKING:
    from accounting.ledger import Ledger

FILE = "dprelease.toml"
_SQLITE = "sqlite:///"


class WorkspaceTable(BaseModel):
    """A whole dprelease.toml.

    Args:
        version: the version of this file's form.
        ledger: the ledger's URL; the path of an SQLite file is relative to the workspace.
        key: the private key that signs releases, relative to the workspace.
        trusted_keys: public keys that ``verify`` trusts, relative to the workspace.
        max_delta: the largest δ that a budget may state.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    version: Literal[1]
    ledger: Annotated[StrictStr, Field(min_length=1)]
    key: StrictStr
    trusted_keys: tuple[StrictStr, ...]
    max_delta: Exact = Fraction(1, 1_000_000)


@dataclass(frozen=True, slots=True)
class Workspace:
    """An opened workspace.

    Args:
        folder: the folder that holds dprelease.toml.
        table: its content.
    """

    folder: Path
    table: WorkspaceTable

    @property
    def ledger_url(self) -> str:
        """The ledger's URL with an absolute path."""
        url = self.table.ledger
        if url.startswith(_SQLITE):
            return _SQLITE + str((self.folder / url.removeprefix(_SQLITE)).resolve())
        return url

    @property
    def key_path(self) -> Path:
        """The private key that signs releases."""
        return self.folder / self.table.key

    @property
    def trusted_keys(self) -> tuple[Path, ...]:
        """The public keys that ``verify`` trusts."""
        return tuple(self.folder / name for name in self.table.trusted_keys)

    @property
    def max_delta(self) -> Fraction:
        """The largest δ that a budget may state."""
        return self.table.max_delta

    def release_folder(self, release_id: str) -> Path:
        """The public folder of a release."""
        return self.folder / "releases" / release_id

    def run_folder(self, release_id: str) -> Path:
        """The curator's folder of a run: what ``run --resume`` needs."""
        return self.folder / "runs" / release_id

    def open_ledger(self) -> "Ledger":
        """Open the workspace's ledger.

        Raises:
            ConfigError: there is none yet.
            LedgerError: what is there cannot be used, or is no ledger.
        """
        from accounting.ledger import Ledger

        if self._lacks_ledger():
            raise ConfigError(
                "this workspace has no ledger yet; "
                "`dprelease ledger open LABEL --unit … --law … --epsilon … --delta …` opens the first dataset's budget"
            )
        return Ledger.open(self.ledger_url, must_exist=True)

    def open_or_make_ledger(self) -> "Ledger":
        """Open the workspace's ledger, made anew where there is none; a file that is there is never made a new one."""
        from accounting.ledger import Ledger

        url = self.ledger_url
        return Ledger.open(url, must_exist=url.startswith(_SQLITE) and not self._lacks_ledger())

    def _lacks_ledger(self) -> bool:
        """Say whether the ledger is an SQLite file that is not there."""
        url = self.ledger_url
        return url.startswith(_SQLITE) and not Path(url.removeprefix(_SQLITE)).exists()


def open_workspace(folder: Path) -> Workspace:
    """Open the workspace at a folder.

    Raises:
        ConfigError: there is none, or its dprelease.toml breaks a rule.
    """
    path = folder / FILE
    if not path.is_file():
        raise ConfigError(f"{folder} is no workspace: it holds no {FILE}; `dprelease init {folder}` makes one")
    return Workspace(folder.resolve(), read_toml(path, WorkspaceTable))
