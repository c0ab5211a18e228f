"""Where log events go: to standard error, as text on a terminal and as JSON lines elsewhere, from a level on."""

import logging
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog

from beliefmesh.settings import LogSettings


class _StandardError:
    """Standard error as it is at each event; an event that cannot be written is lost, and ends nothing."""

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()


def configure_logs(settings: LogSettings) -> None:
    """Set up structlog for this process; standard output stays free for results."""
    as_json = settings.format == "json" or (settings.format == "auto" and not sys.stderr.isatty())
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False) if as_json else structlog.dev.ConsoleRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, _StandardError())),
        cache_logger_on_first_use=False,
    )
