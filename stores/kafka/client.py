"""kafka-python's clients as the log uses them: how they are made and shared, and what their errors mean."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, Generic, Protocol, TypeVar

from schemas.errors import BeliefmeshError, InvalidInput, InvalidSetting, StoreUnavailable, TooLarge
from stores.kafka.door import closed_door
from stores.kafka.driver import KafkaAdminClient, KafkaConsumer, KafkaError, KafkaNetClient, KafkaProducer, errors
from stores.kafka.options import KafkaOptions, addresses_of, require_whole, tls_context

REQUEST_SECONDS = 10.0
DELIVERY_SECONDS = 30.0
_MS = 1_000
_PAUSE = 0.1
_RECONNECT_MS = 1_000
_BATCH_BYTES = 256 * 1024
_RECORD_OVERHEAD = 256
_MB = 1_000_000
_DEAD_LETTERS = "dead-letters"
_LARGER = {"claims": 3, "changes": 3, _DEAD_LETTERS: 4}


class Closable(Protocol):
    """What every client of kafka-python is."""

    def close(self) -> None:
        """End its connections and threads."""


Client = TypeVar("Client", bound=Closable)
Answer = TypeVar("Answer")


class SharedClient(Generic[Client]):
    """One client for all threads, made when first needed and again after a failure."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._turn = Lock()
        self._client: Client | None = None
        self._closed = False

    def get(self) -> Client:
        """The client. Raises StoreUnavailable where it cannot be made in time."""
        client = self._client
        if client is not None:
            return client
        if not self._turn.acquire(timeout=REQUEST_SECONDS):
            raise StoreUnavailable("Kafka does not answer; try again")
        try:
            if self._closed:
                raise closed()
            if self._client is None:
                self._client = self._make()
            return self._client
        finally:
            self._turn.release()

    def ask(self, doing: str, question: Callable[[Client], Answer]) -> Answer:
        """What the client answers; where that fails in a way that passes by itself, it is asked again for a while."""
        deadline = time.monotonic() + REQUEST_SECONDS
        while True:
            client = self.get()
            try:
                return question(client)
            except (KafkaError, RuntimeError) as error:
                if self._closed:
                    raise closed() from error
                late = time.monotonic() > deadline
                if late or not _keeps_client(error):
                    self.drop(client)
                if late or not _passes(error):
                    raise meaning(error, doing) from error
            time.sleep(_PAUSE)

    def drop(self, client: Client) -> None:
        """Let the next user make a new one, unless somebody did so already; what is on its way may still arrive."""
        with self._turn:
            if self._client is not client:
                return
            self._client = None
        Thread(target=_close, args=(client,), daemon=True).start()

    def close(self) -> None:
        """End the client for good."""
        self._closed = True
        with self._turn:
            client, self._client = self._client, None
        if client is not None:
            _close(client)


def largest(topic: str, options: KafkaOptions) -> int:
    """How many bytes a record of a topic may have; what was made of a message, or a letter about it, is larger."""
    limit = options.max_message_mb * _MB
    return next((times * limit for ending, times in _LARGER.items() if topic.endswith(ending)), limit)


