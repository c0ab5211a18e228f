"""The verbs of a memory that another process holds, by what they are for, as in `verbs`; `remote.py` joins them."""
