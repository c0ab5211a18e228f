"""Names of those who hold a lease or a claim, and whether such a one still lives."""

import os
import socket
from uuid import uuid4


def new_owner() -> str:
    """A name for who takes a lease or claims a key, from which others on this machine can tell whether it lives."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"


def is_dead(owner: str) -> bool:
    """Whether the owner was a process of this machine that is gone; of other machines nothing is known."""
    host, _, rest = owner.rpartition("/")[0].rpartition("/")
    if host != socket.gethostname() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
