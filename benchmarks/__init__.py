"""Timed and scored comparisons with peers: one command each, `python -m benchmarks.NAME`."""
