"""The compaction job's digests: what many say alike loses its words to the archive, and no belief moves by it."""

import secrets
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from test_compaction_job import Slow

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefmesh.work import work_on
from jobs.catalogue import JOBS
from jobs.job import Work
from jobs.run import run_job
from recall.tell import term
from schemas.errors import NotFound, StoreUnavailable
from schemas.policy import Policy

ASKED = 1_735_689_600_000_000
TIMES = (None, "2024-05-04", "2024-05-09", "2024-06-01", "2026-01-01")


def departs(flight: int, site: int, **other: object) -> dict[str, object]:
    """What one site says of a flight, in words that only it uses for its own name."""
    words = f"Flight {flight} departs at 19:35." if site % 2 else f"Flight {flight} departs at 7:35 pm."
    return {
        "id": f"f{flight}-{site}",
        "entity": f"flight {flight}",
        "observed_at": f"2024-05-{1 + site:02}",
        "source": {"id": f"site {site}", "type": "tool", "origin": "feed" if site in (3, 4) else ""},
        "claims": [{"attribute": "departure", "value": "19:35", "value_type": "time", "statement": words}],
        **other,
    }


def told(flights: int = 4, sites: int = 8) -> list[dict[str, object]]:
    late = {"attribute": "departure", "value": "20:10", "value_type": "time"}
    gone = {"attribute": "departure", "value": "19:35", "value_type": "time", "stance": "refutes"}
    return [
        *(departs(flight, site) for flight in range(flights) for site in range(sites)),
        departs(0, 20) | {"observed_at": "2024-05-10", "claims": [late]},
        departs(1, 2) | {"id": "denied", "observed_at": "2024-05-12", "claims": [gone]},
        departs(2, 30) | {"visibility": "private", "owner": "eve", "claims": [late]},
        *(rule(number) for number in range(flights + 1)),
    ]


def rule(number: int) -> dict[str, object]:
    """What is worth more than any flight, so that the flights are the lesser half."""
    claim = {"attribute": "limit", "value": number, "kind": "instruction"}
    at = {"observed_at": "2024-05-01", "pinned": True}
    return {"id": f"rule {number}", "entity": f"gate {number}", "claims": [claim], **at}


def beliefs(memory: Memory, times: tuple[str | None, ...] = TIMES) -> list[tuple[object, ...]]:
    """Every belief as everybody and as Eve sees it, with its confidence and status as of some times."""
    graph = memory.home.graph
    slots = graph.slots("default", graph.scan("default", "", 99)).values()
    ids = sorted(belief.id for slot in slots for belief in slot.beliefs)
    return [seen(memory, id, at, who) for id in ids for at in times for who in ("", "eve")]


def seen(memory: Memory, id: str, at: str | None, who: str) -> tuple[object, ...]:
    try:
        account = memory.explain(id, as_of=at, principal=who or None)
    except NotFound:
        return (id, at, who)
    return (id, at, who, account.belief.value, account.belief.status, account.confidence)


def whole(memory: Memory) -> dict[str, tuple[object, ...]]:
    """All evidence of the bank, by slot, to the byte."""
    graph = memory.home.graph
    return {id: graph.load_slots("default", [id])[id].evidence for id in graph.scan("default", "", 99)}


def words_in(memory: Memory, text: bytes) -> list[Path]:
    return [file for file in memory.home.folder.path.rglob("*") if file.is_file() and text in file.read_bytes()]


@pytest.fixture
def flights(open_memory) -> Memory:
    memory: Memory = open_memory(embedder="none:", at="2024-12-30T00:00:00Z")
    memory.retain(told())
    return memory


def test_words_go_to_the_archive_and_nothing_that_is_believed_moves(flights: Memory) -> None:
    before, state, evidence = beliefs(flights), flights.state_hash(now=ASKED), whole(flights)

    run = flights.run_job("compaction")

    assert run.counts["digests"] == 4
    assert run.counts["voices"] == 28
    assert run.counts["bytes freed"] > 2_000
    assert run.reasons == {"said alike by several: a voice of a digest stays, its words lie in the archive": 28}
    assert run.figures["mass of digests"] > 0
    assert "voices" in run.examples[0]
    assert "words are kept by" in run.examples[0]
    assert flights.state_hash(now=ASKED) == state
    assert beliefs(flights) == before
    assert flights.doctor().differences == ()
    assert flights.stats("default")["banks"]["default"]["evidence"] == len(told())
    assert flights.recall("departure of flight 3", as_of="2024-05-05").archived is False
    assert flights.run_job("compaction").counts == {"slots": 9}

    assert flights.run_job("restore").counts == {"files": 1, "restored": 28}

    assert whole(flights) == evidence
    assert flights.state_hash(now=ASKED) == state
    assert flights.doctor().differences == ()


