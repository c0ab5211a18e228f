"""Repeats of log lines are counted, changes of state are told one by one, and no line is lost."""

import io
from typing import Any

from schemas.instant import parse_instant
from streams.sources.masks import masked_path, template_of
from streams.sources.registry import open_source
from streams.sources.told import Told

NOW = parse_instant("2024-06-10T12:00:00Z", "now")


def told(lines: list[str], source: str = "levels") -> list[Told]:
    data = io.BytesIO("\n".join(lines).encode())
    return [each for each in open_source(source).read(data, "app.log", NOW, NOW) if isinstance(each, Told)]


def claims(found: list[Told], attribute: str | None) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = [claim for each in found for claim in each.fields["claims"]]  # type: ignore[attr-defined]
    return [claim for claim in every if claim.get("attribute") == attribute]


def test_a_hundred_lines_alike_are_one_observation_that_counts_them() -> None:
    found = told([f"2024-05-20 09:{n // 60:02}:{n % 60:02} WARN retry {n} of request 0x{n:08x}" for n in range(100)])
    assert [each.lines for each in found] == [100, 0]
    counted = claims(found, "count of “retry * of request *”")[0]
    assert counted["value"] == 100
    assert counted["statement"].endswith("100 times, 2024-05-20T09:00:00Z to 2024-05-20T09:01:39Z")
    assert found[0].fields["text"].splitlines()[0].startswith("2024-05-20 09:00:00")  # type: ignore[attr-defined]


def test_another_hour_is_another_count() -> None:
    lines = [f"2024-05-20 {hour}:00:0{n} WARN retry {n}" for hour in ("09", "10") for n in range(3)]
    assert [claim["value"] for claim in claims(told(lines), "count of “retry *”")] == [3, 3]


def test_every_change_of_a_state_is_told_at_its_own_time_and_repeats_of_it_are_not() -> None:
    words = ("starting", "started", "started", "started", "stopped", "started")
    found = told([f"2024-05-20 09:00:0{n} INFO {word}" for n, word in enumerate(words)])
    states = sorted(claims(found, "state"), key=lambda claim: claim["effective_at"])
    values = [claim["value"] for claim in states]
    assert values == ["starting", "running", "running", "stopped", "running"]
    assert sum(each.lines for each in found) == 6


def test_each_hour_a_service_is_summed_up_with_its_gravest_level() -> None:
    found = told(["2024-05-20 09:00:00 INFO a", "2024-05-20 09:00:01 ERROR b", "2024-05-20 09:00:02 WARN c"])
    summary = {claim["attribute"]: claim["value"] for claim in found[-1].fields["claims"]}  # type: ignore[attr-defined]
    assert summary == {"level": "error", "log lines an hour": 3, "warnings an hour": 1, "errors an hour": 1}


def test_chatter_is_of_the_low_tier_and_an_error_is_not() -> None:
    found = told(["2024-05-20 09:00:00 INFO chat", "2024-05-20 09:00:01 ERROR disk gone"])
    assert [claim["tier"] for claim in claims(found, None)] == ["low", "medium"]


def test_the_newest_line_of_a_template_is_measured_however_long_the_words_before_its_figures() -> None:
    orders = (7, 12_345, 42)
    lines = [
        f'2024-05-20 09:00:0{n} INFO "GET /orders/{order}" (len: {n + 5} of many) time: 0.2{n}'
        for n, order in enumerate(orders)
    ]

    found = told(lines)

    assert [each.lines for each in found] == [3, 0]
    assert [claims(found, name)[0]["value"] for name in ("len", "time")] == [7, 0.22]


def test_a_name_before_an_equals_sign_is_no_unit() -> None:
    found = told(["2024-05-20 09:00:00 INFO time: 0.2 rows=7"])

    assert [claims(found, name)[0]["value"] for name in ("time", "rows")] == [0.2, 7]


def test_the_same_file_gives_the_same_observations() -> None:
    lines = [f"2024-05-20 09:00:0{n} INFO step {n}" for n in range(5)]
    assert told(lines) == told(lines)


def test_a_template_leaves_numbers_and_ids_out() -> None:
    one = "[instance: b9000564-fe1a-409b-b8cc-1e88b294cd1d] Took 19.05 seconds from 10.0.0.1:80 at 0x1f"
    assert template_of(one) == "[instance: #] Took * seconds from * at #"
    assert template_of("  at\t12:30,\nthen " + "x" * 70 + "123  ") == "  at\t*,\nthen " + "x" * 70 + "*  "
    assert masked_path("/v2/servers/b9000564-fe1a-409b-b8cc-1e88b294cd1d/77?a=1") == "/v2/servers/*/*"


def test_an_openstack_instance_is_built_runs_and_is_deleted() -> None:
    id = "b9000564-fe1a-409b-b8cc-1e88b294cd1d"
    lines = [
        f"nova-compute.log.1 2017-05-16 00:00:0{n}.500 7 INFO nova.compute.{part} [req-1 - -] [instance: {id}] {told}"
        for n, (part, told) in enumerate(
            [
                ("claims", "Attempting claim: memory 2048 MB, disk 20 GB, vcpus 1 CPU"),
                ("manager", "VM Started (Lifecycle Event)"),
                ("driver", "Instance spawned successfully."),
                ("manager", "Took 20.58 seconds to build instance."),
                ("manager", "Terminating instance"),
                ("driver", "Instance destroyed successfully."),
            ]
        )
    ]
    found = told(lines, "nova")
    assert [claim["value"] for claim in claims(found, "state")] == [
        "building",
        "active",
        "active",
        "deleting",
        "deleted",
    ]
    assert {claim["entity"]["name"] for claim in claims(found, "state")} == {id}
    assert [claim["value"] for claim in claims(found, "power state")] == ["running"]
    assert claims(found, "time to build instance")[0]["value"] == "20.58 seconds"
    assert found[0].fields["source"] == {"id": "app.log", "origin": "nova-compute", "type": "log"}


def test_a_zookeeper_server_looks_follows_and_leads() -> None:
    place = "[QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:QuorumPeer@670]"
    lines = [f"2015-07-30 17:4{n}:58,186 - INFO  {place} - {word}" for n, word in enumerate(("LOOKING", "FOLLOWING"))]
    lines.append(
        "2015-07-30 17:49:00,000 - INFO  [WorkerReceiver[myid=1]:FastLeaderElection@1] - 3, LEADING (my state)"
    )
    states = claims(told(lines, "zookeeper"), "state")
    assert [claim["value"] for claim in states] == ["looking", "following", "leading"]
    assert {claim["entity"]["name"] for claim in states} == {"zookeeper server 1"}
