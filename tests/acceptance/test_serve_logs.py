"""What `serve` writes to standard error where logs are JSON: lines of one shape, whoever logs."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

pytestmark = pytest.mark.timeout(120)


def test_every_line_is_an_event_with_level_and_time_the_servers_own_too(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")} | {
        "BELIEFMESH_MESH__RUNTIME": "inline",
        "BELIEFMESH_STORES__EMBEDDER": "none:",
        "BELIEFMESH_LOGGING__LEVEL": "info",
        "BELIEFMESH_LOGGING__FORMAT": "json",
        "BELIEFMESH_HTTP__STOP_DELAY": "0",
    }
    command = [sys.executable, "-m", "beliefmesh", "serve", "--port", "0", "--folder", str(tmp_path / "mesh")]
    told: list[str] = []
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        for line in lines:
            told.append(line)
            if json.loads(line)["event"] == "http.serving":
                break
        address = json.loads(told[-1])["address"]
        rest = threading.Thread(target=lambda: told.extend(lines))
        rest.start()
        httpx.post(f"{address}/v1/banks/shop/observations?wait=true", json="The desk opens at 9.", timeout=30)
        at = urlsplit(address)
        with socket.create_connection((at.hostname, at.port)) as rude:
            rude.sendall(b"no request at all\r\n\r\n")
            assert rude.recv(4_096)
        process.send_signal(signal.SIGTERM)
        rest.join(60)

    events = [json.loads(line) for line in told]
    assert all({"event", "level", "timestamp"} <= event.keys() for event in events)
    assert {"http.serving", "observations.accepted", "library.logged"} <= {event["event"] for event in events}
    from_server = [event for event in events if event.get("logger") == "uvicorn.error"]
    assert any("Invalid HTTP request" in event["message"] for event in from_server)
    assert process.returncode == 0
