"""Exact privacy noise: the rounded Gaussian and the softmax selection, drawn from an entropy source given as argument.

Both samplers are exact: the law of what they return is the law that the price was computed for, with no table, no
truncation and no error to add to δ.
"""

from accounting.noise.entropy import Entropy, OsEntropy, ScriptedEntropy, SeededEntropy
from accounting.noise.gaussian import MAX_VARIANCE, MIN_VARIANCE, check_variance, rounded_gaussian
from accounting.noise.selection import select_softmax

__all__ = [
    "MAX_VARIANCE",
    "MIN_VARIANCE",
    "Entropy",
    "OsEntropy",
    "ScriptedEntropy",
    "SeededEntropy",
    "check_variance",
    "rounded_gaussian",
    "select_softmax",
]
