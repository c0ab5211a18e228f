"""Where log events go, libraries' too: to standard error, as text on a terminal, else as JSON, without any secret."""

import json
import logging
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from beliefmesh.settings import MASK, LogSettings
from schemas.trace import trace_id
from stores.tracing.spans import carried

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)


class _StandardError:
    """Standard error as it is at each event; an event that cannot be written is lost, and ends nothing."""

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()


class _Masked:
    """Renders an event, and takes out secrets, whatever brought them there: an address in an error's words, say."""

    def __init__(self, render: structlog.typing.Processor, secrets: Iterable[str]) -> None:
        self._render = render
        self._secrets = sorted(
            {form for one in secrets for form in (one, json.dumps(one)[1:-1])}, key=len, reverse=True
        )

    def __call__(self, logger: Any, method: str, event: structlog.typing.EventDict) -> str:
        text = str(self._render(logger, method, event))
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text


def _in_trace(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Name the trace in which this is done, where there is one and the event names none."""
    if "trace_id" not in event and (found := trace_id(carried())):
        event["trace_id"] = found
    return event


class _OfLibraries(logging.Handler):
    """Writes what libraries log as an event of ours, `library.logged`, whatever structlog is set to later."""

    def __init__(self, log_events: structlog.typing.FilteringBoundLogger) -> None:
        super().__init__()
        self._log_events = log_events

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; one that cannot be put together is told by its template."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            message = str(record.msg)
        failed = {"exc_info": record.exc_info} if record.exc_info else {}
        level = max((known for known in _LEVELS if known <= record.levelno), default=logging.DEBUG)
        self._log_events.log(level, "library.logged", logger=record.name, message=message, **failed)


def configure_logs(settings: LogSettings, secrets: Iterable[str] = ()) -> None:
    """Set up structlog for this process; standard output stays free for results. No line bears any of the secrets."""
    as_json = settings.format == "json" or (settings.format == "auto" and not sys.stderr.isatty())
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False) if as_json else structlog.dev.ConsoleRenderer()
    )
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _in_trace,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _Masked(last, secrets),
    ]
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    wrapper = structlog.make_filtering_bound_logger(level)
    factory = structlog.WriteLoggerFactory(cast(TextIO, _StandardError()))
    structlog.configure(
        processors=processors, wrapper_class=wrapper, logger_factory=factory, cache_logger_on_first_use=False
    )
    _hear_libraries(structlog.wrap_logger(factory(), processors, wrapper), level)


def _hear_libraries(log_events: structlog.typing.FilteringBoundLogger, level: int) -> None:
    """Let what libraries log, and what Python warns of, be written by this logger, and by it alone."""
    for handler in logging.root.handlers[:]:
        if isinstance(handler, _OfLibraries):
            logging.root.removeHandler(handler)
    logging.root.addHandler(_OfLibraries(log_events))
    logging.root.setLevel(level)
    logging.captureWarnings(capture=True)
