"""The bundled sample: enough lines, both languages, and every situation that its docstring lists."""

import re
from collections import Counter

import pytest

from beliefmesh.sample import ASKED_AT, TOUR, sample_path
from schemas.claim import Claim
from schemas.errors import InvalidInput
from schemas.instant import format_instant, parse_instant
from schemas.intake import observation_from_json
from schemas.observation import Observation

NOW = parse_instant(ASKED_AT, "now")


def read() -> tuple[list[Observation], list[InvalidInput]]:
    good: list[Observation] = []
    bad: list[InvalidInput] = []
    for line in sample_path().read_bytes().splitlines():
        try:
            good.append(observation_from_json(line, bank="sample", now=NOW))
        except InvalidInput as error:
            bad.append(error)
    return good, bad


OBSERVATIONS, REFUSED = read()
BY_ID = {observation.id: observation for observation in OBSERVATIONS}
PLACE = {observation.id: place for place, observation in enumerate(OBSERVATIONS)}


def claim(id: str) -> Claim:
    return BY_ID[id].claims[0]


def test_more_than_three_hundred_lines_are_taken_and_exactly_one_is_refused() -> None:
    assert len(OBSERVATIONS) >= 300
    assert [str(error) for error in REFUSED] == ["weight: must be a number, not str"]


def test_the_bank_is_left_to_whoever_loads_the_sample() -> None:
    assert b'"bank"' not in sample_path().read_bytes()


def test_both_languages_many_agents_and_every_common_source_speak() -> None:
    chinese = [observation for observation in OBSERVATIONS if re.search("[\u4e00-\u9fff]", observation.text)]

    assert 60 < len(chinese) < len(OBSERVATIONS) - 150
    assert len({observation.agent for observation in OBSERVATIONS}) >= 10
    assert {"dialogue", "document", "ticket", "log", "tool"} <= {o.source.type for o in OBSERVATIONS}
    assert len({observation.session for observation in OBSERVATIONS}) >= 30


def test_everything_was_recorded_in_the_spring_of_2024() -> None:
    assert format_instant(min(o.observed_at for o in OBSERVATIONS)) >= "2024-03-01"
    assert max(o.observed_at for o in OBSERVATIONS) < NOW


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("policy-shipping-2024-05", "policy-shipping-2024-03"),
        ("policy-shipping-zh-2024-05", "policy-shipping-zh-2024-03"),
    ],
)
def test_an_older_shipping_policy_arrives_after_the_newer_one(newer: str, older: str) -> None:
    assert PLACE[newer] < PLACE[older]
    assert BY_ID[newer].observed_at > BY_ID[older].observed_at
    assert (claim(newer).value, claim(older).value) == (200, 100)
    assert (claim(newer).entity, claim(newer).attribute) == (claim(older).entity, claim(older).attribute)
    assert BY_ID[newer].source != BY_ID[older].source
    assert BY_ID[newer].weight == BY_ID[older].weight == 2.0


def test_the_slot_of_the_worked_example_holds_nothing_else() -> None:
    spoken = [c.value for o in OBSERVATIONS for c in o.claims if c.attribute == "free shipping threshold"]

    assert spoken == [200, 100]


def test_instructions_are_replaced_narrowed_and_withdrawn() -> None:
    assert (claim("policy-returns-2024-03").value, claim("policy-returns-2024-04").value) == (14, 30)
    assert claim("policy-returns-sale-2024-05").scope == (("goods", "on sale"),)
    assert (claim("rule-reports-template").value, claim("rule-reports-template").scope) == ("A", ())
    assert claim("rule-reports-template-financial").value == "B"
    assert claim("rule-reports-template-financial").scope == (("report", "financial"),)
    assert claim("policy-coupons-on").value is True
    assert claim("policy-coupons-off").stance == "retracts"
    assert {BY_ID[id].kind for id in ("policy-returns-2024-04", "rule-reports-template", "policy-coupons-off")} == {
        "instruction"
    }


def test_a_customer_changes_a_preference_and_another_has_two_allergies() -> None:
    assert (claim("mei-prefers-email").value, claim("mei-prefers-chat").value) == ("email", "chat")
    assert claim("mei-prefers-email").attribute == claim("mei-prefers-chat").attribute
    assert [c.value for c in BY_ID["omar-allergies"].claims] == ["peanuts", "seafood"]


def test_one_message_comes_twice_and_all_other_ids_are_unique() -> None:
    count = Counter(observation.id for observation in OBSERVATIONS)

    assert [id for id, times in count.items() if times > 1] == ["return-sofia-twice"]


def test_one_statement_comes_twice_from_one_origin_and_once_from_another() -> None:
    said = [BY_ID[id] for id in ("omar-bell-courier-1", "omar-bell-courier-2", "omar-bell-neighbour")]

    assert len({observation.text for observation in said}) == 1
    assert [o.source.origin for o in said] == ["Swift courier", "Swift courier", "neighbour of Omar Haddad"]


def test_some_notes_are_not_for_everybody() -> None:
    assert (BY_ID["note-ana-private"].visibility, BY_ID["note-ana-private"].owner) == ("private", "triage-bot")
    assert BY_ID["note-fraud-group"].readers == ("group:payments", "lena.fischer")


def test_two_monitors_disagree_at_one_moment_and_later_agree() -> None:
    east, west = BY_ID["checkout-east-down"], BY_ID["checkout-west-up"]

    assert east.observed_at == west.observed_at
    assert (claim("checkout-east-down").value, claim("checkout-west-up").value) == ("down", "up")
    assert claim("checkout-east-settled").value == claim("checkout-west-settled").value == "up"


def test_a_delivery_happened_and_opinions_are_marked_as_such() -> None:
    delivery = BY_ID["delivery-omar"]

    assert (delivery.network, format_instant(delivery.occurred_start or 0)) == ("experience", "2024-05-17T14:05:00Z")
    assert BY_ID["opinion-headlamp"].network == BY_ID["opinion-headlamp-zh"].network == "opinion"


def test_stock_counts_expire() -> None:
    counts = [c for o in OBSERVATIONS for c in o.claims if c.attribute == "stock"]

    assert len(counts) > 30
    assert all(c.valid_until is not None for c in counts)


def test_every_ticket_that_was_solved_was_open_and_in_progress_before() -> None:
    solved = [id.removesuffix("-solved") for id in BY_ID if re.fullmatch(r"T-\d+-solved", id)]

    assert len(solved) >= 15
    for ticket in solved:
        times = [BY_ID[f"{ticket}-{state}"].observed_at for state in ("open", "in-progress", "solved")]
        assert times == sorted(times), ticket


def test_every_tour_question_has_its_answer_in_the_sample() -> None:
    values = {str(c.value) for o in OBSERVATIONS for c in o.claims}

    assert len(TOUR) >= 5
    for stop in TOUR:
        assert set(stop.contains) <= values, stop.question
