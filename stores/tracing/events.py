"""Which log events are wanted: those below a warning only by who has set logging up, since they are many."""

import logging
from typing import Any

import structlog

DEBUG, INFO = logging.DEBUG, logging.INFO


def wanted(logger: Any, level: int) -> bool:
    """Whether events of a level are written; ask before making what they tell.

    A process that has set up nothing, as one that uses the library, would get all of them on its standard output.
    """
    if not structlog.is_configured():
        return False
    enabled = getattr(logger, "is_enabled_for", None)
    return enabled is None or bool(enabled(level))
