"""The command line: one file a family of commands."""

from beliefmesh.cli.entry import main as main
