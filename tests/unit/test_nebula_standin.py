"""The stand-in for graphd answers nebula3-python as the reference says that NebulaGraph 3.8 does."""

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


def test_a_swap_whose_when_holds_gives_the_new_row(client: Any) -> None:
    set = 'SET version = version + 1, write_id = "w4" WHEN version == 3'
    rows = client.rows(f'UPDATE VERTEX ON belief "b:1" {set} YIELD version AS version, write_id AS write_id')
    assert rows == [{"version": 4, "write_id": "w4"}]


def test_a_swap_whose_when_is_false_succeeds_with_the_old_row_and_stores_nothing(client: Any) -> None:
    set = 'SET version = version + 1, write_id = "w4" WHEN version == 2'
    rows = client.rows(f'UPDATE VERTEX ON belief "b:1" {set} YIELD version AS version, write_id AS write_id')
    assert rows == [{"version": 3, "write_id": "w3"}]
    assert _belief(client)["version"] == 3


def test_a_when_that_is_null_is_false(client: Any) -> None:
    client.rows('UPDATE VERTEX ON belief "b:1" SET confidence = 0.9 WHEN revoked_at < 5')
    assert _belief(client)["confidence"] == 0.5


def test_an_update_without_yield_gives_no_data_set(client: Any) -> None:
    result = client.ask('UPDATE VERTEX ON belief "b:1" SET confidence = 0.9 WHEN version == 2')
    assert (result.is_succeeded(), result.keys(), result.is_empty()) == (True, [], True)


def test_an_update_of_an_absent_row_fails(client: Any) -> None:
    error = client.error('UPDATE VERTEX ON belief "b:404" SET confidence = 0.9 WHEN version == 0')
    assert error == (-1005, "Storage Error: Vertex or edge not found.")


def test_an_upsert_of_an_absent_row_ignores_when(client: Any) -> None:
    set = 'SET statement = "x", version = 1, write_id = "w1" WHEN version == -1'
    yields = "YIELD version AS version, write_id AS write_id, status AS status"
    rows = client.rows(f'UPSERT VERTEX ON belief "b:9" {set} {yields}')
    assert rows == [{"version": 1, "write_id": "w1", "status": "active"}]


def test_an_upsert_of_a_present_row_with_a_false_when_leaves_it(client: Any) -> None:
    set = 'SET statement = "y", version = 1, write_id = "w1" WHEN version == -1'
    rows = client.rows(f'UPSERT VERTEX ON belief "b:1" {set} YIELD version AS version, write_id AS write_id')
    assert rows == [{"version": 3, "write_id": "w3"}]
    assert _belief(client)["statement"] == "sky is blue"


def test_an_upsert_needs_every_column_that_has_no_default(client: Any) -> None:
    code, text = client.error('UPSERT VERTEX ON belief "b:10" SET version = 1')
    assert code == -1005
    assert text.startswith("Storage Error: Invalid field value: may be the filed is not NULL")


def test_set_runs_from_left_to_right(client: Any) -> None:
    set = "SET version = version + 1, updated_at = version + 1"
    rows = client.rows(f'UPDATE VERTEX ON belief "b:1" {set} YIELD version AS version, updated_at AS updated_at')
    assert rows == [{"version": 4, "updated_at": 5}]


