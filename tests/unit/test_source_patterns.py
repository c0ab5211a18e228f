"""Log formats: which service, host, level, time and message each common form of a line gives, and what is refused."""

import io
import json
from typing import Any

import pytest

from schemas.errors import InvalidInput
from schemas.instant import format_instant, parse_instant
from schemas.intake import observation_from
from streams.sources.pattern_file import read_pattern_file
from streams.sources.registry import list_sources, open_source, source_text
from streams.sources.told import Refused, Told
from streams.sources.yaml_file import read_yaml

NOW = parse_instant("2024-06-10T12:00:00Z", "now")


def read(source: str, lines: str | bytes, file: str = "app.log") -> tuple[list[dict[str, Any]], list[Refused]]:
    data = lines if isinstance(lines, bytes) else lines.encode()
    found = list(open_source(source).read(io.BytesIO(data), file, NOW, NOW))
    return [each.fields for each in found if isinstance(each, Told)], [e for e in found if isinstance(e, Refused)]


def slots(told: list[dict[str, Any]]) -> dict[tuple[str, str], object]:
    """Every slot that was told, but for the summary of each hour."""
    return {
        (claim["entity"]["name"], claim["attribute"]): claim["value"]
        for each in told
        for claim in each["claims"]
        if "attribute" in claim and not claim["attribute"].endswith("an hour")
    }


@pytest.mark.parametrize(
    ("source", "line", "at", "origin"),
    [
        ("syslog", "<34>Oct 11 22:14:15 mymachine su: 'su root' failed", "2023-10-11T22:14:15Z", "su@mymachine"),
        ("syslog", "Jun  9 06:06:20 combo sshd(pam_unix)[99]: check pass", "2024-06-09T06:06:20Z", "sshd@combo"),
        ("syslog", "<165>1 2003-10-11T22:14:15.003Z web app 8 ID47 - hello", "2003-10-11T22:14:15.003000Z", "app@web"),
        ("syslog", "2024-05-20T09:00:00+02:00 web nginx[1]: started", "2024-05-20T07:00:00Z", "nginx@web"),
        ("logfmt", 'ts=2024-05-20T09:00:00Z level=info msg="hi" service=api', "2024-05-20T09:00:00Z", "api"),
        ("jsonlog", '{"time": 1716195600000, "msg": "hi", "app": "api"}', "2024-05-20T09:00:00Z", "api"),
        ("nginx", '10.0.0.1 - - [20/May/2024:09:00:00 +0000] "GET / HTTP/1.1" 200 5', "2024-05-20T09:00:00Z", "nginx"),
        ("nginx", "2024/05/20 09:00:00 [error] 12#0: *5 connect() failed", "2024-05-20T09:00:00Z", "nginx"),
        ("apache", "[Sun Dec 04 04:47:44 2005] [notice] workerEnv.init() ok", "2005-12-04T04:47:44Z", "apache"),
        ("log4j", "17/06/09 20:10:40 INFO executor.Backend: Got it", "2017-06-09T20:10:40Z", "app"),
        ("log4j", "081109 203615 148 INFO dfs.DataNode$X: terminating", "2008-11-09T20:36:15Z", "app"),
        ("log4j", "[2024-05-20 09:00:00,1] WARN slow (kafka.log.Log)", "2024-05-20T09:00:00.100000Z", "app"),
        ("levels", "INFO 2024-05-20 09:00:00 hello", "2024-05-20T09:00:00Z", "app"),
        ("levels", "E0520 09:00:00.000123 1 main.go:7] boom", "2024-05-20T09:00:00.000123Z", "app"),
        ("levels", "2024-05-20 09:00:00,123 - my.db - ERROR - no", "2024-05-20T09:00:00.123000Z", "app"),
        ("levels", "03-17 16:13:38.811  1702  2395 D WindowManager: hm", "2024-03-17T16:13:38.811000Z", "app"),
        ("levels", "2016-09-28 04:30:30, Info                  CBS    Loaded", "2016-09-28T04:30:30Z", "app"),
        ("levels", "1716195600 ERROR boom", "2024-05-20T09:00:00Z", "app"),
    ],
)
def test_a_line_has_its_time_and_its_speaker_by_name_and_in_any_log(
    source: str, line: str, at: str, origin: str
) -> None:
    for name in (source, "log"):
        told, bad = read(name, line)
        assert bad == []
        assert format_instant(round(told[0]["observed_at"] * 1_000_000)) == at
        if name == source or source not in ("nginx", "apache"):
            assert told[0]["source"]["origin"] == origin


