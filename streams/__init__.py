"""Observations arrive: topics, the two stages, workers, sources, dead letters."""