def test_a_dry_run_says_what_would_go_and_changes_nothing(flights: Memory) -> None:
    evidence = whole(flights)

    run = flights.run_job("compaction", mode="dry run")

    assert (run.counts["digests"], run.counts["voices"], run.bytes) == (4, 28, 0)
    assert whole(flights) == evidence


def test_the_setting_and_the_argument_say_how_old_evidence_must_be(flights: Memory) -> None:
    none = flights.run_job("compaction", arguments={"digest_after_days": "0"})
    young = flights.run_job("compaction", arguments={"digest_after_days": "240"})

    assert "digests" not in none.counts
    assert young.counts["voices"] < 28


def test_what_comes_later_counts_as_it_would_have_and_a_repeat_brings_the_words_back(
    flights: Memory, open_memory: Callable[..., Memory]
) -> None:
    flights.run_job("compaction")
    later = [
        departs(3, 1)
        | {"id": "l1", "observed_at": "2024-12-01", "claims": [{"attribute": "departure", "value": "21:00"}]},
        departs(3, 9) | {"id": "l2", "observed_at": "2024-12-02"},
        departs(0, 4) | {"id": "l3", "observed_at": "2024-12-03"},
    ]
    flights.retain(later)
    undisturbed: Memory = open_memory("undisturbed", embedder="none:", at="2024-12-30T00:00:00Z")
    undisturbed.retain([*told(), *later])
    assert beliefs(flights) == beliefs(undisturbed)

    flights.retain(told())

    assert whole(flights) == whole(undisturbed)
    assert flights.doctor().differences == ()


def test_a_voice_that_is_told_again_has_been_known_since_it_was_told_first(
    open_memory: Callable[..., Memory], clock
) -> None:
    clock.set("2024-12-30T00:00:00Z")
    memory: Memory = open_memory(embedder="none:", clock=clock)
    memory.retain(told())
    evidence = whole(memory)
    memory.run_job("compaction")
    clock.set("2025-01-02T00:00:00Z")

    memory.retain(told())

    assert whole(memory) == evidence


def test_what_was_archived_and_told_again_is_known_since_it_was_told_first_once_restored(
    open_memory: Callable[..., Memory], clock
) -> None:
    clock.set("2024-12-30T00:00:00Z")
    memory: Memory = open_memory(embedder="none:", clock=clock)
    both = [departs(3, 1), departs(3, 1) | {"id": "again", "observed_at": "2024-12-20"}]
    memory.retain(both)
    evidence = whole(memory)
    assert memory.run_job("compaction").counts["archived"] == 1
    clock.set("2025-01-02T00:00:00Z")
    memory.retain(both)

    memory.run_job("restore")

    assert whole(memory) == evidence


def test_a_later_run_adds_voices_to_the_digest_that_there_is(flights: Memory) -> None:
    flights.run_job("compaction")
    flights.retain([departs(3, 10), departs(3, 11)])
    before = beliefs(flights)

    run = flights.run_job("compaction")

    assert (run.counts["digests"], run.counts["voices"]) == (1, 2)
    assert "of 9 voices, 2 of them new" in run.examples[0]
    assert beliefs(flights) == before
    assert flights.run_job("restore").counts["restored"] == 30


def test_explain_says_that_a_voice_is_in_a_digest(flights: Memory) -> None:
    flights.run_job("compaction")
    (held,) = flights.history(entity="flight 3", attribute="departure").beliefs

    account = flights.explain(held.id)

    assert held.statement == "Flight 3 departs at 19:35."
    assert sorted(one.voices for one in account.contributions) == [0, *[7] * 7]
    voice = next(one for one in account.contributions if one.voices)
    assert term(voice).endswith(
        'says "flight 3: departure is 19:35" (in a digest of 7; its own words are in the archive)'
    )
    assert account.archived == 7


def test_a_literal_reflection_puts_nobodys_words_into_the_mouth_of_a_voice(flights: Memory) -> None:
    loud = departs(3, 2) | {"id": "loud", "observed_at": "2024-05-05", "weight": 9, "source": "loud desk"}
    flights.retain(loud)
    flights.set_policy(Policy(state_half_life_days=0.0))
    flights.set_profile(literalism=5)
    assert "in the words of loud desk" in flights.reflect("When does flight 3 depart?").text
    assert flights.run_job("compaction").counts["voices"] > 7

    text = flights.reflect("When does flight 3 depart?").text

    assert 'in the words of tool site 7 of 2024-05-08: "Flight 3 departs at 19:35."' in text


