"""The budget evaluation: the orders by which turns are kept, and its curve over a small conversation."""

import json

from click.testing import CliRunner

from beliefmesh.evaluate.budget import by_last_use, by_value
from beliefmesh.evaluate.cli import eval_group
from beliefmesh.evaluate.locomo_data import DialogueTurn

SAID = ["I moved to Lisbon in 2019.", "Wow!", "Nice.", "Lisbon must be lovely.", "Yes it is."]
TURNS = [DialogueTurn((1, place), "Ana", text, "", "", place) for place, text in enumerate(SAID, 1)]


def test_a_fact_is_kept_before_chatter() -> None:
    assert by_value(TURNS)[0] == "D1:1"


def test_a_turn_that_a_later_one_recalls_counts_as_used_then() -> None:
    assert by_last_use(TURNS) == ["D1:5", "D1:4", "D1:1", "D1:3", "D1:2"]


def test_the_curve_names_every_way_of_forgetting(tmp_path) -> None:
    conversation = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ana", "dia_id": f"D1:{place}", "text": text} for place, text in enumerate(SAID, 1)],
    }
    asked = [{"question": "When did Ana move to Lisbon?", "answer": "2019", "evidence": ["D1:1"], "category": 2}]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"conversation": conversation, "qa": asked}]), "utf-8")

    done = CliRunner().invoke(eval_group, ["budget", "--data", str(path), "--embedder", "none:", "--json"])

    assert done.exit_code == 0, done.output
    curves = json.loads(done.stdout.splitlines()[-1])["recall@10"]
    assert curves["all turns"] == [1.0]
    assert curves["value"][0] == 1.0
    assert curves["newest"] == [0.0, 0.0, 0.0]
    assert sorted(curves) == ["all turns", "lru", "newest", "random", "value"]
