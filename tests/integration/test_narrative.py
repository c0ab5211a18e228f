"""A session kept as one memory: its turns are its premises, and it is seen by no more than may see them all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from chat_server import chat_server, says
from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from beliefmesh.rebuild import rebuild
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from recall.render import graph
from schemas.answer import Found
from schemas.errors import InvalidInput, NotFound
from schemas.instant import Instant, parse_instant
from schemas.query import Principal
from stores.language.options import LanguageOptions

SESSION = {"name": "s1", "type": "session"}
LENA, OMAR = Principal("lena"), Principal("omar")
DECISION = "We decided to cache the sessions."


class Clock:
    """A second passes with every look."""

    def __init__(self) -> None:
        self.now = parse_instant("2024-06-10T12:00:00Z", "now")

    def __call__(self) -> Instant:
        self.now += 1_000_000
        return self.now


def opened(folder: Path, url: str = "") -> Memory:
    settings = Settings(
        mesh=MeshSettings(folder=str(folder), runtime="inline"),
        stores=StoreSettings(embedder="none:"),
        llm=LanguageOptions(url=url, retries=0),
    )
    return Memory(settings=settings, clock=Clock())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "mesh") as running:
        yield running


def told(memory: Memory) -> None:
    """Three turns of one session, and one of another."""
    for n, (agent, text) in enumerate(
        [("ann", "Wow, the login page crawls."), ("bob", DECISION), ("ann", "It worked, in the end.")]
    ):
        memory.retain(text, agent=agent, session="s1", turn=n, observed_at=f"2024-05-0{n + 1}")
    memory.retain("Lunch was late.", agent="ann", session="s2", turn=0)


def narratives(memory: Memory, principal: Principal | None = None) -> list[Found]:
    return list(memory.recall("narrative", entity=SESSION, attribute="narrative", principal=principal).found)


def test_the_turns_of_a_session_become_one_belief_besides_the_single_facts(memory: Memory) -> None:
    told(memory)
    done = memory.narrate("s1")

    (found,) = narratives(memory)
    assert (found.belief.statement, found.belief.network) == (done.text, "experience")
    assert "Decided: bob: We decided to cache the sessions." in done.text
    assert "Lunch" not in done.text
    assert (len(done.turns), done.by, done.left_out, done.kept) == (3, "template", 0, True)
    assert memory.recall("sessions", entity={"name": "bob", "type": "agent"}).found[0].belief.statement == DECISION


def test_its_turns_stand_in_the_path_of_its_evidence(memory: Memory) -> None:
    told(memory)
    done = memory.narrate("s1")

    answer = memory.recall("the login page crawls, cache the sessions, worked in the end")
    (found,) = (one for one in answer.found if one.belief.attribute == "narrative")
    assert found.evidence[0].evidence.premises == done.turns
    edges = {(edge["type"], edge["dst"]) for edge in graph(answer)["edges"] if edge["src"] == found.belief.id}
    assert {("derived_from", belief) for belief in done.turns} <= edges
    account = memory.explain(found.belief.id)
    assert account.contributions[0].evidence.premises == done.turns
    assert [memory.belief(id).statement for id in done.turns][1] == DECISION


def test_a_turn_that_is_revoked_takes_the_narrative_down(memory: Memory) -> None:
    told(memory)
    done = memory.narrate("s1")
    memory.revoke(done.turns[1], reason="that was never decided", agent="ann")

    assert narratives(memory) == []
    again = memory.narrate("s1")
    assert DECISION not in again.text
    assert (len(again.turns), again.left_out, again.kept) == (2, 1, True)
    assert [one.belief.statement for one in narratives(memory)] == [again.text]


def test_told_again_with_the_same_turns_nothing_is_added_and_a_new_turn_replaces_it(memory: Memory) -> None:
    told(memory)
    first, before = memory.narrate("s1"), memory.stats()["banks"]["default"]["evidence"]
    again = memory.narrate("s1")
    assert (again.kept, again.observation, again.text) == (False, first.observation, first.text)
    assert memory.stats()["banks"]["default"]["evidence"] == before

    memory.retain("The cache was rolled back.", agent="bob", session="s1", turn=3)
    third = memory.narrate("s1")
    assert "rolled back" in third.text
    assert [one.belief.statement for one in narratives(memory) if one.belief.status == "active"] == [third.text]


def test_a_narrative_that_somebody_revoked_may_be_told_anew(memory: Memory) -> None:
    told(memory)
    memory.narrate("s1")
    memory.revoke(narratives(memory)[0].belief.id, reason="badly put", agent="ann")
    assert memory.narrate("s1").kept


def test_a_private_turn_is_told_to_its_owner_only(memory: Memory) -> None:
    told(memory)
    memory.retain("The token is canary-4711.", agent="lena", session="s1", turn=3, visibility="private")

    for_all = memory.narrate("s1")
    assert "canary" not in for_all.text
    for_lena = memory.narrate("s1", principal=LENA)
    assert "canary-4711" in for_lena.text

    assert all("canary" not in one.belief.statement for who in (None, OMAR) for one in narratives(memory, who))
    assert any("canary-4711" in one.belief.statement for one in narratives(memory, LENA))
    assert memory.recall("canary-4711", principal=OMAR).found == ()


def test_turns_of_a_group_are_told_to_those_who_may_see_every_one(memory: Memory) -> None:
    for n, readers in enumerate((["group:ops", "omar"], ["group:ops", "wei"])):
        text = f"Wow, canary-{n} sang again."
        memory.retain(text, agent="lena", session="s1", turn=n, visibility="group", readers=readers)

    memory.narrate("s1", principal=Principal("lena"))
    member = Principal("mia", ("ops",))
    assert len(narratives(memory, member)) == 1
    assert narratives(memory, OMAR) == []
    assert narratives(memory) == []


def test_turns_that_no_one_group_sees_need_somebody_to_tell_them_to(memory: Memory) -> None:
    for n, (agent, group) in enumerate((("lena", "ops"), ("omar", "sales"))):
        memory.retain(
            f"Wow, canary-{n} sang again.",
            agent=agent,
            session="s1",
            turn=n,
            visibility="group",
            readers=[f"group:{group}"],
        )
    with pytest.raises(InvalidInput, match="principal"):
        memory.narrate("s1", principal=Principal("", ("ops", "sales")))
    memory.narrate("s1", principal=Principal("mia", ("ops", "sales")))
    assert len(narratives(memory, Principal("mia", ("ops", "sales")))) == 1
    assert narratives(memory, Principal("max", ("ops",))) == []


def test_a_session_of_which_nothing_may_be_seen_is_not_found(memory: Memory) -> None:
    memory.retain("The token is canary-4711.", agent="lena", session="s1", visibility="private")
    for session, who in (("s1", OMAR), ("nowhere", LENA)):
        with pytest.raises(NotFound):
            memory.narrate(session, principal=who)
    with pytest.raises(InvalidInput):
        memory.narrate(" ")


def test_a_rebuild_has_the_same_narratives(memory: Memory) -> None:
    told(memory)
    memory.narrate("s1")
    assert rebuild(memory.home, "second", lambda *_: None).same


def test_a_language_model_words_it_and_where_it_fails_the_template_does(tmp_path: Path) -> None:
    def answer(asked: dict[str, Any]) -> Any:
        user = json.loads(asked["messages"][1]["content"])
        return says({"text": "Ann and Bob cached the sessions."} if "turns" in user else {"claims": []})

    with chat_server() as server, opened(tmp_path, server.url) as memory:
        server.answer = answer
        told(memory)
        assert (memory.narrate("s1").text, memory.narrate("s1").by) == ("Ann and Bob cached the sessions.", "llm")

        server.answer = lambda _: says("no json")
        memory.retain("Wow, all is well.", agent="bob", session="s1", turn=3)
        done = memory.narrate("s1")
        assert (done.by, DECISION in done.text) == ("template", True)


def test_it_is_told_over_http_and_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "none:")
    with opened(tmp_path / "cli") as other:
        told(other)
    run = CliRunner().invoke(beliefmesh, ["narrate", "--session", "s1", "--folder", str(tmp_path / "cli"), "--json"])
    assert (run.exit_code, json.loads(run.output)["by"]) == (0, "template"), run.output
    missing = CliRunner().invoke(beliefmesh, ["narrate", "--session", "s9", "--folder", str(tmp_path / "cli")])
    assert isinstance(missing.exception, NotFound)


def test_a_client_tells_it_as_the_memory_does(memory: Memory, url: str) -> None:
    told(memory)
    first = Memory.connect(url).narrate("s1")
    assert (first.kept, memory.narrate("s1").observation) == (True, first.observation)
    wrong = httpx.post(f"{url}/v1/banks/default/narratives", json={"sesion": "s1"})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "sesion")
