"""What an endpoint of a language model is asked, and how each of its failures shows."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from chat_server import ChatServer, Reply, chat_server, says

from schemas.errors import InvalidSetting, ModelFailed
from stores.language.allowance import Allowance
from stores.language.endpoint import open_language
from stores.language.options import LanguageOptions
from stores.ports import LanguageModel


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def model(server: ChatServer, **options: object) -> LanguageModel:
    opened = open_language(LanguageOptions(**{"url": server.url, "retries": 0, "timeout": 2.0} | options))
    assert opened is not None
    return opened


def test_without_a_url_there_is_no_model() -> None:
    assert open_language(LanguageOptions()) is None


@pytest.mark.parametrize("url", ["ftp://h/v1#m", "https://h/v1", "http://#m", "http://[::1#m", "https://u:p@h/v1#m"])
def test_a_url_that_is_no_endpoint_with_a_model_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting, match=r"llm\.url"):
        open_language(LanguageOptions(url=url))


def test_model_key_messages_and_schema_are_sent(server: ChatServer) -> None:
    schema = {"type": "object"}
    assert model(server, key="k1").complete("be brief", "hi \ud800", schema) == "hello"

    (body,) = server.requests
    assert (body["model"], body["temperature"]) == ("stub", 0)
    assert [message["content"] for message in body["messages"]] == ["be brief", "hi ?"]
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert server.keys == ["Bearer k1"]


REPLIES = {
    "not json": (Reply(b"<html>busy</html>", type="text/html"), "malformed"),
    "truncated json": (Reply(b'{"choices": [{"mess'), "malformed"),
    "no choices": (Reply(b'{"choices": []}'), "malformed"),
    "wrong shape": (Reply(b'{"choices": {"0": 1}}'), "malformed"),
    "no content": (Reply(json.dumps({"choices": [{"message": {"content": None}}]}).encode()), "malformed"),
    "empty body": (Reply(b""), "malformed"),
    "deep nesting": (Reply(b"[" * 100_000), "malformed"),
    "huge": (Reply(b"x" * 1_100_000), "malformed"),
    "refusal": (says("", refusal="no"), "refusal"),
    "filtered": (says("x", finish="content_filter"), "refusal"),
    "429": (Reply(b"{}", status=429), "busy"),
    "500": (Reply(b"{}", status=500), "unreachable"),
    "401": (Reply(b"{}", status=401), "rejected"),
    "redirect": (Reply(b"", status=302), "rejected"),
    "hang": (Reply(b"", hangs=True), "timeout"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_each_failure_has_a_reason(server: ChatServer, name: str) -> None:
    reply, reason = REPLIES[name]
    server.answer = lambda _: reply
    with pytest.raises(ModelFailed) as failed:
        model(server, timeout=0.3).complete("s", "u")
    assert failed.value.reason == reason


def test_an_answer_that_was_cut_off_is_no_structured_answer(server: ChatServer) -> None:
    server.answer = lambda _: says('{"claims": [', finish="length")
    with pytest.raises(ModelFailed, match="cut off"):
        model(server).complete("s", "u", {"type": "object"})


def test_what_failed_in_passing_is_tried_again(server: ChatServer) -> None:
    replies = iter([Reply(b"{}", status=500), says("now")])
    server.answer = lambda _: next(replies)
    assert model(server, retries=1).complete("s", "u") == "now"
    assert len(server.requests) == 2


def test_a_wrong_key_is_not_tried_again(server: ChatServer) -> None:
    server.answer = lambda _: Reply(b"{}", status=401)
    with pytest.raises(ModelFailed):
        model(server, retries=3).complete("s", "u")
    assert len(server.requests) == 1


def test_an_endpoint_that_is_down_is_left_alone_for_a_while(server: ChatServer) -> None:
    server.answer = lambda _: Reply(b"{}", status=503)
    opened = model(server)
    reasons = []
    for _ in range(3):
        with pytest.raises(ModelFailed) as failed:
            opened.complete("s", "u")
        reasons.append(failed.value.reason)
    assert reasons == ["unreachable", "resting", "resting"]
    assert len(server.requests) == 1


def test_no_more_calls_are_made_within_an_hour_than_allowed() -> None:
    now = [0.0]
    allowance = Allowance(2, lambda: now[0])
    allowance.take()
    now[0] = 1_800.0
    allowance.take()
    with pytest.raises(ModelFailed, match="2 calls"):
        allowance.take()
    now[0] = 3_601.0
    allowance.take()


def test_no_more_calls_are_under_way_than_allowed(server: ChatServer) -> None:
    opened = model(server, concurrency=2)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda at: opened.complete("s", str(at)), range(16))) == ["hello"] * 16
    assert server.most_at_once <= 2


def test_the_key_stands_in_no_text_about_the_options() -> None:
    assert "hush" not in repr(LanguageOptions(url="http://h/v1#m", key="hush"))
