"""A policy as an operator writes it."""

from pathlib import Path

import pytest

from beliefmesh.policy_file import read_policy
from schemas.budget import Budget
from schemas.errors import InvalidSetting
from schemas.policy import AttributeRule, Authority
from schemas.profile import Profile

YAML = """
state_half_life_days: 10
attributes:
  - {pattern: "departure*", type: time, tolerance: 600}
"""

AUTHORITIES = """
groups:
  finance: [treasurer, "ledger-*"]
authorities:
  - {group: finance, attribute: "payee*", entity_type: invoice}
  - {source_type: ticket, rank: 1}
  - {may_instruct: false}
"""


def test_a_policy_is_read_from_yaml_and_toml(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(YAML, encoding="utf-8")
    (tmp_path / "policy.toml").write_text("stale_below = 0.6\n", encoding="utf-8")

    from_yaml = read_policy(tmp_path / "policy.yaml")

    assert from_yaml.state_half_life_days == 10.0
    assert from_yaml.attributes == (AttributeRule(pattern="departure*", type="time", tolerance=600.0),)
    assert read_policy(tmp_path / "policy.toml").stale_below == 0.6


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("stale_below: 2\n", "policy.stale_below"),
        ("half_life: 3\n", "'half_life'"),
        ("attributes: 7\n", "attributes"),
        ("attributes: [{pattern: x, cardinality: few}]\n", "cardinality"),
        (":\n  - [", "policy.yaml"),
        ("authorities: [{agnt: boss}]\n", r"authorities\[0\] has 'agnt'; it may have agent"),
        ("authorities: [{agent: boss}]\n", "end them with {may_instruct: false}"),
        ("authorities: [{group: staff}, {may_instruct: false}]\n", r"authorities\[0\].group.*policy.groups"),
        ("authorities: [{source_type: rumour}, {}]\n", r"authorities\[0\].source_type.*dialogue"),
        ("attributes: [{patern: x}]\n", r"attributes\[0\] has 'patern'"),
        ("trust: {version: 3}\n", "run beliefmesh calibrate"),
    ],
)
def test_a_senseless_policy_is_refused_by_name(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(InvalidSetting, match=told):
        read_policy(tmp_path / "policy.yaml")


def test_authorities_are_read_with_their_groups(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(AUTHORITIES, encoding="utf-8")

    policy = read_policy(tmp_path / "policy.yaml")

    assert policy.groups == {"finance": ("treasurer", "ledger-*")}
    assert policy.authorities == (
        Authority(group="finance", attribute="payee*", entity_type="invoice"),
        Authority(source_type="ticket", rank=1),
        Authority(may_instruct=False),
    )


def test_the_policy_that_the_documentation_shows_is_accepted(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(page.split("```yaml")[1].split("```")[0], encoding="utf-8")

    policy = read_policy(tmp_path / "policy.yaml")

    assert [entry.may_instruct for entry in policy.authorities] == [True, True, False]
    assert policy.reliabilities[0].weight == 2.0


def test_a_missing_policy_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="cannot read"):
        read_policy(tmp_path / "none.yaml")


def test_a_budget_and_goals_are_read_and_a_misspelled_bound_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("goals: [refunds]\nbudget: {beliefs: 100, erase: true}\n", encoding="utf-8")
    assert read_policy(file).budget == Budget(beliefs=100, erase=True)
    assert read_policy(file).goals == ("refunds",)

    file.write_text("budget: {belief: 100}\n", encoding="utf-8")
    with pytest.raises(InvalidSetting, match="budget has 'belief'"):
        read_policy(file)


def test_a_profile_may_stand_in_the_file_and_a_trait_that_is_none_is_refused(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("profile: {skepticism: 5}\n")
    bad.write_text("profile: {humour: 5}\n")

    assert read_policy(good).profile == Profile(skepticism=5)
    with pytest.raises(InvalidSetting, match="profile has 'humour'"):
        read_policy(bad)
