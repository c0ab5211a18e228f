"""The examples of docs/sources.md are what they say."""

import io
import json
import re
from pathlib import Path

from schemas.instant import parse_instant
from streams.sources.apply import apply
from streams.sources.mapping import read_mapping
from streams.sources.pattern_file import read_pattern_file
from streams.sources.registry import list_sources, source_at
from streams.sources.told import Told
from streams.sources.yaml_file import read_yaml

PAGE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
MAPPING, PATTERNS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
NOW = parse_instant("2024-06-10T12:00:00Z", "now")


def test_the_mapping_makes_of_the_document_what_the_page_says() -> None:
    document = re.search(r"Of `(\{.*?\})` it makes", PAGE)
    assert document is not None
    mapping = read_mapping(read_yaml(MAPPING, "orders.yaml"), "orders.yaml")
    told = [each.fields for each in apply(mapping, json.loads(document[1]), "line 1") if isinstance(each, Told)]
    assert [(each["agent"], each["entity"]) for each in told] == [("lena", {"name": "order 7", "type": "order"})]
    assert told[0]["claims"] == [{"attribute": "status", "value": "paid", "statement": "order 7: state is PAID"}]


def test_the_pattern_file_reads_its_log(tmp_path: Path) -> None:
    read_pattern_file(read_yaml(PATTERNS, "shop.yaml"), "shop.yaml")
    (tmp_path / "shop.yaml").write_text(PATTERNS, encoding="utf-8")
    lines = ("09:00:00 INFO till: payment received for order 7", "09:01:00 INFO till: order 7 is now closed")
    log = "\n".join(f"2024-06-10T{line}" for line in lines).encode()
    found = source_at(tmp_path / "shop.yaml").read(io.BytesIO(log), "shop.log", NOW, NOW)
    states = [each.fields["claims"][0] for each in found if isinstance(each, Told) and each.lines]  # type: ignore[index]
    assert [(state["entity"]["name"], state["value"]) for state in states] == [("7", "paid"), ("7", "done")]


def test_every_bundled_source_is_on_the_page() -> None:
    assert [each.name for each in list_sources() if f"`{each.name}`" not in PAGE] == []
