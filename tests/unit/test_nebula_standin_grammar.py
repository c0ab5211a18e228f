"""What nGQL the stand-in for graphd reads: texts and escapes, parameters and where none may stand, the grammar."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

nebula_client = pytest.importorskip("nebula_client", reason="the cluster extra is not installed")

INTO_B1 = 'GO FROM "b:1" OVER supports REVERSELY YIELD src(edge) AS s'


@pytest.fixture
def client(start_graphd: Callable[..., Any]) -> Iterator[Any]:
    """A session in a space that stands as at the beginning of the reference's examples."""
    with nebula_client.client_of_examples(start_graphd().address) as client:
        yield client


def _belief(client: Any, vid: str = "b:1") -> dict[str, Any]:
    return client.rows(f'FETCH PROP ON belief "{vid}" YIELD properties(vertex) AS p')[0]["p"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('it\'s "q" \\ \\n', id="quotes"),
        pytest.param("line\nline\r\n\ttab", id="newlines"),
        pytest.param("😀👩\u200d👩\u200d👧", id="emoji"),
        pytest.param("信念网格 の メモリ", id="cjk"),
        pytest.param("# no // comment /* */ -- $p ;", id="marks"),
        pytest.param("x" * 65_536, id="64-kb"),
        pytest.param("a\x00b", id="nul"),
    ],
)
def test_a_text_parameter_comes_back_as_it_went(client: Any, text: str) -> None:
    client.rows('INSERT VERTEX belief (statement) VALUES "b:2":($text)', text=text)
    assert _belief(client, "b:2")["statement"] == text
    client.rows('UPDATE VERTEX ON belief "b:2" SET write_id = $text WHEN statement == $text', text=text)
    assert _belief(client, "b:2")["write_id"] == text


def test_parameters_are_of_any_plain_type(client: Any) -> None:
    values = "$text, $number, $whole"
    client.rows(
        f'INSERT VERTEX belief (statement, confidence, version) VALUES "b:2":({values})', text="s", number=0.1, whole=-7
    )
    row = _belief(client, "b:2")
    assert (row["confidence"], row["version"]) == (0.1, -7)
    statuses = "LOOKUP ON belief WHERE belief.status IN $some YIELD id(vertex) AS vid | ORDER BY $-.vid"
    assert client.rows(statuses, some=["active", "other"]) == [{"vid": "b:1"}, {"vid": "b:2"}]


@pytest.mark.parametrize(
    "statement",
    [
        "FETCH PROP ON belief $p YIELD id(vertex) AS vid",
        "UPDATE VERTEX ON belief $p SET version = 1",
        "DELETE VERTEX $p",
        "GO FROM $p OVER supports YIELD src(edge) AS s",
        'INSERT VERTEX belief (statement) VALUES $p:("s")',
        'INSERT EDGE supports (weight) VALUES "v:1"->"b:1"@$p:(1.0)',
        f"{INTO_B1} | LIMIT $p",
        "USE $p",
    ],
)
def test_a_parameter_may_not_stand_for_a_vid_rank_count_or_name(client: Any, statement: str) -> None:
    assert client.error(statement, p="b:1")[0] == -1004


@pytest.mark.parametrize(
    ("literal", "text"),
    [(r'"a\"b\\c\n\t"', 'a"b\\c\n\t'), (r"'\q\101\u4fe1'", "qA信"), (r'"a\0b"', "a\x00\x00")],
)
def test_escapes_of_literals_mean_what_the_server_reads(client: Any, literal: str, text: str) -> None:
    client.rows(f'INSERT VERTEX belief (statement) VALUES "b:2":({literal})')
    assert _belief(client, "b:2")["statement"] == text


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (b) WHERE id(b) IN [] RETURN b",
        "CREATE TAG t (labels list<string>)",
        "CREATE TAG t (timestamp int)",
        'UPDATE VERTEX ON belief "b:1", "b:2" SET version = 2',
        'GO FROM "b:1" OVER supports YIELD edge',
        'GO FROM "b:1" OVER supports YIELD count(*) AS n',
        'OPTIONAL MATCH (b) WHERE id(b) == "b:1" RETURN b',
        "CREATE SPACE s (vid_type = FIXED_STRING(32), atomic_edge = true)",
        "CREATE SPACE s (partition_num = 1)",
        "YIELD 1 AS x -- comment",
        "INSERT VERTEX belief (statement) VALUES \"b:1\":(\"it''s\" 'x')",
        'INSERT VERTEX belief (statement) VALUES "b:1":("two\nlines")',
        'FETCH PROP ON belief "b:1"',
        'INSERT VERTEX VALUES "b:1":()',
        "LOOKUP ON belief WHERE belief.status IN [] YIELD id(vertex) AS vid",
        "YIELD 9223372036854775808 AS x",
        "YIELD unheard(1) AS x",
        'GO FROM "b:1" OVER supports YIELD dst(edge) AS d | UPDATE VERTEX ON belief "b:1" SET version = 1',
    ],
)
def test_what_the_grammar_rejects_is_a_syntax_error(client: Any, statement: str) -> None:
    assert client.error(statement)[0] == -1004


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ('GET SUBGRAPH 1 STEPS FROM "b:1" IN supports YIELD VERTICES AS nodes', "GET SUBGRAPH"),
        ('FIND SHORTEST PATH FROM "v:1" TO "b:1" OVER supports YIELD path AS p', "FIND SHORTEST PATH"),
        ("MATCH (b:belief) WHERE id(b) == $p RETURN id(b) AS vid", "MATCH"),
        ('$v = GO FROM "b:1" OVER supports YIELD src(edge) AS vid', "$v = GO"),
        ('UPDATE EDGE ON supports "v:1"->"b:1"@0 SET weight = 0.1', "UPDATE EDGE"),
        ("YIELD $p AS vid | FETCH PROP ON belief $-.vid YIELD id(vertex) AS vid", "a pipe out of Project"),
        ("CREATE TAG t (x int64) TTL_DURATION = 1", "TTL"),
        (f"{INTO_B1} | GO FROM $-.s OVER supports YIELD $-.s AS s", "$-. in what GO"),
        (f"{INTO_B1} | YIELD count(*) + 1 AS n", "an aggregate inside"),
        (INTO_B1.replace(" AS s", ""), "columns without AS"),
    ],
)
def test_what_the_stand_in_lacks_is_refused_by_name(client: Any, statement: str, named: str) -> None:
    code, text = client.error(statement, p="b:1")
    assert (code, "the stand-in does not speak" in text) == (-1004, True)
    assert re.search(re.escape(named), text)
