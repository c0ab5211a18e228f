"""Flight tables: what a cell claims, when two values are one, and what a plain vote says."""

from datetime import date

import pytest

from beliefmesh.evaluate.flight import claims_of, observation_of, plain_vote, policy
from beliefmesh.evaluate.flight_cells import Row, clock_of, gate_key, gate_of, read_claims, read_gold, same, value_of
from schemas.errors import InvalidInput

DAY = date(2011, 12, 1)


@pytest.mark.parametrize(
    ("cell", "minutes"),
    [
        ("12/01/2011 01:55 PM", 13 * 60 + 55),
        ("12/1/2011 2:07PM EST", 14 * 60 + 7),
        ("12/1/11 2:06 PM (-05:00)", 14 * 60 + 6),
        ("Sat, Dec 3 2:05 PM", 14 * 60 + 5),
        ("2:05p Dec 1", 14 * 60 + 5),
        ("1:55pDec 1", 13 * 60 + 55),
        ("2:07 PMDec 01", 14 * 60 + 7),
        ("12:10 PM  Thu 01-Dec-2011", 12 * 60 + 10),
        ("12:26 AM  Fri 02-Dec-2011 (Runway)", 26),
        ("Thu., Dec.01, 2011 1:55 p.m.", 13 * 60 + 55),
        ("December 8, 2011               08:00 PM    ", 20 * 60),
        ("2011-12-01 12/2 1:15 AM", 75),
        ("2011-12-01 Thu  16:17", 16 * 60 + 17),
        ("11:30A 12-01-11", 11 * 60 + 30),
        ("Dec 07 - 12:00midnight*", 0),
        ("7:03 PM, Dec 01&nbsp(Estimated)", 19 * 60 + 3),
    ],
)
def test_a_clock_time_is_read_in_every_shape(cell: str, minutes: int) -> None:
    assert clock_of(cell) == minutes


@pytest.mark.parametrize("cell", ["December 8, 2011     ", "2011-12-01 Cancelled", "25:10", "--"])
def test_a_cell_without_a_clock_time_has_no_minutes(cell: str) -> None:
    assert clock_of(cell) is None


def test_a_time_is_placed_on_the_operating_day_whatever_date_the_cell_gives() -> None:
    assert value_of("scheduled_arrival", "2011-12-01 12:26 AM", DAY) == "2011-12-02T00:26"
    assert value_of("scheduled_arrival", "12:26 AMDec 02", DAY) == "2011-12-02T00:26"
    assert value_of("scheduled_arrival", "2011-12-01 11:50 PM", DAY) == "2011-12-01T23:50"


def test_text_that_is_no_time_is_claimed_as_text() -> None:
    assert value_of("actual_arrival", "2011-12-01  Cancelled", DAY) == "2011-12-01 Cancelled"


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("departure_gate", ""),
        ("departure_gate", " -"),
        ("departure_gate", "--"),
        ("departure_gate", "Not provided by airline"),
        ("departure_gate", "Terminal 3"),
        ("actual_arrival", "Dec 01 - Not Available"),
        ("actual_arrival", "Not Available"),
        ("actual_arrival", "Dec 01 - Contact Airline"),
    ],
)
def test_a_cell_that_says_that_nothing_is_known_claims_nothing(column: str, cell: str) -> None:
    assert value_of(column, cell, DAY) is None


def test_a_gate_is_read_without_its_terminal() -> None:
    assert gate_of("Terminal D - D28") == "D28"
    assert gate_of(" C24    ") == "C24"
    assert gate_of("A Term - A5") == "A5"


def test_gates_are_compared_without_punctuation_and_the_words_gate_and_terminal() -> None:
    assert gate_key("Gate C-44") == gate_key("c44")
    assert same("arrival_gate", "C-44", "Gate C44")
    assert not same("arrival_gate", "C44", "C45")


