"""A language model at an OpenAI-compatible `/chat/completions` endpoint: time limit, retries, budget, parallel use."""

import json
import time
from collections.abc import Mapping
from http.client import HTTPException
from threading import BoundedSemaphore
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from schemas.errors import InvalidSetting, ModelFailed
from stores.language.allowance import Allowance
from stores.language.options import LanguageOptions
from stores.ports import LanguageModel

_SHAPE = "https://host/v1/chat/completions#model (also http://)"
_LONGEST_ANSWER = 1_048_576
_CHUNK = 65_536
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0
_SEED = 7
_BUSY = 429
_PASSING = frozenset({408, 409, 425, _BUSY})
"""Statuses below 500 after which the same call may well succeed."""
_AGAIN = frozenset({"unreachable", "timeout", "busy", "malformed"})
_DOWN = frozenset({"unreachable", "timeout", "busy"})


class _NoRedirect(HTTPRedirectHandler):
    """Lets no redirect carry the key elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """None: the redirect becomes an error of its status."""
        return


class EndpointModel:
    """One model of one endpoint; for several threads, of which `concurrency` ask at once.

    Failures that may pass are tried again, each time after twice the wait. When the endpoint is still down it is left
    alone for half a minute, in which every call fails at once, so that no stream waits for it.
    """

    def __init__(self, url: str, model: str, options: LanguageOptions) -> None:
        self.model_id = f"{url}#{model}"
        self._url = url
        self._model = model
        self._options = options
        self._slots = BoundedSemaphore(options.concurrency)
        self._allowance = Allowance(options.calls_per_hour, time.monotonic)
        self._opener = build_opener(_NoRedirect)

    def complete(self, system: str, user: str, schema: Mapping[str, Any] | None = None) -> str:
        """See `LanguageModel.complete`."""
        body = _body(self._model, system, user, schema)
        with self._slots:
            for attempt in range(self._options.retries + 1):
                if attempt:
                    time.sleep(min(_FIRST_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT))
                self._allowance.take()
                try:
                    return self._ask(body, structured=schema is not None)
                except ModelFailed as error:
                    failed = error
                    if error.reason not in _AGAIN:
                        break
        if failed.reason in _DOWN:
            self._allowance.rest()
        raise failed

    def _ask(self, body: bytes, *, structured: bool) -> str:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._options.key:
            headers["Authorization"] = f"Bearer {self._options.key}"
        request = Request(self._url, body, headers)  # noqa: S310 - open_language lets http and https through only
        end = time.monotonic() + self._options.timeout
        try:
            with self._opener.open(request, timeout=self._options.timeout) as response:
                answer = _read(response, end)
        except HTTPError as error:
            with error:
                raise _refused(error.code) from error
        except TimeoutError as error:
            raise self._slow() from error
        except (OSError, HTTPException) as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise self._slow() from error
            raise ModelFailed("unreachable", f"{self.model_id} cannot be reached: {error}") from error
        return _content(answer, structured=structured)

    def _slow(self) -> ModelFailed:
        return ModelFailed(
            "timeout", f"{self.model_id} gave no answer within {self._options.timeout:g} s (llm.timeout)"
        )


def open_language(options: LanguageOptions) -> LanguageModel | None:
    """The model that the options name; None without a URL. Raises InvalidSetting for a URL that is not one."""
    if not options.url:
        return None
    try:
        parts = urlsplit(options.url)
    except ValueError as error:
        raise InvalidSetting(f"llm.url: is not {_SHAPE} ({error})") from error
    if parts.scheme not in ("http", "https") or not parts.netloc or not parts.fragment:
        raise InvalidSetting(f"llm.url: is not {_SHAPE}; name the model after '#'")
    if "@" in parts.netloc:
        raise InvalidSetting("llm.url: holds no user or password; set llm.key")
    endpoint = urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, ""))
    return EndpointModel(endpoint, parts.fragment, options)


def _body(model: str, system: str, user: str, schema: Mapping[str, Any] | None) -> bytes:
    asked: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": _clean(system)}, {"role": "user", "content": _clean(user)}],
        "temperature": 0,
        "seed": _SEED,
    }
    if schema is not None:
        described = {"name": "answer", "strict": True, "schema": schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": described}
    return json.dumps(asked).encode()


def _read(response: Any, end: float) -> bytes:
    """The whole body; the socket's time limit is one read's, so that a body which drips needs a limit of its own."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > _LONGEST_ANSWER:
            raise ModelFailed("malformed", f"the answer is longer than {_LONGEST_ANSWER} bytes")
        if time.monotonic() > end:
            raise TimeoutError
    return b"".join(parts)


def _content(answer: bytes, *, structured: bool) -> str:
    try:
        choice = json.loads(answer)["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFailed("malformed", f"the endpoint does not answer as /chat/completions does: {error!r}") from error
    if refusal or finish == "content_filter":
        raise ModelFailed("refusal", "the model declines to answer")
    if not isinstance(content, str) or not content.strip():
        raise ModelFailed("malformed", "the answer is empty")
    if structured and finish == "length":
        raise ModelFailed("malformed", "the answer was cut off at the model's limit")
    return content


def _refused(status: int) -> ModelFailed:
    if status == _BUSY:
        return ModelFailed("busy", "the endpoint says that it is asked too often (429)")
    if status in _PASSING or status >= 500:
        return ModelFailed("unreachable", f"the endpoint answers with status {status}")
    return ModelFailed("rejected", f"the endpoint answers with status {status}; check llm.url, the model and llm.key")


def _clean(text: str) -> str:
    """A text that survives UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
