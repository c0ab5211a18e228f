"""Observations arrive: topics, the three stages, workers, sources, dead letters."""
