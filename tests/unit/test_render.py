"""Answers for three readers, and within a budget."""

import msgspec

from beliefs.attest import attest
from beliefs.explain import explain_slot
from beliefs.history import history
from beliefs.resolve import resolve
from recall.budget import answer_tokens, tokens_of, within_budget
from recall.judge import rivals_of
from recall.outward import answer_to_builtins, belief_to_builtins, history_to_builtins
from recall.render import NOTHING, explanation_text, graph, history_text, structured, text
from recall.seen import SeenSlot
from recall.tell import age
from schemas.answer import Answer, Found, RetrieverReport
from schemas.claim import Claim, scope_of
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR, parse_instant
from schemas.observation import Observation, Source
from schemas.policy import DEFAULT_POLICY

NOW = parse_instant("2024-06-10T00:00:00Z", "now")
SHOP = Entity("shop")


def document(id: str, day: str, value: int, **qualifiers: str) -> Evidence:
    words = f"Shipping is free from {value} yuan"
    claim = Claim(
        entity=SHOP,
        attribute="free shipping from",
        value=value,
        value_type="money",
        statement=words,
        scope=scope_of(qualifiers),
        weight=2.0,
    )
    observation = Observation(
        id=id,
        bank="shops",
        source=Source(id, id, "document"),
        observed_at=parse_instant(day, "day"),
        claims=(claim,),
    )
    return attest(observation, 0)[0]


def answered(*evidence: Evidence) -> Answer:
    seen = SeenSlot(resolve(evidence, DEFAULT_POLICY, NOW), evidence)
    live = [belief for belief in seen.slot.beliefs if belief.status in ("active", "contested")]
    accounts = explain_slot(evidence, seen.slot, [belief.id for belief in live], DEFAULT_POLICY, NOW)
    found = tuple(
        Found(
            belief=belief,
            confidence=account.confidence,
            score=1.0,
            scores={"keyword": 1.0},
            evidence=account.contributions,
            rivals=rivals_of(belief, seen),
        )
        for belief, account in zip(live, accounts, strict=True)
    )
    return Answer(id="a1", bank="shops", question="from when is it free?", moment=NOW, found=found)


OLD = document("policy-2024-03", "2024-03-01", 100)
NEW = document("policy-2024-05", "2024-05-20", 200)


def test_the_text_names_the_document_and_what_no_longer_holds() -> None:
    assert text(answered(OLD, NEW)) == (
        "Shipping is free from 200 yuan (confidence 0.77): because document policy-2024-05 of 2024-05-20 says so; "
        "the earlier 100 of 2024-03-01 no longer holds."
    )


def test_a_memory_for_a_model_bears_age_and_confidence() -> None:
    answer = answered(OLD, NEW)
    short = answer.found[0].belief.id[:13]
    memory = structured(answer)["memories"][0]
    assert memory["line"] == f"[memory {short}, 21 days ago, confidence 0.77] Shipping is free from 200 yuan"


def test_what_was_given_to_a_model_is_known_again_as_our_own() -> None:
    line = structured(answered(OLD, NEW))["memories"][0]["line"]
    told = Observation(id="o", bank="shops", source=Source("agent"), observed_at=NOW, entity=SHOP, text=line)
    assert {piece.source.type for piece in attest(told, 0)} == {"recall"}


def test_exceptions_are_part_of_what_is_told() -> None:
    answer = answered(NEW, document("policy-member", "2024-05-25", 50, customer="member"))
    assert "except customer: member" in text(answer)


def test_the_graph_joins_evidence_to_beliefs_and_shows_what_was_replaced() -> None:
    drawn = graph(answered(OLD, NEW))
    kinds = sorted(node["kind"] for node in drawn["nodes"])
    types = sorted(edge["type"] for edge in drawn["edges"])
    assert kinds == ["belief", "belief", "entity", "evidence"]
    assert types == ["mentions", "supersedes", "supports"]


def test_nothing_found_is_said_plainly() -> None:
    empty = Answer(id="a", bank="shops", question="?", moment=NOW, found=())
    assert text(empty) == NOTHING
    assert structured(empty)["note"] == NOTHING


def test_a_degraded_answer_says_so() -> None:
    late = RetrieverReport(name="semantic", state="late", note="no answer within 2 s")
    answer = msgspec.structs.replace(answered(NEW), reports=(late,))
    assert "semantic (no answer within 2 s)" in text(answer)
    assert "semantic" in structured(answer)["degraded"]


def test_a_budget_counts_what_is_returned() -> None:
    answer = answered(OLD, NEW)
    cost = answer_tokens(answer)
    assert within_budget(answer, cost).found == answer.found
    cut = within_budget(answer, cost - 1)
    assert cut.found == ()
    assert cut.left_out == {"budget": 1}
    assert cut.tokens == answer_tokens(cut)


def test_a_chinese_character_costs_a_token_and_four_letters_cost_one() -> None:
    assert tokens_of("免运费") == 3
    assert tokens_of("free shipping") == 4


def test_ages_are_told_as_people_tell_them() -> None:
    assert age(NOW - 30 * DAY, NOW) == "30 days ago"
    assert age(NOW - DAY, NOW) == "1 day ago"
    assert age(NOW - 5 * HOUR, NOW) == "5 hours ago"
    assert age(NOW - 800 * DAY, NOW) == "2 years ago"
    assert age(NOW + DAY, NOW) == "from 2024-06-11 on"


def test_an_explanation_shows_every_term() -> None:
    seen = resolve([OLD, NEW], DEFAULT_POLICY, NOW)
    old = next(belief for belief in seen.beliefs if belief.value == 100)
    told = explanation_text(explain_slot([OLD, NEW], seen, [old.id], DEFAULT_POLICY, NOW)[0])
    assert "revoked: replaced by a newer one" in told or "revoked: outweighed by other evidence" in told
    assert "+0.194" in told
    assert "-1.847" in told


def test_a_history_tells_every_turn() -> None:
    told = history_text(history([OLD, NEW], DEFAULT_POLICY, NOW))
    assert told.index("2024-03-01") < told.index("2024-05-20") < told.index("Now:")


def test_the_outward_shape_has_readable_times_and_no_masses() -> None:
    plain = answer_to_builtins(answered(document("d", "2024-05-20", 200, region="EU")))
    belief = plain["found"][0]["belief"]
    assert plain["moment"] == "2024-06-10T00:00:00Z"
    assert belief["scope"] == {"region": "EU"}
    assert belief["newest_support"] == "2024-05-20T00:00:00Z"
    assert belief["entity"] == {"name": "shop", "type": "thing"}
    assert "support" not in belief
    assert plain["found"][0]["evidence"][0]["evidence"]["source"]["id"] == "d"
    assert plain["degraded"] is False


def test_a_history_goes_out_with_its_turns() -> None:
    plain = history_to_builtins(history([OLD, NEW], DEFAULT_POLICY, NOW))
    assert [turn["at"] for turn in plain["turns"]] == ["2024-03-01T00:00:00Z", "2024-05-20T00:00:00Z"]
    assert belief_to_builtins(answered(NEW).found[0].belief)["value"] == 200
