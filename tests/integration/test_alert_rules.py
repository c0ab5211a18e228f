"""Dashboard and alert rules speak of metrics that are exposed; every alert says what it means and where to read on."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from beliefmesh.memory import Memory

ROOT = Path(__file__).parents[2]
RULES = [
    rule
    for group in yaml.safe_load((ROOT / "helm/beliefmesh/rules/beliefmesh.yaml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((ROOT / "helm/beliefmesh/dashboards/beliefmesh.json").read_text())
METRIC = re.compile(r"\b(?:beliefmesh|process)_\w+")
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
OF_THE_SCRAPE = {"le", "instance"}


def targets() -> list[dict[str, Any]]:
    return [target for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


def expressions() -> list[str]:
    variables = [one["definition"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
    return [target["expr"] for target in targets()] + [rule["expr"] for rule in RULES] + variables


def documented_labels() -> dict[str, set[str]]:
    rows = re.findall(
        r"^\| `(beliefmesh_\w+)(?:\{([\w,]*)\})?` \|", (ROOT / "docs/observing.md").read_text(), re.MULTILINE
    )
    return {name: set(filter(None, labels.split(","))) for name, labels in rows}


def test_every_metric_of_dashboard_and_rules_is_exposed(memory: Memory, url: str) -> None:
    memory.retain("Free shipping from 200.")
    memory.recall("From what amount is shipping free?")
    families = text_string_to_metric_families(httpx.get(f"{url}/metrics", timeout=30.0).text)
    exposed = {family.name + suffix for family in families for suffix in SUFFIXES[family.type]}

    named = {name for expression in expressions() for name in METRIC.findall(expression)}

    assert named - exposed == set()
    assert len(named) > 30


def test_an_expression_selects_and_groups_by_labels_that_its_metrics_have() -> None:
    labels = documented_labels()
    for expression in expressions():
        for name, matchers in re.findall(r"(beliefmesh_\w+)\{([^}]*)\}", expression):
            base = next(one for one in labels if re.fullmatch(rf"{one}(_bucket|_sum|_count)?", name))
            asked = set(re.findall(r"(\w+)=~?\"", matchers))
            assert asked <= labels[base] | OF_THE_SCRAPE, expression
        grouped = {
            label.strip() for some in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression) for label in some.split(",")
        }
        known = set().union(*labels.values()) | OF_THE_SCRAPE
        assert grouped <= known, expression


@pytest.mark.parametrize("expression", expressions())
def test_an_expression_closes_what_it_opens(expression: str) -> None:
    outside_texts = re.sub(r'"[^"]*"', '""', expression)

    assert [outside_texts.count(one) for one in "({["] == [outside_texts.count(one) for one in ")}]"]
    assert expression.count('"') % 2 == 0


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_an_alert_says_what_it_means_and_where_to_read_on(rule: dict[str, Any]) -> None:
    told = rule["annotations"]
    page, _, anchor = told["runbook_url"].partition("#")
    headings = re.findall(r"^#+ (\w+)$", (ROOT / page).read_text(), re.MULTILINE)

    assert told["summary"]
    assert told["description"]
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert anchor == rule["alert"].lower()
    assert rule["alert"] in headings


def test_the_page_of_alerts_explains_no_other() -> None:
    headings = re.findall(r"^### (\w+)$", (ROOT / "docs/alerts.md").read_text(), re.MULTILINE)

    assert sorted(headings) == sorted(rule["alert"] for rule in RULES)


def test_panels_of_the_dashboard_have_titles_descriptions_and_places_of_their_own() -> None:
    panels = DASHBOARD["panels"]
    drawn = [panel for panel in panels if panel["type"] != "row"]

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)
    assert all(panel["title"] and panel["description"] and panel["targets"] for panel in drawn)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)
