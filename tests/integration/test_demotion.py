"""What is worth least leaves the vectors before anything leaves the graph, and comes back when it is told again."""

import pytest

from beliefmesh.memory import Memory
from schemas.budget import Budget
from schemas.policy import Policy


def bell(number: int, **fields) -> dict[str, object]:
    return {"id": f"c{number}", "claims": [{"entity": "hall", "statement": f"Bell {number} rang."}], **fields}


@pytest.fixture
def tight(open_memory) -> Memory:
    """Forty statements with vectors of 1,024 bytes each, and room for a little less."""
    memory: Memory = open_memory(embedder="hashing:256")
    memory.retain([bell(number) for number in range(40)])
    memory.set_policy(Policy(budget=Budget(bytes=memory.budget(measure=True).use.bytes)))
    return memory


def vectors(memory: Memory) -> set[str]:
    """The statements that semantic search finds."""
    answer = memory.recall("Which bell rang in the hall?", limit=100)
    return {found.belief.statement for found in answer.found if "semantic" in found.scores}


def test_a_bank_over_its_bytes_loses_vectors_first_and_no_belief(tight: Memory) -> None:
    before = tight.budget().use
    whole = tight.state_hash(now=1_718_020_800_000_000)
    assert len(vectors(tight)) == 40

    run = tight.run_job("budget")

    assert run.counts["demote slots"] == 10
    assert run.reasons == {"demoted out of the vectors: worth less than what stays": 10}
    assert "archive slots" not in run.counts
    after = tight.budget(measure=True).use
    assert (after.beliefs, after.bytes) == (40, before.bytes - 10 * (1_024 - 9))  # nine for the mark
    assert len(vectors(tight)) == 30
    lost = {f"Bell {n} rang." for n in range(40)} - vectors(tight)
    for statement in lost:
        assert tight.recall(statement, limit=1).found[0].belief.statement == statement
    assert tight.state_hash(now=1_718_020_800_000_000) == whole
    assert tight.doctor().differences == ()
    assert tight.run_job("budget").counts == {"slots": 40}


def test_what_is_told_again_is_embedded_again_and_a_review_or_reindex_embeds_nothing(tight: Memory) -> None:
    tight.run_job("budget")
    lost = sorted({f"Bell {n} rang." for n in range(40)} - vectors(tight))
    number = int(lost[0].split()[1])

    tight.run_job("reindex")
    assert len(vectors(tight)) == 30
    tight.retain(bell(number, id="again", agent="ana"))

    assert lost[0] in vectors(tight)
    assert len(vectors(tight)) == 31


def test_where_vectors_are_not_enough_the_rest_is_archived(open_memory) -> None:
    memory: Memory = open_memory(embedder="hashing:256")
    memory.retain([bell(number) for number in range(40)])
    memory.set_policy(Policy(budget=Budget(beliefs=20, bytes=memory.budget(measure=True).use.bytes)))

    run = memory.run_job("budget")

    assert run.counts["archive slots"] == 23
    assert memory.budget(measure=True).use.beliefs == 17
    assert memory.doctor().differences == ()
