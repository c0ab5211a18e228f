"""Log events go to what standard error is when they happen."""

import io
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator

import pytest
import structlog

from beliefmesh.logs import configure_logs
from beliefmesh.settings import LogSettings


def test_an_event_goes_to_the_standard_error_of_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = structlog.get_config()
    closed, later = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", closed)
    configure_logs(LogSettings(level="info", format="json"))
    closed.close()
    monkeypatch.setattr(sys, "stderr", later)

    structlog.get_logger("streams").info("belief.revised", version=2)

    assert '"event":"belief.revised"' in later.getvalue().replace(" ", "")
    structlog.configure(**before)


def test_an_event_that_cannot_be_written_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = structlog.get_config()
    gone = io.StringIO()
    monkeypatch.setattr(sys, "stderr", gone)
    configure_logs(LogSettings(level="info", format="json"))
    gone.close()

    structlog.get_logger("streams").error("stream.paused")

    structlog.configure(**before)


Told = Callable[[], list[dict[str, str]]]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Iterator[Told]:
    """The lines on standard error, as JSON; how this process logs is afterwards as it was before."""
    before, handlers, level = structlog.get_config(), logging.root.handlers[:], logging.root.level
    yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    structlog.configure(**before)
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    logging.captureWarnings(capture=False)


def test_what_a_library_logs_is_an_event_of_the_same_shape_without_secrets(told: Told) -> None:
    configure_logs(LogSettings(level="info", format="json"), ["s3cret"])
    configure_logs(LogSettings(level="info", format="json"), ["s3cret"])

    logging.getLogger("some.client").warning("no answer from %s", "redis://x:s3cret@y")
    logging.getLogger("some.client").debug("too fine")

    (line,) = told()
    assert line.pop("timestamp")
    assert line == {
        "event": "library.logged",
        "level": "warning",
        "logger": "some.client",
        "message": "no answer from redis://x:***@y",
    }


def test_a_level_of_a_librarys_own_and_a_message_that_does_not_fit_are_written_all_the_same(told: Told) -> None:
    configure_logs(LogSettings(level="info", format="json"))

    client = logging.Logger("some.client")
    client.addHandler(logging.root.handlers[-1])
    client.log(25, "a notice")
    client.error("%d of %d", 1)

    assert [(line["level"], line["message"]) for line in told()] == [("info", "a notice"), ("error", "%d of %d")]


def test_an_error_that_a_library_logs_has_its_traceback_in_the_line(told: Told) -> None:
    configure_logs(LogSettings(level="info", format="json"))
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("some.client").exception("it failed")

    (line,) = told()
    assert "ValueError: broken" in line["exception"]


def test_what_python_warns_of_is_an_event_too(told: Told) -> None:
    configure_logs(LogSettings(level="info", format="json"))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("soon gone", stacklevel=1)

    (line,) = told()
    assert (line["logger"], "soon gone" in line["message"]) == ("py.warnings", True)
