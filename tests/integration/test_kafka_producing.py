"""The program of docs/producing.md against a real broker: what it sends is learned, once, with nothing set aside."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings
from schemas.routing import partition_of

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "producing.md"


def run_program(folder: Path, *arguments: str) -> None:
    """Run the page's program as its reader would, where nothing of this library can be found beside it."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = folder / "tell.py"
    file.write_text(program, encoding="utf-8")
    subprocess.run([sys.executable, "-P", str(file), *arguments], cwd=folder, check=True, timeout=60)


def test_what_the_documented_program_sends_is_learned(kafka: str, tmp_path: Path) -> None:
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(embedder="hashing:256", log=f"kafka://{kafka}"),
        streams=StreamSettings(prefix="producing-"),
    )
    with Memory(settings=settings) as memory:
        run_program(tmp_path, kafka, "producing-observations")
        memory.home.worker.drain()
        log = memory.home.log
        sent = [record for place in range(8) for record in log.read("producing-observations", place, 0, 10)]

        assert {record.key for record in sent} == {"default/service/checkout", "default/service/search"}
        assert all(record.partition == partition_of(record.key, 8) for record in sent)
        assert memory.dead_letters() == []
        assert {(belief.entity.name, belief.value) for belief in memory.holders()} == {
            ("checkout", "down"),
            ("search", "up"),
        }
