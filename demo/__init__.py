"""Demonstrations on real data that ship inside a dependency."""
