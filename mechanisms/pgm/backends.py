"""Which backend runs a contraction program: the numbers are equal to rounding, and a machine always picks the same."""

from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from accounting.errors import ConfigError

if TYPE_CHECKING:
    from mechanisms.pgm.inference import Engine

Backend = Literal["auto", "numpy", "numba", "jax"]
BACKENDS: tuple[Backend, ...] = ("auto", "numpy", "numba", "jax")

_SMALL = 2_000
"""Up to this many tree cells, loading numba (about 2 s) costs more than it saves in a whole run."""

_FEW = 20_000
"""The same for the cells of a batch of marginals, which is asked for once a round and not once a pass."""

_LARGE = 10_000_000
"""On an accelerator, from this many tree cells on JAX runs the passes.

There numba needs about 5 s for a fit of 100 passes; JAX compiles 6 to 8 kernels after one more clique, about 0.3 s
each. On a processor JAX lost at every size (0.21 / 2.43 / 9.92 million cells: 27 / 71 / 196 ms of CPU time a pass,
numba 1.2 / 5.6 / 41): there it runs only where it is asked for.
"""


@lru_cache(maxsize=1)
def has_numba() -> bool:
    """Say whether numba (the extra ``fast``) is installed."""
    return find_spec("numba") is not None


@lru_cache(maxsize=1)
def has_accelerator() -> bool:
    """Say whether JAX finds a device other than the processor; without a plugin for one, JAX is not even loaded."""
    if find_spec("jax_plugins") is None and find_spec("libtpu") is None:
        return False
    import jax

    return str(jax.default_backend()) != "cpu"


def engine_type(backend: Backend, cells: int) -> "type[Engine]":
    """Return the inference for a model of this many cells.

    Raises:
        ConfigError: the backend asked for is not installed.
    """
    if backend == "jax" or (backend == "auto" and cells >= _LARGE and has_accelerator()):
        from mechanisms.pgm.inference_jax import JaxEngine

        return JaxEngine
    return _on_the_processor(backend, small=cells <= _SMALL)


def batch_engine_type(backend: Backend, cells: int) -> "type[Engine]":
    """Return what contracts a batch of marginals with this many cells: on the processor, since they are many and small.

    Raises:
        ConfigError: the backend asked for is not installed.
    """
    return _on_the_processor(backend, small=cells <= _FEW)


def _on_the_processor(backend: Backend, *, small: bool) -> "type[Engine]":
    if backend == "numba" and not has_numba():
        raise ConfigError("the backend numba is not installed; install the extra 'fast' or use the backend 'auto'")
    if backend == "numpy" or not has_numba() or (small and backend != "numba"):
        from mechanisms.pgm.inference import Engine

        return Engine
    from mechanisms.pgm.inference_numba import NumbaEngine

    return NumbaEngine
