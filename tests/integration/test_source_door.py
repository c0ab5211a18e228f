"""The front door of sources and trust: signed webhooks, lines read once more, calibration from elsewhere."""

import hashlib
import hmac
import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, WebhookSettings
from beliefmesh.sourced import import_source
from schemas.errors import InvalidInput, NotFound, WrongSignature
from schemas.instant import parse_instant
from streams.sources.registry import open_source

NOW = parse_instant("2024-06-10T12:00:00Z", "now")
OPENED = {
    "action": "opened",
    "issue": {
        "number": 7,
        "title": "Total is wrong",
        "state": "open",
        "created_at": "2024-06-01T10:00:00Z",
        "updated_at": "2024-06-01T10:00:00Z",
        "html_url": "https://github.com/shop/web/issues/7",
        "user": {"login": "lena"},
    },
    "repository": {"full_name": "shop/web"},
    "sender": {"login": "lena"},
}
ORDERS = """
name: orders
records:
  - name: order
    observed_at: "{at}"
    when: {KEY: "*"}
    id: "order:{no}:{at}"
    entity: {name: "order {no}", type: order}
    source: {id: shop}
    claims:
      - {attribute: state, value: "{KEY}", statement: "order {no} is {KEY}"}
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(embedder="none:"),
        webhooks=WebhookSettings(github_secret="hush"),
    )
    with Memory(settings=settings, clock=lambda: NOW) as opened:
        yield opened


def signed(body: bytes, secret: str) -> dict[str, str]:
    return {"X-Hub-Signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


def test_a_webhook_with_a_wrong_signature_is_refused_and_keeps_nothing(memory: Memory, url: str) -> None:
    body, place = json.dumps(OPENED).encode(), f"{url}/v1/banks/default/sources/github?wait=true"

    for headers in ({}, signed(body, "guess")):
        refused = httpx.post(place, content=body, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, WrongSignature.code)
        assert "webhooks.github_secret" in refused.json()["error"]["message"]
        assert "hush" not in refused.text
    assert memory.banks() == []

    assert httpx.post(place, content=body, headers=signed(body, "hush")).status_code == 200
    assert memory.banks() == ["default"]


def test_the_reply_to_a_signed_webhook_is_not_given_again_to_one_without_its_signature(
    memory: Memory, url: str
) -> None:
    body, place = json.dumps(OPENED).encode(), f"{url}/v1/banks/default/sources/github?wait=true"
    key = {"Idempotency-Key": "delivery-1"}
    first = httpx.post(place, content=body, headers={**key, **signed(body, "hush")})

    unsigned = [httpx.post(place, content=body, headers={**key, **more}) for more in ({}, signed(body, "guess"))]
    again = httpx.post(place, content=body, headers={**key, **signed(body, "hush")})

    assert [reply.status_code for reply in unsigned] == [401, 401]
    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")


def put_orders(memory: Memory, key: str) -> None:
    folder = Path(memory.home.settings.mesh.folder) / "sources"
    folder.mkdir(exist_ok=True)
    (folder / "orders.yaml").write_text(ORDERS.replace("KEY", key))


def test_a_line_that_was_set_aside_is_read_again_once_its_source_is_corrected(memory: Memory) -> None:
    put_orders(memory, "colour")
    line = b'{"no": 7, "status": "paid", "at": "2024-06-01"}\n'
    own = Path(memory.home.settings.mesh.folder) / "sources"
    assert import_source(memory, open_source("orders", own), io.BytesIO(line), "orders.jsonl").dead == 1
    (letter,) = memory.dead_letters()

    with pytest.raises(InvalidInput, match="still cannot be read"):
        memory.replay_dead_letter(letter.id)
    assert memory.dead_letters() == [letter]

    put_orders(memory, "status")
    memory.replay_dead_letter(letter.id)

    assert memory.dead_letters() == []
    (belief,) = memory.history(entity={"name": "order 7", "type": "order"}, attribute="state").beliefs
    assert belief.value == "paid"
    with pytest.raises(NotFound):
        memory.replay_dead_letter(letter.id)


def test_a_line_whose_source_has_no_name_here_is_not_replayed_and_stays(memory: Memory, tmp_path: Path) -> None:
    put_orders(memory, "colour")
    own = Path(memory.home.settings.mesh.folder) / "sources"
    import_source(memory, open_source("orders", own), io.BytesIO(b'{"no": 7}\n'), "orders.jsonl")
    (own / "orders.yaml").unlink()
    (letter,) = memory.dead_letters()

    with pytest.raises(InvalidInput, match="importing again"):
        memory.replay_dead_letter(letter.id)
    assert memory.dead_letters() == [letter]


def sighting(flight: str, gate: str, source: str) -> dict[str, object]:
    claims = [{"entity": flight, "attribute": "gate", "value": gate, "kind": "observation"}]
    return {"agent": source, "observed_at": "2024-06-09", "claims": claims}


def test_a_client_calibrates_as_the_memory_itself_does(memory: Memory, url: str) -> None:
    for n in range(20):
        memory.retain([sighting(f"UA {n}", f"B{n}", "airport"), sighting(f"UA {n}", f"X{n}", "blog")])
    gold = [
        {"entity": {"name": f"UA {n}"}, "attribute": "gate", "value": f"B{n}", "as_of": "2024-06-10"} for n in range(9)
    ]
    expected = memory.calibrate(gold, dry_run=True)
    remote = RemoteMemory(url)

    assert remote.calibrate(gold, dry_run=True) == expected
    assert memory.home.graph.policy("default").trust.version == 0
    learned = remote.calibrate(gold)
    assert (learned.applied, learned.version, learned.outcomes) == (True, 1, 9)
    assert memory.home.graph.policy("default").trust.version == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"gold": "B1"}, "gold"),
        ({"gold": [{"entity": "UA 1"}]}, "gold[0]"),
        ({"gold": [], "dry_run": "yes"}, "dry_run"),
        ({"gould": []}, "gould"),
        ({}, "gold"),
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused_by_field(url: str, body: dict[str, object], field: str) -> None:
    answer = httpx.post(f"{url}/v1/banks/default/calibrate", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_the_command_line_lists_what_going_back_may_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "none:")
    told = [("Set the theme to dark.", 1), ("Set the theme to light.", 2), ("Set the language to English.", 3)]
    told += [("Set the language to German.", 4), ("Go back to the previous setting.", 5)]
    for text, day in told:
        done = CliRunner().invoke(beliefmesh, ["retain", text, "--agent", "ann", "--at", f"2024-05-0{day}"])
        assert done.exit_code == 0, done.output
    assert "nothing was set back" in done.output
    assert "theme, theme: light, back to dark" in done.output
