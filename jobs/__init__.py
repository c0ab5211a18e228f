"""Scheduled work: decay, compaction, merge, reindex, calibration."""