def test_times_within_ten_minutes_are_the_same() -> None:
    assert same("actual_arrival", "2011-12-01T18:05", "2011-12-01T18:15")
    assert not same("actual_arrival", "2011-12-01T18:05", "2011-12-01T18:16")
    assert same("actual_arrival", "2011-12-01T23:58", "2011-12-02T00:03")
    assert not same("actual_arrival", "Cancelled", "2011-12-01T18:05")


def test_a_row_becomes_one_sighting_with_a_claim_for_each_cell_that_states_something() -> None:
    cells = {
        "scheduled_departure": "12/1/2011 1:55PM EST",
        "actual_departure": "",
        "departure_gate": "Gate F78",
        "scheduled_arrival": "Not Available",
        "actual_arrival": "Cancelled",
        "arrival_gate": "--",
    }
    row = Row(source="flightexplorer", flight="AA-1007-TPA-MIA", day=DAY, cells=cells)

    assert claims_of(row) == {
        "scheduled_departure": "2011-12-01T13:55",
        "departure_gate": "Gate F78",
        "actual_arrival": "Cancelled",
    }
    assert observation_of(row, 7) == {
        "id": "2011-12-01/flightexplorer/AA-1007-TPA-MIA/7",
        "agent": "flightexplorer",
        "source": {"id": "flightexplorer", "origin": "flightexplorer", "type": "other"},
        "entity": {"name": "AA-1007-TPA-MIA 2011-12-01", "type": "flight"},
        "observed_at": DAY,
        "kind": "observation",
        "claims": [
            {"attribute": "scheduled_departure", "value": "2011-12-01T13:55"},
            {"attribute": "departure_gate", "value": "Gate F78"},
            {"attribute": "actual_arrival", "value": "Cancelled"},
        ],
    }


def test_a_row_that_states_nothing_is_no_observation() -> None:
    assert observation_of(Row(source="x", flight="AA-1", day=DAY, cells={"departure_gate": "--"}), 0) is None


def test_the_plain_vote_takes_close_times_together_and_the_exact_one_does_not() -> None:
    votes = ["2011-12-01T10:00", "2011-12-01T10:00", "2011-12-01T12:00", "2011-12-01T12:04", "2011-12-01T12:09"]

    assert plain_vote("actual_arrival", votes, tolerant=True) == "2011-12-01T12:00"
    assert plain_vote("actual_arrival", votes, tolerant=False) == "2011-12-01T10:00"


def test_the_policy_types_every_column() -> None:
    rules = {rule.pattern: rule for rule in policy().attributes}

    assert rules["actual_departure"].type == "time"
    assert rules["actual_departure"].tolerance == 600.0
    assert rules["arrival_gate"].type == "code"
    assert rules["arrival_gate"].ignore == ("gate", "terminal", "term")


def test_tables_are_read_by_the_day_in_their_name(tmp_path) -> None:
    claims = tmp_path / "claims-20111201.tsv"
    claims.write_text("orbitz\tAA-1\t1:55pDec 1\t\tD5\t\t\t\n", "utf-8")
    gold = tmp_path / "gold-20111201.tsv"
    gold.write_text("AA-1\t12/01/2011 01:55 PM\t\tD5\t\t\t\n", "utf-8")

    (row,) = read_claims(claims)
    (true,) = read_gold(gold)

    assert (row.source, row.flight, row.day, row.cells["departure_gate"]) == ("orbitz", "AA-1", DAY, "D5")
    assert (true.entity, true.cells["scheduled_departure"]) == ("AA-1 2011-12-01", "12/01/2011 01:55 PM")


def test_a_line_with_too_few_fields_is_named_with_its_file_and_number(tmp_path) -> None:
    path = tmp_path / "claims-20111201.tsv"
    path.write_text("orbitz\tAA-1\t1:55pDec 1\n", "utf-8")

    with pytest.raises(InvalidInput, match=r"claims-20111201\.tsv line 1: has 3 fields; expected 8"):
        read_claims(path)
