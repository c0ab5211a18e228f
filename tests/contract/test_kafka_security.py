"""How the log on Kafka gets in: TLS and logins that are right, and what it says where they are not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_broker import PASSWORD, USER, Broker, missing

from schemas.errors import InvalidSetting
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions, Sasl
from stores.ports import Entry, TopicPlan

pytestmark = pytest.mark.kafka

MAY = 1_714_521_600_000_000


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker with every kind of listener."""
    if lack := missing():
        pytest.skip(lack)
    broker = Broker(tmp_path_factory.mktemp("secure"), secure=True)
    broker.start()
    yield broker
    broker.stop()


def opened(broker: Broker, protocol: str, options: KafkaOptions) -> KafkaLog:
    return KafkaLog(f"kafka://{broker.address(protocol)}", options)


def login(sasl: Sasl, password: str = PASSWORD, ca: Path | None = None) -> KafkaOptions:
    """Settings for a login, over TLS where a certificate is to be trusted."""
    return KafkaOptions(sasl=sasl, username=USER, password=password, tls=ca is not None, tls_ca=str(ca or ""))


@pytest.mark.parametrize("sasl", ["none", "plain", "scram-sha-256", "scram-sha-512"])
def test_records_go_over_tls_with_every_login(secure: Broker, sasl: Sasl) -> None:
    options = (
        KafkaOptions(tls=True, tls_ca=str(secure.certificate)) if sasl == "none" else login(sasl, ca=secure.certificate)
    )
    log = opened(secure, "SSL" if sasl == "none" else "SASL_SSL", options)

    log.create(sasl, TopicPlan(1))
    log.append(sasl, [Entry("k", b"a")], MAY)
    log.commit("shards", sasl, {0: 1})

    assert [record.value for record in log.read(sasl, 0, 0, 10)] == [b"a"]
    assert log.committed("shards", sasl) == {0: 1}
    log.close()


@pytest.mark.parametrize("sasl", ["plain", "scram-sha-512"])
def test_a_login_works_without_tls(secure: Broker, sasl: Sasl) -> None:
    log = opened(secure, "SASL_PLAINTEXT", login(sasl))
    log.create("clear", TopicPlan(1))
    assert log.ends("clear") == {0: 0}
    log.close()


@pytest.mark.parametrize("sasl", ["plain", "scram-sha-256"])
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_wrong_password_is_a_wrong_setting_that_is_not_repeated(secure: Broker, sasl: Sasl, protocol: str) -> None:
    ca = secure.certificate if protocol == "SASL_SSL" else None
    with pytest.raises(InvalidSetting, match=r"kafka\.password: .* refuses the login of 'mesh'") as refusal:
        opened(secure, protocol, login(sasl, "wrong-canary-771", ca))
    told = [str(error) for error in (refusal.value, refusal.value.__cause__, refusal.value.__context__)]
    assert "canary" not in " ".join(told)


def test_a_certificate_that_nobody_vouches_for_is_refused(secure: Broker) -> None:
    with pytest.raises(InvalidSetting, match=r"kafka\.tls_ca: does not vouch for .*self-signed"):
        opened(secure, "SSL", KafkaOptions(tls=True))


@pytest.mark.parametrize(
    ("protocol", "options", "hint"),
    [
        ("SSL", KafkaOptions(), r"kafka\.tls: .*does not speak Kafka in the clear"),
        ("PLAINTEXT", KafkaOptions(tls=True), r"kafka\.tls: .*refuses TLS"),
        ("PLAINTEXT", login("plain"), r"kafka\.sasl: .*takes no login by plain"),
        ("SASL_PLAINTEXT", KafkaOptions(), r"kafka\.sasl: .*wants a login"),
    ],
)
def test_settings_for_another_port_of_the_broker_are_named(
    secure: Broker, protocol: str, options: KafkaOptions, hint: str
) -> None:
    with pytest.raises(InvalidSetting, match=hint):
        opened(secure, protocol, options)
