"""publication.toml: what only the publisher knows about a published release, and no release can say."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from accounting.errors import ConfigError
from release.toml import read_toml

FILE = "publication.toml"

Text = Annotated[StrictStr, Field(min_length=1)]
Url = Annotated[StrictStr, Field(pattern=r"^https?://\S+$")]
Sector = Literal["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]

_SPDX = "https://spdx.org/licenses/"
_EXAMPLES = {
    "publishers": '[[publishers]] with name = "…" and type = "Government", "Industry" or "Nonprofit"',
    "intended_use": 'intended_use = "…"',
    "region": 'region = "…", where the people live or whose law applies',
    "authors": 'authors = ["…"], who fills in the record',
}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Publisher(_Table):
    """``[[publishers]]``: who answers for the release.

    Args:
        name: the organisation's name.
        type: its kind, in the deployments registry's terms.
    """

    name: Text
    type: Literal["Government", "Industry", "Nonprofit"]


class Publication(_Table):
    """A whole publication.toml; every key may be left out where no export needs it.

    Args:
        title: the release's name in a catalogue; default: the table's name, "synthetic".
        description: a sentence or two; default: the schema's description.
        url: the page that presents the release.
        files: the address under which the release's files lie, ending in ``/``; default: the folder beside the export.
        license: the licence, by its SPDX name or address.
        intended_use: what the publisher means it for; default: the release's own ``purpose``.
        region: the region that the data describe or whose law applies.
        sector: in the deployments registry's terms.
        justification: why this budget, unit and mechanism.
        authors: who fills in the registry's record.
        publishers: who answers for the release; default: the release's own ``publisher``.
    """

    title: Text | None = None
    description: Text | None = None
    url: Url | None = None
    files: Annotated[StrictStr, Field(pattern=r"^https?://\S+/$")] | None = None
    license: Text | None = None
    intended_use: Text | None = None
    region: Text | None = None
    sector: Sector | None = None
    justification: Text | None = None
    authors: tuple[Text, ...] = ()
    publishers: tuple[Publisher, ...] = ()

    @property
    def license_url(self) -> str | None:
        """The licence's address; a name is taken for SPDX's."""
        if self.license is None or self.license.startswith(("http://", "https://")):
            return self.license
        return f"{_SPDX}{self.license}.html"

    def require(self, *keys: str) -> None:
        """Refuse a publication that lacks a key.

        Raises:
            ConfigError: names every missing key and how to write it.
        """
        missing = [_EXAMPLES[key] for key in keys if not getattr(self, key)]
        if missing:
            raise ConfigError(
                f"this export needs facts that no release holds; write them into a {FILE} "
                f"and give it as --publication FILE: {'; '.join(missing)}"
            )


def read_publication(path: Path | None) -> Publication:
    """Read a publication.toml; without a path nothing is known.

    Raises:
        ConfigError: missing, malformed, or an unknown key.
    """
    return Publication() if path is None else read_toml(path, Publication)
