"""What kafka-python may say in a log, however much of it an application asks for."""

import logging

import pytest

from stores.kafka.driver import KafkaAdminClient


@pytest.mark.parametrize("name", ["kafka.admin.client", "kafka.net.connection", "kafka.protocol.parser"])
def test_what_would_bear_the_password_is_not_said_even_to_those_who_ask_for_everything(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert KafkaAdminClient is not None
    with caplog.at_level(logging.DEBUG, logger="kafka"):
        logging.getLogger(name).debug("Sending SaslAuthenticateRequest(auth_bytes=b'canary-771')")
        logging.getLogger(name).warning("a broker is away")

    assert "canary-771" not in caplog.text
    assert "a broker is away" in caplog.text
