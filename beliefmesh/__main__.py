"""Runs the command line as `python -m beliefmesh`."""

from beliefmesh.cli import main

if __name__ == "__main__":
    main()
