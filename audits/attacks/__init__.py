"""Attacks on a synthetic table, against control rows that were not in the private one. Results are confidential."""
