"""Lists by pages over HTTP: each row once while writes go on, for who may see it, and no cursor of another list."""

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from http_served import opened, settings_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beliefmesh.memory import Memory

_BANKS = itertools.count()


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, httpx.Client]]:
    """A memory and a client of it, which the tests of this file share; each takes banks of its own."""
    with opened(settings_in(tmp_path_factory.mktemp("pages") / "mesh")) as both:
        yield both


@pytest.fixture
def client(mesh: tuple[Memory, httpx.Client]) -> httpx.Client:
    return mesh[1]


def note(name: str, value: str = "x", **more: Any) -> dict[str, Any]:
    """An observation that gives an entity of this name a value."""
    claims = [{"entity": name, "attribute": "state", "value": value}]
    return {"id": f"o-{name}-{value}", "text": f"{name} is {value}.", "agent": "ann", "claims": claims, **more}


def told(client: httpx.Client, bank: str, *notes: dict[str, Any]) -> None:
    assert client.post(f"/v1/banks/{bank}/observations?wait=true", json=list(notes)).status_code == 200


def walked(client: httpx.Client, path: str, rows: str, between: Any = None, **asked: Any) -> list[dict[str, Any]]:
    """All rows of a list, page by page; `between` runs after each page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    for _ in range(500):
        page = client.get(path, params={**asked, **({"cursor": cursor} if cursor else {})}).json()
        found += page[rows]
        cursor = page["next"]
        if not cursor:
            return found
        if between:
            between()
    raise AssertionError("the list has no end")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.sets(st.sampled_from([f"n{i}" for i in range(30)]), min_size=1, max_size=12),
    coming=st.lists(st.sampled_from([f"n{i}" for i in range(60)]), max_size=12),
    limit=st.integers(1, 7),
)
def test_every_belief_and_entity_is_listed_once_while_others_come_and_these_change(
    client: httpx.Client, names: set[str], coming: list[str], limit: int
) -> None:
    bank = f"bank-{next(_BANKS)}"
    told(client, bank, *(note(name) for name in sorted(names)))
    before = {belief["id"] for belief in client.get(f"/v1/banks/{bank}/beliefs?limit=1000").json()["beliefs"]}
    new = iter(coming)

    def write() -> None:
        name = next(new, None)
        if name is not None:
            told(client, bank, note(name, "y"))

    beliefs = [belief["id"] for belief in walked(client, f"/v1/banks/{bank}/beliefs", "beliefs", write, limit=limit)]
    entities = [one["name"] for one in walked(client, f"/v1/banks/{bank}/entities", "entities", write, limit=limit)]

    assert len(before) == len(names)
    assert len(beliefs) == len(set(beliefs))
    assert before <= set(beliefs)
    assert len(entities) == len(set(entities))
    assert names <= set(entities)


def test_a_list_of_beliefs_holds_what_the_caller_may_see_and_what_is_asked_for(client: httpx.Client) -> None:
    private = note("desk", "closed", visibility="private", agent="lena")
    told(client, "seen", note("desk"), note("shop"), private)
    path = "/v1/banks/seen/beliefs"

    def values(principal: str, **asked: Any) -> list[tuple[str, str]]:
        headers = {"X-Beliefmesh-Principal": principal} if principal else {}
        page = client.get(path, params=asked, headers=headers).json()
        return sorted((belief["entity"]["name"], belief["value"]) for belief in page["beliefs"])

    assert values("") == [("desk", "x"), ("shop", "x")]
    assert values("lena") == [("desk", "closed"), ("desk", "x"), ("shop", "x")]
    assert values("", entity="shop") == [("shop", "x")]
    assert values("", attribute="STATE", status=["active"], network="world") == [("desk", "x"), ("shop", "x")]
    assert values("", attribute="other") == []
    assert client.get(path, params={"status": "gone"}).status_code == 422


def test_of_entities_that_are_one_each_belief_is_listed_once_as_theirs(client: httpx.Client) -> None:
    told(client, "merged", note("Will"), note("William"), note("William", "y"))
    client.post("/v1/banks/merged/entities/merge", json={"entity": "Will", "into": "William"})

    rows = walked(client, "/v1/banks/merged/beliefs", "beliefs", limit=1, attribute="state")

    assert sorted((row["entity"]["name"], row["value"]) for row in rows) == [("William", "x"), ("William", "y")]


def test_dead_letters_are_listed_once_each_while_some_come_and_some_go(client: httpx.Client) -> None:
    def spoil(*numbers: int) -> None:
        lines = "\n".join(f'{{"weight": {-number}}}' for number in numbers)
        headers = {"Content-Type": "application/x-ndjson"}
        assert client.post("/v1/banks/letters/observations", content=lines, headers=headers).status_code == 202

    spoil(*range(1, 8))
    more = iter([lambda: spoil(8), lambda: spoil(2, 9), lambda: client.post(f"/v1/dead-letters/{first}/drop")])
    first = client.get("/v1/dead-letters?limit=1").json()["dead_letters"][0]["id"]

    rows = walked(client, "/v1/dead-letters", "dead_letters", lambda: next(more, lambda: None)(), limit=2)

    assert [row["original"] for row in rows] == [f'{{"weight": {-n}}}' for n in range(1, 10)]


def test_banks_jobs_sources_and_runs_are_listed_by_pages_too(client: httpx.Client) -> None:
    told(client, "paged-1", note("a"))
    told(client, "paged-2", note("a"))
    for name in ("decay", "decay", "reindex"):
        assert client.post(f"/v1/banks/paged-1/jobs/{name}").status_code == 200

    banks = walked(client, "/v1/banks", "banks", limit=1)
    jobs = walked(client, "/v1/jobs", "jobs", limit=2)
    runs = walked(client, "/v1/job-runs", "runs", limit=1, bank="paged-1")
    sources = walked(client, "/v1/sources", "sources", limit=3)

    assert banks == client.get("/v1/banks").json()["banks"] == sorted(banks)
    assert jobs == client.get("/v1/jobs").json()["jobs"]
    assert [run["job"] for run in runs] == ["reindex", "decay", "decay"]
    assert sources == client.get("/v1/sources").json()["sources"]


def test_the_sides_of_a_comparison_of_jobs_come_by_pages_of_banks_that_add_up(client: httpx.Client) -> None:
    for bank in ("sides-1", "sides-2", "sides-3"):
        told(client, bank, note("a"))

    whole = client.get("/v1/job-sides").json()
    rows = walked(client, "/v1/job-sides", "sides", limit=1)

    assert whole["next"] is None
    assert [side["treated"] for side in rows[:2]] == [True, False]
    assert sum(side["banks"] for side in rows) == sum(side["banks"] for side in whole["sides"]) >= 3
    assert Memory.connect(str(client.base_url)).job_sides(limit=1).next


def test_a_long_history_is_told_by_pages_from_the_oldest_on_and_says_when_it_is_not_whole(
    client: httpx.Client,
) -> None:
    days = [f"2024-05-{day:02}" for day in range(1, 10)]
    told(client, "turns", *(note("desk", f"v{day}", observed_at=day) for day in days))
    path, of = "/v1/banks/turns/slots/history", {"entity": "desk", "attribute": "state"}

    turns = walked(client, path, "turns", limit=2, oldest_first=True, **of)
    newest = client.get(path, params={**of, "limit": 3}).json()

    assert [turn["at"][:10] for turn in turns] == days
    assert [turn["at"][:10] for turn in newest["turns"]] == days[-3:]
    assert (newest["earlier"], newest["next"]) == (True, None)
    assert turns == client.get(path, params=of).json()["turns"]


def test_proposed_merges_are_told_by_pages_the_likeliest_first(client: httpx.Client) -> None:
    told(client, "pairs", *(note(name) for name in ("Anna Berg", "Anna Berg.", "Anna  Berg!", "Bo Li", "Bo Li.")))
    whole = client.get("/v1/banks/pairs/entities/proposals?at_least=0.1").json()["proposals"]

    rows = walked(client, "/v1/banks/pairs/entities/proposals", "proposals", limit=1, at_least=0.1)

    assert rows == whole
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_a_cursor_counts_for_the_list_that_gave_it_alone(client: httpx.Client) -> None:
    for bank in ("mine", "yours"):
        told(client, bank, note("a"), note("b"))
    page = client.get("/v1/banks/mine/beliefs?limit=1")
    cursor = page.json()["next"]

    assert page.headers["Link"].startswith("</v1/banks/mine/beliefs?limit=1&cursor=")
    for path in (
        f"/v1/banks/yours/beliefs?cursor={cursor}",
        f"/v1/banks/mine/entities?cursor={cursor}",
        f"/v1/banks/mine/beliefs?attribute=state&cursor={cursor}",
        "/v1/banks/mine/beliefs?cursor=nonsense",
        "/v1/banks/mine/beliefs?cursor=4pyT",
        "/v1/banks/mine/beliefs?cursor=%00",
    ):
        refused = client.get(path)
        assert refused.status_code == 400, path
        assert refused.json()["error"]["field"] == "cursor"
    assert client.get(f"/v1/banks/mine/beliefs?limit=9&cursor={cursor}").status_code == 200


def test_the_client_lists_as_the_memory_does(mesh: tuple[Memory, httpx.Client]) -> None:
    memory, client = mesh
    told(client, "alike", note("a"), note("b"), note("c"))
    remote = Memory.connect(str(client.base_url).rstrip("/"), bank="alike")

    pages = [memory.beliefs(bank="alike", limit=2), remote.beliefs(limit=2)]
    second = [memory.beliefs(bank="alike", after=pages[0].next), remote.beliefs(after=pages[1].next)]

    assert pages[0].beliefs == pages[1].beliefs
    assert second[0] == second[1]
    assert len(second[0].beliefs) == 1
    assert remote.beliefs(entity="a", statuses=["active"]) == memory.beliefs(
        bank="alike", entity="a", statuses=["active"]
    )


def test_a_client_that_takes_exact_structs_finds_the_cursor_in_them(mesh: tuple[Memory, httpx.Client]) -> None:
    memory, client = mesh
    for number in range(20, 24):
        client.post(
            "/v1/banks/letters/observations",
            content=f'{{"weight": {-number}}}',
            headers={"Content-Type": "application/x-ndjson"},
        )

    remote = Memory.connect(str(client.base_url).rstrip("/"))

    assert [letter.id for letter in remote.dead_letters()] == [letter.id for letter in memory.dead_letters()]
