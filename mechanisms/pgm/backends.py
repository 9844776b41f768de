"""Which optional backends are installed."""

from functools import lru_cache
from importlib.util import find_spec


@lru_cache(maxsize=1)
def has_numba() -> bool:
    """Say whether numba (the extra ``fast``) is installed."""
    return find_spec("numba") is not None
