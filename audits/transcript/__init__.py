"""The transcript likelihood-ratio audit: replay what a run asked against the neighbour, and compare exact likelihoods.

A run's questions depend on earlier answers and public randomness only, so that on replay against the neighbouring table
they stay what they were; only the true counts, errors and votes change. The exact log-likelihood ratio of the whole
adaptive transcript is then a sum of rounded-Gaussian and softmax terms: the Neyman–Pearson statistic, with no
classifier to train.
"""
