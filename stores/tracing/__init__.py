"""Traces: spans of the work, and the context that travels with messages; off unless a collector is named."""
