"""The graph on NebulaGraph, through nebula3-python."""
