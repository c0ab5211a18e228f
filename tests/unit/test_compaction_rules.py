"""Evidence that is spent: repeats of one voice go, everything else stays."""

import msgspec
import pytest

from beliefs.compaction import spent
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source

FIRST = Evidence(
    id="e1",
    bank="shop",
    slot="s1",
    entity=Entity("shelf", "place"),
    observation_id="o1",
    source=Source("sensor"),
    effective_at=1 * DAY,
    observed_at=1 * DAY,
    statement="",
    attribute="stock",
    value=200,
)
AGAIN = msgspec.structs.replace(FIRST, id="e2", effective_at=2 * DAY)


def test_an_earlier_word_of_the_same_source_goes_and_the_newest_stands_for_it() -> None:
    newest = msgspec.structs.replace(FIRST, id="e3", effective_at=3 * DAY)

    assert spent([AGAIN, newest, FIRST], 3 * DAY) == {"e2": "e3", "e1": "e3"}


def test_of_an_opinion_the_word_that_formed_it_stays() -> None:
    formed, again = (msgspec.structs.replace(piece, network="opinion") for piece in (FIRST, AGAIN))

    assert spent([formed, again], 3 * DAY) == {}


def test_what_begins_later_stands_for_nothing_yet() -> None:
    assert spent([FIRST, AGAIN], 1 * DAY) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"value": 201},
        {"value": "200"},
        {"source": Source("clerk")},
        {"agent": "clerk"},
        {"scope": (("region", "EU"),)},
        {"stance": "refutes"},
        {"kind": "instruction"},
        {"valid_until": 9 * DAY},
        {"visibility": "private", "owner": "clerk"},
        {"session": "monday"},
        {"attribute": "Stock"},
        {"premises": ("b1",)},
    ],
)
def test_what_differs_in_anything_that_is_weighed_does_not_stand_for_it(change) -> None:
    assert spent([FIRST, msgspec.structs.replace(AGAIN, **change)], 5 * DAY) == {}


def test_pinned_evidence_stays() -> None:
    assert spent([msgspec.structs.replace(FIRST, pinned=True), AGAIN], 5 * DAY) == {}
