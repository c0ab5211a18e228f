"""How ids, edges and values become what NebulaGraph can hold."""

import re

import msgspec
import pytest

from schemas.edge import Edge
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from stores.nebula.rows import parameter, plain, read, written
from stores.nebula.script import Line, Script, Words, one, quoted
from stores.nebula.vid import link_rank, vid

pytestmark = pytest.mark.nebula


class Note(msgspec.Struct):
    """A struct of one text."""

    text: str


# Vids


@pytest.mark.parametrize(
    ("bank", "id", "kind", "expected"),
    [
        ("acme", "n0af9", "", "acme:n0af9"),
        ("acme", "o-1.b_2", "observation", "acme:o:o-1.b_2"),
        ("acme", "talk", "session", "acme:t:talk"),
        ("acme", "acme", "bank", "acme:b:acme"),
    ],
)
def test_a_safe_id_stands_in_its_vid_as_it_is(bank: str, id: str, kind: str, expected: str) -> None:
    assert vid(bank, id, kind) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("id", ["", "a b", 'q"uote', "new\nline", "o:x", "café", "满", "x" * 100, "a\\b", "`"])
def test_any_other_id_is_hashed_into_the_safe_alphabet(id: str) -> None:
    assert re.fullmatch(r"_:[0-9a-f]{32}", vid("acme", id))


def test_no_two_ids_share_a_vid() -> None:
    ids = [
        ("a", "b", ""),
        ("a", "b", "observation"),
        ("a", "b", "session"),
        ("a", "b", "name"),
        ("a", "o:b", ""),
        ("a", "b c", ""),
        ("a", "b c", "name"),
        ("ab", "c", ""),
        ("a", "bc", ""),
        ("_", "0" * 32, ""),
        ("a" * 64, "b" * 40, ""),
    ]

    assert len({vid(bank, id, kind) for bank, id, kind in ids}) == len(ids)  # type: ignore[arg-type]


def test_the_stronger_of_two_edges_has_the_smaller_rank_and_slots_have_ranks_of_their_own() -> None:
    weights = [1000.0, 2.0, 1.0, 0.5, 0.001, 0.0, -1.0]
    ranks = [link_rank("s1", Edge("a", "next", "b", weight)) for weight in weights]

    assert ranks == sorted(ranks)
    assert all(0 <= rank < 2**63 for rank in ranks)
    assert link_rank("s2", Edge("a", "next", "b", 1.0)) not in ranks


# Values


@pytest.mark.parametrize("value", [0, 1, -(2**63), 2**63 - 1, True, False, 0.0, -2.5, 1e-300, "", "it's 满 👋 \n\t\\"])
def test_a_value_comes_back_as_it_went(value: str | float | bool) -> None:
    kept = plain(parameter(value))

    assert (kept, type(kept)) == (value, type(value))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, float("nan"), float("inf"), "a\x00b", "\ud800", None])
def test_a_value_that_the_server_would_change_is_refused(value: str | float | None) -> None:
    with pytest.raises(InvalidInput):
        parameter(value)


@pytest.mark.parametrize("text", ["a\x00b", "\\\x00", "\x00"])
def test_a_text_with_nul_is_refused_wherever_it_stands_in_a_struct(text: str) -> None:
    with pytest.raises(InvalidInput, match="note: holds a NUL character; remove it"):
        written(Note(text))


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "u0000", 'q"\\', "\x01\x1f", "\u2028 \ufeff"])
def test_a_text_that_only_looks_like_nul_comes_back(text: str) -> None:
    assert read(written(Note(text)), Note) == Note(text)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidInput, match="note: holds a lone surrogate"):
        written(Note("\ud800"))


def test_evidence_comes_back_from_json_as_it_was(evidence: "object") -> None:
    told: Evidence = evidence("e1", turn=3, at=2**53 + 1)  # type: ignore[operator]
    told = msgspec.structs.replace(told, value=1.0, scope=(("a", "b"),), readers=("u:1",), weight=0.1 + 0.2)

    kept = read(written(told), Evidence)

    assert kept == told
    assert type(kept.value) is float


# Scripts


def test_words_stand_in_the_text_and_values_become_parameters_once() -> None:
    request = one("PUT {vid} SET a = {a}, b = {b}, c = {c}", vid=quoted('x"y'), a="same", b="same", c=1)

    assert request.text == 'PUT "x\\"y" SET a = $p0, b = $p0, c = $p1'
    assert request.parameters == {"p0": "same", "p1": 1}


def test_true_and_one_are_two_parameters() -> None:
    assert one("{a} {b} {c}", a=True, b=1, c=1.0).parameters == {"p0": True, "p1": 1, "p2": 1.0}


def test_a_script_of_many_statements_and_rows_is_several_requests_in_order() -> None:
    script = Script()
    for number in range(300):
        script.add("A {n}", n=Words(str(number)))
    script.add_rows("B {rows}", [Line("({n})", {"n": "x" * 40_000 + str(number)}) for number in range(300)])

    texts = [request.text for request in script.requests()]

    assert texts[0].startswith("A 0; A 1; ")
    assert sum(text.count("A ") for text in texts) == 300
    assert sum(text.count("($p") for text in texts) == 300
    assert all(sum(map(len, map(str, each.parameters.values()))) < 4_100_000 for each in script.requests())
