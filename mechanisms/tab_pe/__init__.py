"""Tab-PE: Private Evolution for tables. Candidates are voted for by the private rows, selected and varied, by rounds.

Post-processing of paid answers only. Read in the order of a run: ``config`` (options and presets), ``space`` (how
candidates lie, are placed and varied), ``opening`` (paid tables or a model, and the first candidates), ``weighing``
(what all paid answers say about candidates), ``selection``, ``polishing`` (from weighed candidates to rows) and
``evolution``, which runs it all.

Source: arXiv:2606.08259.
"""

from mechanisms.tab_pe.config import TabPEConfig

__all__ = ["TabPEConfig"]
