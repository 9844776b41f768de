"""The versions of this program and of what it computes with, for manifests."""

import platform
from importlib import metadata

PACKAGES = (
    "dprelease",
    "cryptography",
    "jinja2",
    "matplotlib",
    "mpmath",
    "numba",
    "numpy",
    "pyarrow",
    "pydantic",
    "rfc8785",
    "scipy",
    "sqlalchemy",
)


def version(package: str) -> str:
    """Return an installed package's version, or ``absent``."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def versions() -> dict[str, str]:
    """Return the versions of Python and of each package."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