def test_of_one_who_is_forgotten_no_word_is_left_and_the_other_voices_stay_exact(
    flights: Memory, open_memory: Callable[..., Memory]
) -> None:
    canary = departs(3, 12) | {"observed_at": "2024-05-01"}
    canary["source"] = {"id": "canary desk", "type": "tool"}
    flights.retain([canary])
    flights.run_job("compaction")
    assert words_in(flights, b"canary desk")

    flights.forget(ids=["f3-12"])

    assert words_in(flights, b"canary desk") == []
    undisturbed: Memory = open_memory("undisturbed", embedder="none:", at="2024-12-30T00:00:00Z")
    undisturbed.retain(told())
    assert beliefs(flights) == beliefs(undisturbed)
    assert whole(flights) == whole(undisturbed)
    assert flights.run_job("compaction").counts["voices"] == 28
    flights.forget(source="site 2")
    assert beliefs(flights)
    assert flights.doctor().differences == ()


def test_words_alone_of_which_all_voices_are_forgotten_leave_nothing(open_memory: Callable[..., Memory]) -> None:
    memory: Memory = open_memory(embedder="none:", at="2024-12-30T00:00:00Z")
    secret = {"attribute": "door code", "value": "zebra seven"}
    memory.retain(
        [departs(1, site) | {"claims": [secret | {"statement": "The code is zebra seven."}]} for site in range(6)]
    )
    memory.run_job("compaction")
    assert words_in(memory, b"zebra")

    memory.forget(ids=[f"f1-{site}" for site in range(6)])

    assert words_in(memory, b"zebra") == []


def test_a_slot_with_voices_goes_to_the_archive_as_a_whole_and_comes_back_with_all_words(
    open_memory: Callable[..., Memory], clock
) -> None:
    clock.set("2024-12-30T00:00:00Z")
    memory: Memory = open_memory(embedder="none:", clock=clock)
    memory.retain([*told(1, 8), departs(7, 1) | {"observed_at": "2024-12-29"}])
    evidence = whole(memory)
    memory.run_job("compaction")
    clock.set("2028-01-01T00:00:00Z")

    archived = memory.run_job("archive", arguments={"after_days": "300"})

    assert archived.counts["archived"] >= 8
    assert memory.recall("departure of flight 0", as_of="2024-06-01").archived
    memory.run_job("restore")
    assert whole(memory) == evidence
    assert memory.doctor().differences == ()


def test_a_voice_that_is_said_again_later_leaves_and_its_words_stay_in_the_archive(flights: Memory) -> None:
    flights.run_job("compaction")
    flights.retain([departs(3, 1) | {"id": "again", "observed_at": "2024-12-20"}])
    before = beliefs(flights, (None, "2026-01-01"))

    run = flights.run_job("compaction")

    assert run.counts["archived"] == 1
    assert beliefs(flights, (None, "2026-01-01")) == before
    flights.run_job("restore")
    (piece,) = flights.home.graph.evidence_of_observations("default", ["f3-1"])
    assert piece.statement == "Flight 3 departs at 19:35."


def test_a_voice_stays_in_its_slot_while_the_file_with_its_words_is_away(flights: Memory, tmp_path: Path) -> None:
    flights.run_job("compaction")
    flights.retain([departs(3, 1) | {"id": "again", "observed_at": "2024-12-20"}])
    (file,) = (path for path in (flights.home.folder.path / "archive").rglob("*") if path.is_file())
    away = file.rename(tmp_path / "away")

    with pytest.raises(StoreUnavailable, match="put it back from a copy"):
        flights.run_job("compaction")

    assert flights.home.graph.evidence_of_observations("default", ["f3-1"])
    away.rename(file)
    assert flights.run_job("compaction").counts["archived"] == 1
    assert flights.home.graph.evidence_of_observations("default", ["f3-1"]) == []


def test_only_the_slots_that_are_worth_least_lose_words(open_memory: Callable[..., Memory]) -> None:
    memory: Memory = open_memory(embedder="none:", at="2024-12-30T00:00:00Z")
    memory.retain([departs(flight, site) for flight in range(5) for site in range(6)])
    names = [f"flight {flight}" for flight in range(5)]
    dear = {name: memory.history(entity=name, attribute="departure").beliefs[0].id for name in names}
    for name in names[:2]:
        memory.feedback(dear[name], "right", agent="ann")

    run = memory.run_job("compaction")

    assert run.counts["digests"] == 3
    kept = [name for name, id in dear.items() if all(one.voices == 0 for one in memory.explain(id).contributions)]
    assert sorted(kept) == ["flight 0", "flight 1"]


def test_with_an_embedder_the_vectors_decide_what_is_said_alike(open_memory: Callable[..., Memory]) -> None:
    memory: Memory = open_memory(embedder="hashing:256", at="2024-12-30T00:00:00Z")
    claim = {"attribute": "state", "value": "up"}
    words = ["the host is up now", "the host is up now", "now the host is up", "Up the host is now!", "Ben rebooted it"]
    memory.retain(
        [
            departs(1, site) | {"claims": [claim | {"statement": text}]}
            for site, text in enumerate([*words, "the host is up now"])
        ]
    )

    run = memory.run_job("compaction")

    assert run.counts["voices"] == 4
    (piece,) = memory.home.graph.evidence_of_observations("default", ["f1-4"])
    assert piece.statement == "Ben rebooted it"