def test_the_priority_of_syslog_is_its_level() -> None:
    told, _ = read("syslog", "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick")
    assert slots(told) == {("su", "level"): "critical"}
    assert told[-1]["claims"][0]["scope"] == {"host": "mymachine"}


def test_structured_data_and_pairs_become_slots() -> None:
    told, _ = read("syslog", '<165>1 2003-10-11T22:14:15Z web app - - [x@1 queue="7" state="draining"] hi')
    assert slots(told) == {("app", "queue"): 7, ("app", "state"): "draining", ("app", "level"): "notice"}
    told, _ = read("logfmt", 'time=2024-05-20T09:00:00Z level=warn msg="disk" service=api used=91 version=1.2.3')
    assert slots(told) == {("api", "used"): 91, ("api", "version"): "1.2.3", ("api", "level"): "warning"}


def test_a_json_line_about_an_order_tells_the_orders_state_and_the_services_measures() -> None:
    line = '{"time": 1716195600, "level": 50, "msg": "no", "service": {"name": "api"}, "order_id": "o-7", "status": '
    told, _ = read("jsonlog", line + '"failed", "old_status": "new", "latency_ms": 12.5, "user_id": 4}')
    assert slots(told) == {("o-7", "status"): "failed", ("api", "latency ms"): 12.5, ("api", "level"): "error"}
    assert told[0]["entity"] == {"name": "o-7", "type": "order"}


def test_a_request_is_the_scope_of_what_was_measured() -> None:
    line = '10.0.0.1 - - [20/May/2024:09:00:00 +0000] "GET /orders/77?x=1 HTTP/1.1" 503 5'
    told, _ = read("nginx", line)
    assert slots(told) == {("nginx", "status"): 503, ("nginx", "bytes"): 5, ("nginx", "level"): "error"}
    assert told[0]["claims"][1]["scope"] == {"request": "GET /orders/*"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("job_1445144423722_0020 Job Transitioned from NEW to INITED", ("job_1445144423722_0020", "state", "inited")),
        ("state changed from UP to DOWN", ("app", "state", "down")),
        ("Component alt0 is in the unavailable state", ("alt0", "state", "unavailable")),
        ("eth0: Link is Down", ("eth0", "state", "down")),
        ("LOOKING", ("app", "state", "looking")),
        ("Server started on port 8080", ("app", "state", "running")),
        ("shutting down", ("app", "state", "stopping")),
        ("Starting build 7 of version 2.10.3", ("app", "version", "2.10.3")),
        ("Took 19.05 seconds to build it", ("app", "time to build it", "19.05 seconds")),
        ("Total memory: 64172 MB, used: 512.00 MB", ("app", "memory used", "512.00 MB")),
        ("cache hits: 93 %", ("app", "cache hits", "93 %")),
    ],
)
def test_a_message_tells_a_slot(message: str, expected: tuple[str, str, object]) -> None:
    told, _ = read("levels", f"2024-05-20 09:00:00 INFO {message}")
    assert slots(told)[expected[:2]] == expected[2]


@pytest.mark.parametrize(
    "message", ["listening port: 8080", "pid=7 uid=0", "at 10:30:20", "see 10.0.0.1:80", "it is up"]
)
def test_what_is_no_measure_makes_no_slot(message: str) -> None:
    told, _ = read("levels", f"2024-05-20 09:00:00 INFO {message}")
    assert set(slots(told)) == {("app", "level")}


def test_lines_of_a_stack_trace_belong_to_the_line_before() -> None:
    lines = "2024-05-20 09:00:00 ERROR [main] a.B - boom\njava.io.IOException: no\n\tat a.B.c(B.java:7)\nCaused by: x\n"
    told, bad = read("log4j", lines)
    assert bad == []
    assert told[0]["text"].splitlines()[1:] == ["java.io.IOException: no", "\tat a.B.c(B.java:7)", "Caused by: x"]
    assert told[0]["metadata"]["lines"] == 4


