"""What a kafka URL may look like, which settings belong together, and that no password is ever shown."""

from pathlib import Path

import msgspec
import pytest

from schemas.errors import InvalidSetting
from stores.kafka.options import KafkaOptions, addresses_of, require_whole, tls_context


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("kafka://broker:19092", ["broker:19092"]),
        ("kafka://broker", ["broker:9092"]),
        ("kafka://broker/", ["broker:9092"]),
        ("kafka://one:1,two,three:3", ["one:1", "two:9092", "three:3"]),
        ("kafka://one:1, two:2", ["one:1", "two:2"]),
        ("kafka://[::1]:19092", ["[::1]:19092"]),
        ("kafka://[fe80::1],[fe80::2]:2", ["[fe80::1]:9092", "[fe80::2]:2"]),
    ],
)
def test_a_url_names_one_or_more_brokers(url: str, addresses: list[str]) -> None:
    assert addresses_of(url) == addresses


@pytest.mark.parametrize(
    "url",
    [
        "kafka://",
        "kafka:///broker",
        "kafka://broker:port",
        "kafka://broker:70000",
        "kafka://broker:0",
        "kafka://bro ker:9092",
        "kafka://[::1:9092",
        "kafka://one,,two",
        "kafka://one,",
        "kafka://broker/topic",
        "kafka://broker?acks=0",
        "kafka://broker#here",
        "http://broker:9092",
    ],
)
def test_another_shape_is_refused_with_the_right_one(url: str) -> None:
    with pytest.raises(InvalidSetting, match=r"stores\.log: .* is not kafka://host:port"):
        addresses_of(url)


def test_a_user_in_the_url_is_refused_without_repeating_the_password() -> None:
    with pytest.raises(InvalidSetting, match=r"set kafka\.username and kafka\.password") as refusal:
        addresses_of("kafka://mesh:canary-771@broker:9092")
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (KafkaOptions(sasl="plain", username="mesh"), r"kafka\.sasl: plain needs kafka\.username and kafka\.password"),
        (KafkaOptions(sasl="scram-sha-256", password="s"), r"kafka\.sasl: scram-sha-256 needs"),
        (KafkaOptions(username="mesh"), r"kafka\.username: has no effect without kafka\.sasl"),
        (KafkaOptions(password="s"), r"kafka\.username: has no effect without kafka\.sasl"),
        (KafkaOptions(tls_ca="ca.pem"), r"kafka\.tls_ca: has no effect without kafka\.tls"),
        (KafkaOptions(tls_certificate="me.pem"), r"has no effect without kafka\.tls"),
    ],
)
def test_half_a_pair_of_settings_is_refused(options: KafkaOptions, named: str) -> None:
    with pytest.raises(InvalidSetting, match=named):
        require_whole(options)


@pytest.mark.parametrize(
    "options",
    [
        KafkaOptions(),
        KafkaOptions(tls=True),
        KafkaOptions(sasl="plain", username="mesh", password="s"),
        KafkaOptions(sasl="scram-sha-512", username="mesh", password="s", tls=True, tls_ca="ca.pem"),
    ],
)
def test_whole_settings_are_accepted(options: KafkaOptions) -> None:
    require_whole(options)


def test_without_tls_there_is_nothing_to_trust() -> None:
    assert tls_context(KafkaOptions()) is None


def test_a_certificate_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"kafka\.tls: cannot use .*gone\.pem"):
        tls_context(KafkaOptions(tls=True, tls_ca=str(tmp_path / "gone.pem")))


def test_a_file_that_holds_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(InvalidSetting, match=r"kafka\.tls: cannot use .*ca\.pem"):
        tls_context(KafkaOptions(tls=True, tls_ca=str(tmp_path / "ca.pem")))


def test_no_password_is_shown() -> None:
    options = KafkaOptions(sasl="plain", username="mesh", password="canary-771")
    assert "canary" not in f"{options!r} {options}"


@pytest.mark.parametrize("given", [{"replication": 0}, {"max_message_mb": 0}, {"sasl": "gssapi"}, {"claims_days": -1}])
def test_values_out_of_range_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, KafkaOptions)