def test_a_slow_run_loses_nothing_of_what_a_hundred_writers_say_meanwhile(
    flights: Memory, open_memory: Callable[..., Memory]
) -> None:
    reached, go = threading.Event(), threading.Event()
    work = work_on(flights.home, "default", JOBS["compaction"])
    slow: Work = msgspec.structs.replace(work, mesh=Slow(flights.home.mesh, reached, go))
    compaction = threading.Thread(target=lambda: run_job(JOBS["compaction"], slow, flights.home.ledger))
    new = [departs(writer % 3, 10 + writer % 15) | {"id": f"w{writer}"} for writer in range(100)]

    compaction.start()
    assert reached.wait(60)
    writers = [threading.Thread(target=flights.retain, args=(one,)) for one in new]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    go.set()
    compaction.join()
    flights.home.worker.drain()

    assert flights.doctor().differences == ()
    undisturbed: Memory = open_memory("undisturbed", embedder="none:", at="2024-12-30T00:00:00Z")
    undisturbed.retain([*told(), *new])
    assert flights.home.archive.size("default") > 28
    lasting = (None, "2026-01-01")  # what was said again later is not told of earlier times, as the archive says
    assert beliefs(flights, lasting) == beliefs(undisturbed, lasting)
    flights.run_job("restore")
    assert whole(flights) == whole(undisturbed)


def test_words_stay_in_the_archive_where_a_write_was_lost_that_had_left_voices(flights: Memory) -> None:
    """As over NebulaGraph, where a writer that is taken for dead may have written before it loses its claim."""
    before, evidence = beliefs(flights), whole(flights)

    class Lost:
        """A mesh whose amendments take effect, and which then says that they did not."""

        def amend(self, amendments, now):
            flights.home.mesh.amend(amendments, now)
            return []

    work = msgspec.structs.replace(work_on(flights.home, "default", JOBS["compaction"]), mesh=Lost())
    run_job(JOBS["compaction"], work, flights.home.ledger)

    assert flights.home.archive.size("default") == 28
    assert beliefs(flights) == before
    flights.run_job("restore")
    assert whole(flights) == evidence


def test_a_slot_with_voices_that_moves_on_while_it_is_archived_keeps_its_words_in_the_archive(flights: Memory) -> None:
    evidence = whole(flights)
    flights.run_job("compaction")

    class Refusing:
        """A mesh in which somebody else always writes first."""

        def amend(self, amendments, now):
            return []

    arguments = {"after_days": "1"}
    work = work_on(flights.home, "default", JOBS["archive"], arguments=arguments)
    run_job(JOBS["archive"], msgspec.structs.replace(work, mesh=Refusing()), flights.home.ledger)

    assert flights.recall("departure of flight 3", as_of="2024-05-05").archived is False
    flights.run_job("restore")
    assert whole(flights) == evidence


@pytest.mark.nebula
def test_over_nebula_a_run_takes_the_same_steps_with_the_same_effect(
    nebula: str, flights: Memory, tmp_path: Path
) -> None:
    url = f"nebula://{nebula}/digests_{secrets.token_hex(4)}?heartbeat=0"
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "nebula"), runtime="inline"),
        stores=StoreSettings(embedder="none:", graph=url),
    )
    with Memory(settings=settings, clock=flights.home.clock) as other:
        other.retain(told())
        runs = [memory.run_job("compaction") for memory in (flights, other)]

        assert runs[1].counts == runs[0].counts
        assert runs[1].figures == runs[0].figures
        assert whole(other) == whole(flights)
        assert beliefs(other) == beliefs(flights)
        assert [memory.run_job("restore").counts["restored"] for memory in (flights, other)] == [28, 28]
        assert whole(other) == whole(flights)


def test_a_budget_compresses_by_digests_as_much_as_its_plan_says(open_memory: Callable[..., Memory]) -> None:
    memory: Memory = open_memory(embedder="none:", at="2024-12-30T00:00:00Z")
    memory.retain([departs(flight, site) for flight in range(6) for site in range(12)])
    before = beliefs(memory)
    use = memory.budget(measure=True).use
    memory.set_policy(
        msgspec.structs.replace(Policy(), budget=msgspec.convert({"bytes": use.bytes}, type(Policy().budget)))
    )

    run = memory.run_job("budget")

    assert run.counts["compress slots"] > 0
    after = memory.budget(measure=True).use
    assert use.bytes - after.bytes == run.counts["bytes freed"]
    assert beliefs(memory) == before
