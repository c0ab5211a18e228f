"""Where log events go: to standard error, as text on a terminal and as JSON lines elsewhere, from a level on."""

import logging
import sys

import structlog

from beliefmesh.settings import LogSettings


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
        # Looked up for each event: whoever captures standard error may have put another file in its place.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