@pytest.mark.parametrize(
    ("statement", "code", "part"),
    [
        ('UPDATE VERTEX ON belief "b:1" SET version = "four"', -1005, "Storage Error: Invalid data, may be wrong"),
        ('UPDATE VERTEX ON belief "b:1" SET version = NULL', -1005, "not null field cannot be null"),
        ('UPDATE VERTEX ON belief "b:1" SET confidence = 0.1 WHEN version', -1009, "expected Boolean, but was `INT'"),
        ('UPDATE VERTEX ON beleif "b:1" SET confidence = 0.1', -1009, "SemanticError: No schema found for `beleif'"),
        ('INSERT VERTEX belief (statement, version) VALUES "b:2":("one")', -1009, "Column count doesn't match value"),
        ('INSERT VERTEX belief (statment) VALUES "b:2":("typo")', -1009, "Unknown column `statment' in schema"),
        (
            'INSERT VERTEX belief (statement, version) VALUES "b:2":("s", "1")',
            -1005,
            "Storage Error: The data type does not meet the requirements. Use the correct type of data.",
        ),
        (f'INSERT VERTEX belief (statement) VALUES "{"b" * 97}":("s")', -1005, "Storage Error: The VID must be"),
        (f'FETCH PROP ON belief "{"b" * 97}" YIELD id(vertex) AS vid', -1005, "Storage Error: The VID must be"),
        (f"{INTO_B1} LIMIT [1, 2]", -1009, "length must be equal to GO step size 1"),
        ('GO FROM "b:1" OVER suports YIELD src(edge) AS s', -1009, "not found in space"),
        (
            'LOOKUP ON belief WHERE belief.statement CONTAINS "sky" YIELD id(vertex) AS vid',
            -1009,
            "is not supported, please use full-text index",
        ),
        ("LOOKUP ON belief WHERE belief.confidence > $w YIELD id(vertex) AS vid", -1009, "Undefined parameters: w"),
        ("LOOKUP ON belief WHERE belief.status == 1 YIELD id(vertex) AS vid", -1009, "Column type error : status"),
        ('LOOKUP ON entity WHERE entity.name == "a" YIELD id(vertex) AS vid', -1005, "IndexNotFound: No valid index"),
        ("CREATE TAG INDEX i9 ON belief (statement)", -1005, "Invalid param!"),
        ("CREATE TAG INDEX i9 ON belief (statement(257))", -1005, "Invalid param!"),
        ("CREATE TAG INDEX i9 ON belief (version(8))", -1005, "Invalid param!"),
        ("CREATE TAG supports (name string)", -1005, ""),
        ("CREATE SPACE s (vid_type = FIXED_STRING(8), replica_factor = 3)", -1005, "Host not enough!"),
        ('DELETE VERTEX "b:1" WITH', -1004, "SyntaxError: "),
        ("", -1006, ""),
        (f'YIELD "{"x" * 4_194_304}" AS x', -1004, "SyntaxError: Query is too large"),
        ("YIELD 1 AS x;" * 513, -1009, "maximum number of statements"),
        (f"YIELD {' OR '.join(['true'] * 600)} AS x", -1004, "depth"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_as_the_server_does(client: Any, statement: str, code: int, part: str) -> None:
    found = client.error(statement)
    assert (found[0], part in found[1]) == (code, True), found[1]


def test_a_plain_insert_replaces_the_row(client: Any) -> None:
    client.rows('INSERT VERTEX belief (statement) VALUES "b:1":("sky is grey")')
    row = _belief(client)
    assert (row["statement"], row["confidence"], row["version"], row["write_id"]) == ("sky is grey", 0.5, 0, "")


def test_insert_if_not_exists_leaves_a_present_row_and_the_first_of_a_batch_wins(client: Any) -> None:
    rows = '"b:1":("other", 99), "b:2":("first", 1), "b:2":("second", 2)'
    result = client.ask(f"INSERT VERTEX IF NOT EXISTS belief (statement, version) VALUES {rows}")
    assert (result.is_succeeded(), result.keys()) == (True, [])
    assert _belief(client)["version"] == 3
    assert _belief(client, "b:2")["statement"] == "first"


def test_a_type_error_fails_its_partition_and_no_other(client: Any) -> None:
    rows = ", ".join(f'"b:{n}":("s", {n})' for n in range(10, 40))
    error = client.error(f'INSERT VERTEX belief (statement, version) VALUES {rows}, "b:40":("s", "x")')
    vids = ", ".join(f'"b:{n}"' for n in range(10, 41))
    stored = client.rows(f"FETCH PROP ON belief {vids} YIELD id(vertex) AS vid")
    assert error[0] == -1005
    assert 0 < len(stored) < 31
    assert {"vid": "b:40"} not in stored


def test_numbers_are_converted_on_the_way_in(client: Any) -> None:
    client.rows('INSERT VERTEX belief (statement, confidence, version) VALUES "b:2":("s", 1, 2.5)')
    row = _belief(client, "b:2")
    assert (row["confidence"], row["version"]) == (1.0, 3)


def test_a_missing_vid_gives_no_row_and_one_asked_twice_gives_two(client: Any) -> None:
    statement = "YIELD id(vertex) AS vid, belief.version AS version"
    assert client.rows(f'FETCH PROP ON belief "b:1", "b:404" {statement}') == [{"vid": "b:1", "version": 3}]
    assert len(client.rows(f'FETCH PROP ON belief "b:1", "b:1" {statement}')) == 2


def test_columns_of_a_tag_that_the_vertex_lacks_are_empty(client: Any) -> None:
    fetched = client.ask('FETCH PROP ON belief, entity "b:1" YIELD entity.name AS name, belief.revoked_at AS revoked')
    name, revoked = fetched.row_values(0)
    assert (name.is_empty(), name.is_null()) == (True, False)
    assert (revoked.is_empty(), revoked.is_null()) == (False, True)


def test_a_reverse_hop_keeps_the_stored_direction_and_dst_is_its_far_end(client: Any) -> None:
    yields = "src(edge) AS s, dst(edge) AS d, supports._dst AS far, supports._src AS near, supports.weight AS w"
    rows = client.rows(f'GO FROM "b:1" OVER supports REVERSELY YIELD {yields} | ORDER BY $-.s')
    assert rows == [
        {"s": "v:1", "d": "b:1", "far": "v:1", "near": "b:1", "w": 0.8},
        {"s": "v:2", "d": "b:1", "far": "v:2", "near": "b:1", "w": 0.4},
    ]


def test_a_property_of_another_edge_type_is_empty(client: Any) -> None:
    client.rows('INSERT EDGE refutes (weight) VALUES "v:2"->"b:1":(0.3)')
    found = client.ask(
        'GO FROM "b:1" OVER supports, refutes REVERSELY YIELD type(edge) AS t, supports.weight AS w | ORDER BY $-.t'
    )
    assert [found.row_values(row)[1].is_empty() for row in range(3)] == [True, False, False]


def test_no_edges_and_unknown_starts_give_columns_and_no_rows(client: Any) -> None:
    found = client.ask('GO FROM "b:404" OVER supports YIELD dst(edge) AS d')
    assert (found.is_succeeded(), found.keys(), found.row_size()) == (True, ["d"], 0)


def test_an_edge_is_overwritten_at_its_rank_and_another_rank_is_another_edge(client: Any) -> None:
    rows = client.rows(
        'INSERT EDGE supports (weight) VALUES "v:1"->"b:1"@0:(0.9);'
        ' FETCH PROP ON supports "v:1"->"b:1"@0 YIELD supports.weight AS weight'
    )
    assert rows == [{"weight": 0.9}]
    client.rows('INSERT EDGE supports (weight) VALUES "v:1"->"b:1"@1:(0.1)')
    assert len(client.rows(INTO_B1)) == 3


def test_deleting_a_vertex_leaves_its_edges_unless_told(client: Any) -> None:
    client.rows('DELETE VERTEX "v:1"')
    far = client.ask('GO FROM "b:1" OVER supports REVERSELY YIELD src(edge) AS s, $$.evidence.source AS source')
    sources = {values[0].as_string(): values[1] for values in map(far.row_values, range(far.row_size()))}
    assert client.rows('FETCH PROP ON evidence "v:1" YIELD id(vertex) AS vid') == []
    assert sources["v:1"].is_null() or sources["v:1"].is_empty()
    assert sources["v:2"].as_string() == "s2"


def test_deleting_a_vertex_with_its_edges_removes_both_directions(client: Any) -> None:
    client.rows('DELETE VERTEX "v:1" WITH EDGE')
    assert client.rows(INTO_B1) == [{"s": "v:2"}]


def test_deleting_what_is_absent_succeeds(client: Any) -> None:
    client.rows('DELETE VERTEX "v:404" WITH EDGE')
    client.rows('DELETE EDGE supports "v:404"->"b:1"@3')
    client.rows('DELETE TAG evidence FROM "v:404"')


def test_what_a_pipe_finds_can_be_deleted(client: Any) -> None:
    client.rows('GO FROM "b:1" OVER supports REVERSELY YIELD src(edge) AS vid | DELETE VERTEX $-.vid WITH EDGE')
    assert client.rows(INTO_B1) == []


def test_aggregates_stand_after_a_pipe_and_count_nothing_as_zero(client: Any) -> None:
    after = "YIELD properties(edge).weight AS w | YIELD count(*) AS n, sum($-.w) AS total"
    assert client.rows(f'GO FROM "b:1" OVER supports REVERSELY {after}') == [{"n": 2, "total": pytest.approx(1.2)}]
    assert client.rows(f'GO FROM "b:404" OVER supports {after}')[0]["n"] == 0


def test_groups_are_counted_by_key(client: Any) -> None:
    client.rows('INSERT VERTEX belief (statement, status) VALUES "b:2":("s", "revoked"), "b:3":("t", "revoked")')
    looked_up = 'LOOKUP ON belief WHERE belief.status >= "a" YIELD belief.status AS status'
    grouped = "GROUP BY $-.status YIELD $-.status AS status, count(*) AS n"
    rows = client.rows(f"{looked_up} | {grouped} | ORDER BY $-.status")
    assert rows == [{"status": "active", "n": 1}, {"status": "revoked", "n": 2}]


def test_a_result_is_sorted_cut_and_skipped_after_a_pipe(client: Any) -> None:
    rows = ", ".join(f'"b:{n}":("s", {n})' for n in range(10, 20))
    client.rows(f"INSERT VERTEX belief (statement, updated_at) VALUES {rows}")
    found = "LOOKUP ON belief WHERE belief.updated_at >= 10 YIELD belief.updated_at AS at | ORDER BY $-.at DESC"
    assert [row["at"] for row in client.rows(f"{found} | LIMIT 2")] == [19, 18]
    assert [row["at"] for row in client.rows(f"{found} | LIMIT 2, 3")] == [17, 16, 15]
    assert [row["at"] for row in client.rows(f"{found} | LIMIT 3 OFFSET 2")] == [17, 16, 15]


def test_go_goes_several_steps_and_distinct_gives_each_row_once(client: Any) -> None:
    client.rows('INSERT EDGE refutes (weight) VALUES "b:1"->"b:2":(0.1)')
    rows = client.rows('GO 1 TO 2 STEPS FROM "v:1", "v:2" OVER supports, refutes YIELD DISTINCT id($$) AS vid')
    assert rows == [{"vid": "b:1"}, {"vid": "b:2"}]


def test_two_tags_of_one_vertex_go_in_by_one_insert(client: Any) -> None:
    client.rows('INSERT VERTEX entity (name), belief (statement) VALUES "x:1":("n", "s")')
    rows = client.rows('FETCH PROP ON * "x:1" YIELD entity.name AS name, belief.statement AS statement')
    assert rows == [{"name": "n", "statement": "s"}]


def test_an_index_on_the_columns_of_another_is_silently_not_made(client: Any) -> None:
    client.rows("CREATE TAG INDEX IF NOT EXISTS i2 ON belief (status(32))")
    names = [row["Index Name"] for row in client.rows("SHOW TAG INDEXES")]
    assert names == ["i1", "i_at"]
    assert client.error("CREATE TAG INDEX i2 ON belief (status(32))") == (-1005, "Existed!")
    assert client.error("REBUILD TAG INDEX i2")[0] == -1005


def test_a_row_from_before_its_index_is_found_only_once_the_index_is_rebuilt(client: Any) -> None:
    client.rows('INSERT VERTEX entity (name) VALUES "e:ada":("Ada")')
    client.rows("CREATE TAG INDEX i_entity ON entity (name(16))")
    client.rows('INSERT VERTEX entity (name) VALUES "e:bob":("Bob")')
    looked_up = "LOOKUP ON entity YIELD id(vertex) AS vid | ORDER BY $-.vid"
    assert client.rows(looked_up) == [{"vid": "e:bob"}]
    job = client.rows("REBUILD TAG INDEX i_entity")[0]["New Job Id"]
    assert client.rows(f"SHOW JOB {job}")[0]["Status"] == "FINISHED"
    assert client.rows(looked_up) == [{"vid": "e:ada"}, {"vid": "e:bob"}]


def test_describe_shows_a_tag_as_it_was_made(client: Any) -> None:
    shown = {row["Field"]: (row["Type"], row["Null"]) for row in client.rows("DESCRIBE TAG belief")}
    assert (shown["version"], shown["confidence"], shown["revoked_at"]) == (
        ("int64", "NO"),
        ("double", "NO"),
        ("int64", "YES"),
    )
    assert client.error("DESCRIBE TAG nothing")[0] == -1005


def test_if_not_exists_never_compares_definitions(client: Any) -> None:
    client.rows("CREATE TAG IF NOT EXISTS entity (other int)")
    assert [row["Field"] for row in client.rows("DESCRIBE TAG entity")] == ["name", "aliases"]
    assert client.error("CREATE TAG entity (other int)") == (-1005, "Existed!")


def test_rows_from_before_a_column_have_its_default(client: Any) -> None:
    client.rows("ALTER TAG belief ADD (scope string NULL, reviewed bool NOT NULL DEFAULT false)")
    row = client.rows('FETCH PROP ON belief "b:1" YIELD belief.reviewed AS reviewed, belief.scope AS scope')
    assert row == [{"reviewed": False, "scope": None}]