def test_bad_lines_are_refused_by_number_and_the_others_stay() -> None:
    lines = (
        b"2024-05-20 09:00:00 INFO good\n"
        b"what is this\n"
        b"2024-02-31 09:00:00 INFO no such day\n"
        b"2099-01-01 00:00:00 INFO the future\n"
        b"2024-05-20 09:00:01 INFO " + b"x" * 1_100_000 + b"\n"
        b"2024-05-20 09:00:02 INFO caf\xe9\n"
    )
    told, bad = read("levels", lines)
    assert [each.reason.split(":")[0] for each in bad] == ["line 2", "line 3", "line 4", "line 5"]
    assert "fits no pattern: 'what is this'" in bad[0].reason
    assert "'2024-02-31 09:00:00' is not a time" in bad[1].reason
    assert "is in the future" in bad[2].reason
    assert "at most 1048576 are read" in bad[3].reason
    assert len(bad[3].original) == 65_536
    assert [each["claims"][0]["statement"] for each in told[:2]] == ["good", "café"]


def test_lines_of_json_and_logfmt_that_are_none_are_refused() -> None:
    _, bad = read("jsonlog", '{"time": 1716195600}\n{"time": \n[1]\n{"msg": "no time"}\n')
    assert [each.reason.split(" (")[0] for each in bad] == [
        "line 2: line: is not JSON",
        "line 3: line: holds list; each line must hold one object",
        "line 4: time: is missing; a line needs one of time, ts, timestamp, @timestamp, t",
    ]
    assert "has no key=value pairs" in read("logfmt", "hello world")[1][0].reason


def test_every_bundled_source_is_listed_and_shows_how_it_is_written() -> None:
    names = [each.name for each in list_sources()]
    assert {"jira", "github", "zendesk", "syslog", "logfmt", "jsonlog", "log", "nova", "zookeeper"} <= set(names)
    for name in names:
        assert source_text(name).strip()
        assert open_source(name).name == name


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("{name: a, regex: '('}", "app.yaml.patterns[0].regex: '(' is not a regular expression"),
        ("{name: a, regex: '(?P<message>.*)'}", "app.yaml.patterns[0].regex: has no group (?P<time>…)"),
        ("{name: a, regex: '(?P<time>.*)'}", "has no group (?P<message>…)"),
        ("{name: a, regex: '(?P<time>.*)', message: '{what}'}", "names the group 'what', which the regex does not"),
        ("{name: a, regx: x}", "app.yaml.patterns[0].regx: is not a known field; did you mean 'regex'?"),
        ("{name: a, regex: x, time: soon}", "app.yaml.patterns[0].time: is 'soon'; use iso, unix"),
    ],
)
def test_a_mistake_in_a_pattern_file_is_named(pattern: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_pattern_file(read_yaml(f"name: app\npatterns:\n  - {pattern}\n", "app.yaml"), "app.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize("body", ["a ", "=", "a=1 ", ":a", "a.b-", "[x", "GET /", '"', "\\", "abc", "0", "version "])
@pytest.mark.parametrize(
    "head", ["", "2024-05-20 09:00:00 INFO ", "<34>1 2003-10-11T22:14:15Z h a - - [", '1 - - [x] "GET ']
)
def test_a_long_line_takes_time_in_proportion_to_its_length(head: str, body: str) -> None:
    line = (head + body * 500_000)[:500_000]
    told, bad = read("log", line)
    assert (len(told), len(bad)) in ((0, 1), (2, 0))


def test_names_and_values_that_no_store_keeps_are_left_out_and_the_line_stays() -> None:
    line = {
        "time": 1716195600,
        "msg": "m",
        "n" * 3_000: 1,
        "big": 1 << 70,
        "app": "a" * 3_000,
        "": 3,
        "x_id": "y" * 3_000,
    }
    told, bad = read("jsonlog", json.dumps(line))
    assert bad == []
    assert {name[:5] for _, name in slots(told)} == set()
    for each in told:
        observation_from(each, bank="b", now=NOW)
