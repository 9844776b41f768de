"""Which backend runs: chosen by size and device; JAX is loaded only where it is chosen."""

import subprocess
import sys

import numpy as np
import pytest

from mechanisms.pgm import backends
from mechanisms.pgm.backends import batch_engine_type, engine_type, has_numba
from mechanisms.pgm.inference import Engine

LARGE = 10_000_000


@pytest.fixture
def accelerator(monkeypatch):
    monkeypatch.setattr(backends, "has_accelerator", lambda: True)


def name(engine):
    return engine.__name__


@pytest.mark.usefixtures("accelerator")
def test_jax_runs_large_models_on_an_accelerator():
    assert name(engine_type("auto", LARGE)) == "JaxEngine"
    assert name(engine_type("auto", LARGE - 1)) != "JaxEngine"
    assert name(batch_engine_type("auto", LARGE)) != "JaxEngine"
    assert engine_type("numpy", LARGE) is Engine


def test_on_the_processor_jax_runs_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(backends, "has_accelerator", lambda: False)
    assert name(engine_type("jax", 4)) == "JaxEngine"
    assert batch_engine_type("jax", 4) is Engine
    assert name(engine_type("auto", 100 * LARGE)) != "JaxEngine"


@pytest.mark.skipif(not has_numba(), reason="numba is an extra")
def test_numba_runs_what_is_not_tiny():
    assert engine_type("auto", 2_000) is batch_engine_type("auto", 20_000) is Engine
    assert name(engine_type("auto", 2_001)) == name(batch_engine_type("auto", 20_001)) == "NumbaEngine"
    assert name(engine_type("numba", 4)) == name(batch_engine_type("numba", 4)) == "NumbaEngine"


def test_jax_stays_unloaded_unless_it_is_chosen():
    code = (
        "import sys, numpy as np\n"
        "from mechanisms.pgm import Domain, Measurement, estimate, backends\n"
        "domain = Domain(('a', 'b'), (60, 60))\n"
        "estimate(domain, [Measurement(('a', 'b'), np.ones((60, 60)), 1.0)]).marginals([('a',), ('b', 'a')])\n"
        "backends.engine_type('auto', 10**9)\n"
        "sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_engine_of_each_backend_gives_the_same_marginals_of_a_batch():
    from mechanisms.pgm import Domain, Measurement, SolverOptions, estimate

    domain = Domain(tuple("abcd"), (20, 15, 12, 9))
    given = [Measurement((one,), np.arange(1.0, domain.size(one) + 1), 1.0) for one in "abcd"]
    given.append(Measurement(("a", "b"), np.arange(300.0).reshape(20, 15), 1.0))
    asked = [("a", "c", "d"), ("c", "d"), ("b", "d", "c"), ("a", "b", "c", "d")]
    found = [
        estimate(domain, given, options=SolverOptions(backend=backend)).marginals(asked)
        for backend in ("numpy", "numba", "auto")
    ]
    for tables in zip(*found, strict=True):
        for table in tables[1:]:
            np.testing.assert_allclose(table, tables[0], rtol=1e-9)