class Clients:
    """Makes the clients for one URL. Raises InvalidSetting for settings that cannot be used."""

    def __init__(self, url: str, options: KafkaOptions) -> None:
        self.options = options
        self._addresses = addresses_of(url)
        require_whole(options)
        self._context = tls_context(options)
        self._arguments: dict[str, Any] = {
            "bootstrap_servers": self._addresses,
            "client_id": options.client_id,
            "security_protocol": ("SASL_" if options.sasl != "none" else "") + ("SSL" if options.tls else "PLAINTEXT"),
            "ssl_context": self._context,
            "request_timeout_ms": int(REQUEST_SECONDS * _MS),
            "bootstrap_timeout_ms": int(REQUEST_SECONDS * _MS),
            "reconnect_backoff_max_ms": _RECONNECT_MS,
            "receive_message_max_bytes": 2 * self.largest(_DEAD_LETTERS) + 64 * _MB,
        }
        if options.sasl != "none":
            self._arguments |= {
                "sasl_mechanism": options.sasl.upper(),
                "sasl_plain_username": options.username,
                "sasl_plain_password": options.password,
            }

    def knock(self) -> None:
        """Raises StoreUnavailable where no broker answers, InvalidSetting where one refuses us."""
        refusal = closed_door(self._addresses, self.options, self._context)
        if refusal is not None:
            raise refusal

    def largest(self, topic: str) -> int:
        """How many bytes a record of a topic may have."""
        return largest(topic, self.options)

    def admin(self) -> Any:
        """For topics and the offsets of groups."""
        return self._made(KafkaAdminClient)

    def producer(self) -> Any:
        """For appending: acknowledged by all replicas, without duplicates of its own."""
        return self._made(
            KafkaProducer,
            acks="all",
            enable_idempotence=True,
            batch_size=_BATCH_BYTES,
            max_request_size=self.largest(_DEAD_LETTERS) + _RECORD_OVERHEAD,
            max_block_ms=int(REQUEST_SECONDS * _MS),
            delivery_timeout_ms=int(DELIVERY_SECONDS * _MS),
            metrics_enabled=False,
            allow_auto_create_topics=False,
        )

    def consumer(self) -> Any:
        """For reading, without a group; where a topic has lost its beginning it goes on at the start."""
        return self._made(
            KafkaConsumer,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            metrics_enabled=False,
            allow_auto_create_topics=False,
        )

    def _made(self, kind: Callable[..., Any], **more: Any) -> Any:
        """A client, or our error. kafka-python leaves the connections of one that it could not make to us."""
        nets: list[KafkaNetClient] = []

        def net(**configuration: Any) -> KafkaNetClient:
            nets.append(KafkaNetClient(**configuration))
            return nets[-1]

        try:
            return kind(**self._arguments, **more, kafka_client=net)
        except (KafkaError, OSError) as error:
            for each in nets:
                each.close()
            self.knock()
            raise meaning(error, "connecting") from error


def closed() -> StoreUnavailable:
    """The error of a log that was closed."""
    return StoreUnavailable("the Kafka log is closed; open it again")


def meaning(error: Exception, doing: str) -> BeliefmeshError:
    """Our error for one of kafka-python's, whose own text may hold whole requests."""
    name = type(error).__name__.removesuffix("Error")
    match error:
        case errors.AuthorizationError():
            return InvalidSetting(
                f"kafka.username: is not allowed this ({doing}: {name}); have Kafka's operator allow it"
            )
        case errors.SaslAuthenticationFailedError() | errors.UnsupportedSaslMechanismError():
            return InvalidSetting(f"kafka.sasl: the login is refused ({name}); check kafka.username and kafka.password")
        case errors.InvalidReplicationFactorError():
            return InvalidSetting("kafka.replication: there are fewer brokers than that; lower it or start more")
        case errors.PolicyViolationError() | errors.InvalidConfigurationError():
            return InvalidSetting(f"stores.log: Kafka's rules for the topic forbid this ({doing}); change them there")
        case errors.InvalidTopicError():
            return InvalidInput("topic", "Kafka takes up to 249 letters, digits, dots, dashes and underscores")
        case errors.MessageSizeTooLargeError() | errors.RecordListTooLargeError():
            return TooLarge("value", "is over max.message.bytes of its topic; raise that and kafka.max_message_mb")
        case errors.InvalidTimestampError():
            return InvalidInput("at", "lies further ahead than Kafka allows; set the clocks right")
        case errors.UnknownMemberIdError() | errors.IllegalGenerationError() | errors.RebalanceInProgressError():
            return StoreUnavailable(
                f"workers of the group run and keep its offsets themselves ({doing}); stop them first"
            )
        case _:
            return StoreUnavailable(f"Kafka failed ({doing}: {name}); is its broker running? Try again")


def _passes(error: Exception) -> bool:
    """Whether the same question may soon be answered; asking a client that was just replaced is a RuntimeError."""
    return isinstance(error, RuntimeError) or bool(getattr(error, "retriable", False))


def _keeps_client(error: Exception) -> bool:
    """A client reconnects by itself, but it goes on asking the coordinator that it once found."""
    return isinstance(error, KafkaError) and not isinstance(error, errors.NotCoordinatorError)


def _close(client: Closable) -> None:
    with suppress(KafkaError, RuntimeError, OSError):
        client.close()
