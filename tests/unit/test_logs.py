"""Log events go to what standard error is when they happen."""

import io
import sys

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
