"""Which backend runs a contraction program: the numbers are equal to rounding, and a machine always picks the same."""

from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from accounting.errors import ConfigError

if TYPE_CHECKING:
    from mechanisms.pgm.inference import Engine

Backend = Literal["auto", "numpy", "numba"]
BACKENDS: tuple[Backend, ...] = ("auto", "numpy", "numba")

_SMALL = 2_000
"""Up to this many tree cells, loading numba (about 2 s) costs more than it saves in a whole run."""


@lru_cache(maxsize=1)
def has_numba() -> bool:
    """Say whether numba (the extra ``fast``) is installed."""
    return find_spec("numba") is not None


def engine_type(backend: Backend, cells: int) -> "type[Engine]":
    """Return the inference for a model of this many cells.

    Raises:
        ConfigError: the backend asked for is not installed.
    """
    if backend == "numba" and not has_numba():
        raise ConfigError("the backend numba is not installed; install the extra 'fast' or use the backend 'auto'")
    if backend == "numpy" or not has_numba() or (backend == "auto" and cells <= _SMALL):
        from mechanisms.pgm.inference import Engine

        return Engine
    from mechanisms.pgm.inference_numba import NumbaEngine

    return NumbaEngine
