"""A mapping in YAML: what it makes of a document, and how each mistake in it is named."""

import pytest

from schemas.errors import InvalidInput
from streams.sources.apply import apply
from streams.sources.mapping import MappingFile, read_mapping
from streams.sources.told import Refused, Skipped, Told
from streams.sources.yaml_file import read_yaml

ORDERS = """
name: orders
documents: [orders]
let:
  number: ["{order.no}", "{no}"]
ignore:
  - {kind: ping}
records:
  - name: change
    each: {change: changes}
    when: {change.field: [state, owner]}
    sort_by: change.at
    id: "order:{number}:{change.at}"
    observed_at: "{change.at}"
    source: {id: "order {number}", origin: shop, type: ticket}
    agent: "{change.by}"
    session: "{number}"
    entity: {name: "order {number}", type: order}
    kind: instruction
    claims:
      - attribute: {from: "{change.field}", map: {state: status}, default: "{change.field}"}
        value: {from: "{change.to}", as: lower}
        absent: retracts
        statement: "order {number}: {change.field} is {change.to}"
  - name: note
    when: {note: "*"}
    unless: {spam: true}
    text: "{note}"
    observed_at: ["{noted}", "{at}"]
    metadata: {shop: "{shop.name}"}
"""


def mapping(text: str = ORDERS) -> MappingFile:
    return read_mapping(read_yaml(text, "orders.yaml"), "orders.yaml")


def fields(document: object, text: str = ORDERS) -> list[dict[str, object]]:
    return [each.fields for each in apply(mapping(text), document, "line 1") if isinstance(each, Told)]


def refusals(document: object, text: str = ORDERS) -> list[str]:
    return [each.reason for each in apply(mapping(text), document, "line 1") if isinstance(each, Refused)]


def test_each_item_of_a_list_becomes_a_dated_claim_in_the_order_of_its_time() -> None:
    document = {
        "no": 7,
        "changes": [
            {"field": "state", "to": "PAID", "at": "2024-05-21T09:00:00Z", "by": "lena"},
            {"field": "state", "to": "NEW", "at": "2024-05-20T09:00:00Z", "by": "wei"},
            {"field": "colour", "to": "red", "at": "2024-05-22T09:00:00Z", "by": "wei"},
        ],
    }
    first, second = fields(document)
    assert first == {
        "id": "order:7:2024-05-20T09:00:00Z",
        "observed_at": 1716195600.0,
        "source": {"id": "order 7", "origin": "shop", "type": "ticket"},
        "agent": "wei",
        "session": "7",
        "entity": {"name": "order 7", "type": "order"},
        "kind": "instruction",
        "claims": [{"attribute": "status", "value": "new", "statement": "order 7: state is NEW"}],
    }
    assert second["claims"] == [{"attribute": "status", "value": "paid", "statement": "order 7: state is PAID"}]


def test_a_change_to_nothing_retracts() -> None:
    document = {"no": 7, "changes": [{"field": "owner", "to": None, "at": "2024-05-20"}]}
    assert fields(document)[0]["claims"] == [{"attribute": "owner", "stance": "retracts"}]


def test_let_takes_the_first_choice_that_has_a_value() -> None:
    document = {"order": {"no": 8}, "no": 7, "changes": [{"field": "owner", "to": "lena", "at": "2024-05-20"}]}
    assert fields(document)[0]["entity"] == {"name": "order 8", "type": "order"}


def test_a_wrapper_gives_the_documents_in_it() -> None:
    assert [each["text"] for each in fields({"orders": [{"note": "a", "at": 1}, {"note": "b", "at": 2}]})] == ["a", "b"]


def test_a_condition_that_excludes_leaves_the_record_out() -> None:
    assert "fits no record of mapping 'orders'" in refusals({"note": "buy now", "at": 1, "spam": True})[0]


def test_an_ignored_document_is_passed_over_and_no_mistake() -> None:
    assert list(apply(mapping(), {"kind": "ping"}, "line 1")) == [Skipped()]


def test_a_document_that_fits_nothing_is_refused_with_its_keys_and_where_to_look() -> None:
    assert refusals({"colour": "red", "size": 3}) == [
        "line 1: document: fits no record of mapping 'orders'; it has the keys colour, size; "
        "`beliefmesh sources show orders` prints what is expected"
    ]


def test_what_has_no_date_is_refused_and_never_dated_by_the_import() -> None:
    assert "observed_at: has no value in this document" in refusals({"note": "hello"})[0]


def test_a_date_that_there_is_not_is_refused_and_the_other_items_stay() -> None:
    document = {
        "no": 7,
        "changes": [
            {"field": "state", "to": "NEW", "at": "2024-02-31T09:00:00Z"},
            {"field": "owner", "to": "lena", "at": "2024-05-20T09:00:00Z"},
        ],
    }
    assert "'2024-02-31T09:00:00Z' is not a time" in refusals(document)[0]
    assert [each["entity"] for each in fields(document)] == [{"name": "order 7", "type": "order"}]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("claims:", "claim:", "orders.yaml.records[0].claim: is not a known field; did you mean 'claims'?"),
        ("kind: instruction", "kind: order", "orders.yaml.records[0].kind: is 'order'; use one of instruction,"),
        ("absent: retracts", "absent: drop", "orders.yaml.records[0].claims[0].absent: is 'drop'; use one of skip"),
        ("type: ticket}", "type: tickets}", "orders.yaml.records[0].source.type: is 'tickets'; use one of dialogue"),
        ('"{change.by}"', '"{change.by"', "has a single '{'; write {{ for the sign"),
        ('"{change.by}"', '"{change..by}"', "is not a path; write names with dots"),
        ("as: lower", "as: upper", "orders.yaml.records[0].claims[0].value.as: is 'upper'; use one of text"),
        ("each: {change: changes}", "each: changes", "orders.yaml.records[0].each: must name lists by path"),
        ("when: {note: '*'}", "when: 3", "must name paths with the values that fit"),
        ("  - name: note", "  - nam: note", "orders.yaml.records[1].nam: is not a known field; did you mean 'name'?"),
        ("name: orders\n", "", "orders.yaml.name: is missing; it is needed"),
        ("sort_by: change.at", "sort_by: [1]", "orders.yaml.records[0].sort_by: is [1]; write a path"),
        ("metadata: {shop: ", "metadata: {shop: x, shop: ", "the key 'shop' stands twice"),
    ],
)
def test_a_mistake_in_a_mapping_is_named_by_file_and_key(old: str, new: str, message: str) -> None:
    text = ORDERS.replace('when: {note: "*"}', "when: {note: '*'}")
    with pytest.raises(InvalidInput) as caught:
        mapping(text.replace(old, new))
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["records: [", "- a\n- b", "", "just words", "? [a]\n: b"])
def test_what_is_no_yaml_object_is_refused_by_the_name_of_the_file(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"orders\.yaml"):
        read_yaml(text, "orders.yaml")


def test_yaml_words_stay_words() -> None:
    assert read_yaml("a: on\nb: no\nc: 2024-05-20\nd: true", "x") == {
        "a": "on",
        "b": "no",
        "c": "2024-05-20",
        "d": True,
    }
