"""Settings history: what a change claims, in which order changes are sent, and what counts as misread."""

from beliefmesh.evaluate.config import (
    Held,
    Key,
    SettingChange,
    TruthAt,
    arranged,
    misread,
    observation_of,
    slot_of,
    stated,
)

CHANGE = SettingChange(
    id="c-1", at=1761825192, agent="agent-7", entity="pyproject.toml", attribute="a.b", value=">=3.0"
)


def test_a_change_is_an_instruction_of_the_new_value() -> None:
    assert observation_of(CHANGE) == {
        "id": "c-1",
        "agent": "agent-7",
        "source": {"id": "agent-7", "origin": "agent-7", "type": "document"},
        "observed_at": 1761825192,
        "kind": "instruction",
        "tier": "high",
        "claims": [{"entity": {"name": "pyproject.toml", "type": "file"}, "attribute": "a.b", "value": ">=3.0"}],
    }


def test_a_removed_setting_is_a_retraction() -> None:
    removed = SettingChange(id="c-2", at=1, agent="a", entity="f", attribute="k", value=None)

    claim = {"entity": {"name": "f", "type": "file"}, "attribute": "k", "stance": "retracts"}
    assert observation_of(removed)["claims"] == [claim]


def test_an_empty_text_is_stated_as_a_pair_of_quotes() -> None:
    assert stated("") == '""'
    assert stated("x") == "x"
    assert stated(False) is False


def test_without_a_seed_the_order_stays() -> None:
    told: list[dict[str, object]] = [{"id": n} for n in range(5)]

    assert arranged(told, None, 0.0) == told


def test_a_seed_gives_the_same_order_each_time_and_a_share_is_sent_twice() -> None:
    told: list[dict[str, object]] = [{"id": n} for n in range(10)]

    sent = arranged(told, 7, 0.2)

    assert sent == arranged(told, 7, 0.2)
    assert sent != told
    assert len(sent) == 12
    assert {one["id"] for one in sent} == set(range(10))


def test_what_differs_from_the_truth_is_told() -> None:
    kept, changed, gone = Key("f", "kept"), Key("f", "changed"), Key("f", "gone")
    truth = TruthAt(as_of=1, state=[Held("f", "kept", 1), Held("f", "changed", "new")], absent=[gone])
    believed = {slot_of(kept): [1], slot_of(changed): ["old"], slot_of(gone): ["x"]}

    assert list(misread(truth, believed)) == ["f changed: ['old'] instead of 'new'", "f gone: ['x'] instead of nothing"]


def test_a_slot_with_two_live_values_is_misread() -> None:
    truth = TruthAt(as_of=1, state=[Held("f", "kept", 1)])

    assert list(misread(truth, {slot_of(Key("f", "kept")): [1, 2]})) == ["f kept: [1, 2] instead of 1"]
