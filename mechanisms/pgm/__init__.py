"""Private-PGM: a graphical model fitted to noisy marginals, its marginals, and rows drawn from it.

Post-processing only: it sees noisy answers and public structure, never rows. Read in the order of the paper:
``domain``, ``measurement``, ``junction_tree``, ``contraction`` and ``inference`` (belief propagation), ``solver`` and
``estimation``, ``marginals``, ``sampling``, ``model``.

    model = estimate(domain, [Measurement(("age", "sex"), noisy_counts, sigma=30.0)])
    model.marginal(("sex", "income"))
    model.sample(1000, numpy.random.default_rng(7))
"""

from mechanisms.pgm.domain import Clique, Domain
from mechanisms.pgm.estimation import SolverOptions, estimate
from mechanisms.pgm.junction_tree import BYTES_PER_CELL, candidate_cells, model_cells, model_size_mb
from mechanisms.pgm.measurement import Measurement
from mechanisms.pgm.model import Model

__all__ = [
    "BYTES_PER_CELL",
    "Clique",
    "Domain",
    "Measurement",
    "Model",
    "SolverOptions",
    "candidate_cells",
    "estimate",
    "model_cells",
    "model_size_mb",
]
