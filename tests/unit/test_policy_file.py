"""A policy as an operator writes it."""

from pathlib import Path

import pytest

from beliefmesh.policy_file import read_policy
from schemas.errors import InvalidSetting
from schemas.policy import AttributeRule

YAML = """
state_half_life_days: 10
attributes:
  - {pattern: "departure*", type: time, tolerance: 600}
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
    ],
)
def test_a_senseless_policy_is_refused_by_name(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(InvalidSetting, match=told):
        read_policy(tmp_path / "policy.yaml")


def test_a_missing_policy_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="cannot read"):
        read_policy(tmp_path / "none.yaml")
