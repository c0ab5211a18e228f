"""Jobs over HTTP and from the command line: the same runs, the same errors."""

import json

import pytest
from fastapi.testclient import TestClient

from beliefmesh.cli.entry import run
from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from jobs.catalogue import JOBS
from schemas.errors import InvalidInput


@pytest.fixture
def client(memory: Memory):
    memory.retain("The door is red.", source="desk")
    with TestClient(create_app(memory, memory.home.settings), raise_server_exceptions=False) as opened:
        yield opened


def test_a_job_is_run_and_its_run_is_told(client: TestClient) -> None:
    listed = {job["name"]: job for job in client.get("/v1/jobs").json()["jobs"]}
    assert list(listed) == list(JOBS)
    assert (listed["decay"]["hours"], listed["archive"]["arguments"]) == (1.0, {"after_days": "365.0"})

    ran = client.post("/v1/banks/default/jobs/reindex?mode=dry run")
    assert ran.status_code == 200
    assert (ran.json()["mode"], ran.json()["counts"]["beliefs"] > 0) == ("dry run", True)
    assert ran.json()["ended"] is not None
    assert client.get(f"/v1/job-runs/{ran.json()['id']}").json() == ran.json()
    assert client.get("/v1/job-runs?job=reindex").json()["runs"] == [ran.json()]
    assert [side["treated"] for side in client.get("/v1/job-sides").json()["sides"]] == [True, False]
    last = {job["name"]: job["last"] for job in client.get("/v1/banks/default/jobs").json()["jobs"]}
    assert (last["reindex"], last["decay"]) == (ran.json(), None)


def test_arguments_are_told_by_name_and_never_name_a_file_from_afar(client: TestClient) -> None:
    def ran(job: str, arguments: object) -> tuple[int, object]:
        answer = client.post(f"/v1/banks/default/jobs/{job}?mode=dry run", json={"arguments": arguments})
        told = answer.json()
        return answer.status_code, told["arguments"] if answer.status_code == 200 else told["error"]["message"]

    assert ran("archive", {"after_days": "7"}) == (200, {"after_days": "7"})
    assert ran("archive", {"after_days": "soon"}) == (
        422,
        "after_days: is 'soon'; use a number from 0 to 100000",
    )
    assert ran("archive", {"days": "7"}) == (
        422,
        "days: is no argument of the job archive; it takes after_days",
    )
    assert ran("decay", {"x": "7"}) == (422, "x: is no argument of the job decay; it takes none")
    assert ran("calibrate", {"gold": "/etc/passwd"}) == (
        422,
        "gold: names a file of the mesh's own machine; set jobs.calibrate_gold there",
    )
    assert ran("archive", [1]) == (422, "arguments: must be an object, not list")
    assert ran("evaluate", {"evaluation": "all"})[0] == 422


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("POST", "/v1/banks/default/jobs/nothing", 404, "not_found"),
        ("POST", "/v1/banks/unknown/jobs/decay", 404, "unknown_bank"),
        ("POST", "/v1/banks/default/jobs/decay?mode=fast", 422, "invalid_input"),
        ("POST", "/v1/banks/default/jobs/decay?seconds=0", 422, "invalid_input"),
        ("POST", "/v1/banks/default/jobs/decay?seconds=nan", 422, "invalid_input"),
        ("GET", "/v1/job-runs/j1", 404, "not_found"),
        ("GET", "/v1/job-runs?limit=0", 422, "invalid_input"),
    ],
)
def test_what_cannot_be_run_gets_a_named_error(
    client: TestClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_jobs_are_listed_run_and_remembered_from_the_command_line(tmp_path, capfdbinary) -> None:
    folder = ["--folder", str(tmp_path / "mesh"), "--json"]
    assert run(["retain", "The door is red.", *folder]) == 0
    capfdbinary.readouterr()

    assert run(["jobs", "list", *folder]) == 0
    listed = {job["name"]: job for job in json.loads(capfdbinary.readouterr().out)}
    assert run(["jobs", "run", "decay", "--dry-run", *folder]) == 0
    ran = json.loads(capfdbinary.readouterr().out)
    assert run(["jobs", "history", *folder]) == 0
    history = json.loads(capfdbinary.readouterr().out)
    assert run(["jobs", "show", ran["id"], "--folder", str(tmp_path / "mesh")]) == 0
    shown = capfdbinary.readouterr().out.decode()
    assert run(["jobs", "history", "--folder", str(tmp_path / "mesh")]) == 0
    lines = capfdbinary.readouterr().out.decode()
    assert run(["jobs", "run", "nothing", *folder]) == 3
    capfdbinary.readouterr()
    assert run(["jobs", "run", "archive", "--set", "after_days=7", "--dry-run", *folder]) == 0
    told = json.loads(capfdbinary.readouterr().out)
    assert run(["jobs", "run", "archive", "--set", "after_days", *folder]) == 2
    capfdbinary.readouterr()
    assert run(["jobs", "compare", "--folder", str(tmp_path / "mesh")]) == 0
    sides = capfdbinary.readouterr().out.decode()
    assert run(["jobs", "list", "--folder", str(tmp_path / "mesh")]) == 0
    table = capfdbinary.readouterr().out.decode()

    assert (listed["decay"]["hours"], listed["decay"]["last"]) == (1.0, None)
    assert told["arguments"] == {"after_days": "7"}
    assert "treated" in sides
    assert "every 1 h" in table
    assert "dry run, ended" in table
    assert (ran["job"], ran["mode"], history) == ("decay", "dry run", [ran])
    assert f"decay on bank default, dry run, run {ran['id']}: ended" in shown
    assert lines.startswith(f"{ran['id']}  decay on bank default, dry run, began ")


def test_a_client_elsewhere_lists_runs_and_compares_jobs(url: str, memory: Memory) -> None:
    memory.retain(
        {"entity": {"name": "Bob Miller", "type": "person"}, "claims": [{"attribute": "email", "value": "b@a"}]}
    )
    memory.retain(
        {"entity": {"name": "Robert Miller", "type": "person"}, "claims": [{"attribute": "email", "value": "b@a"}]}
    )
    remote = Memory.connect(url)

    ran = remote.run_job("merge-proposals", arguments={"at_least": "0.6"})

    assert (ran.counts["proposals"], ran.arguments) == (1, {"at_least": "0.6"})
    assert {job.name: job.last for job in remote.jobs()}["merge-proposals"] == ran
    assert [one.found_at for one in remote.merge_proposals(at_least=0.6)] == [memory.home.clock()]
    assert [one.found_at for one in remote.merge_proposals(fresh=True)] == [None]
    assert remote.job_sides() == memory.job_sides()
    with pytest.raises(InvalidInput, match="gold: names a file of the mesh's own machine"):
        remote.run_job("calibrate", arguments={"gold": "gold.tsv"})
