"""The verbs of a memory that is open in this process, by what they are for; `memory.py` puts them together."""
