"""What the house uses of kafka-python, imported in one place: without its warning, and with its logging silent."""

import logging
import warnings

# kafka-python 3.0.12 reads its message formats with a function that Python 3.11 calls deprecated, some of them late.
warnings.filterwarnings("ignore", "(read_text|open_text) is deprecated", DeprecationWarning)

# Everything that matters leaves as an exception; the rest is tracebacks and warnings about a broker that is away.
if logging.getLogger("kafka").level == logging.NOTSET:
    logging.getLogger("kafka").setLevel(logging.CRITICAL)

import google_crc32c  # noqa: E402
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition, errors  # noqa: E402
from kafka.admin import NewTopic  # noqa: E402
from kafka.errors import KafkaError  # noqa: E402
from kafka.net.compat import KafkaNetClient  # noqa: E402
from kafka.net.sasl import get_sasl_mechanism  # noqa: E402
from kafka.record import default_records  # noqa: E402
from kafka.structs import OffsetAndMetadata  # noqa: E402


def _tells_no_login(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG


# At DEBUG these write out whole configurations and requests, and with them the password.
for _talkative in ("kafka.admin.client", "kafka.net.connection", "kafka.protocol.parser"):
    logging.getLogger(_talkative).addFilter(_tells_no_login)


def _checksum(data: memoryview) -> int:
    """CRC-32C in C. kafka-python sums in Python, most of a send, unless a package is there that we do not take."""
    return int(google_crc32c.value(bytes(data)))


default_records.calc_crc32c = _checksum

__all__ = [
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaError",
    "KafkaNetClient",
    "KafkaProducer",
    "NewTopic",
    "OffsetAndMetadata",
    "TopicPartition",
    "errors",
    "get_sasl_mechanism",
]
