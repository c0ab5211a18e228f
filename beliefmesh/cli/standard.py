"""Standard input, output and error as every command may rely on: open, and able to write any text."""

import io
import os
import sys


def mend_streams() -> None:
    """Open what the caller has closed, to nothing; write what an encoding lacks as an escape.

    A closed standard stream leaves its number to the next file that is opened, which may be a database.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _nothing(mode: str) -> io.TextIOWrapper:
    nothing = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (stays open as long as the process)
    assert isinstance(nothing, io.TextIOWrapper)
    return nothing
