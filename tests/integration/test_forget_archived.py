"""Forgetting that is cut short reaches what a job has moved to the archive before it is completed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from beliefmesh.memory import Memory
from schemas.tombstone import grave
from stores.shelf import unpacked

OpenMemory = Callable[..., Memory]


def told(site: int) -> dict[str, object]:
    """What one site says of a flight, on a day of its own."""
    claim = {"attribute": "departure", "value": "19:35", "statement": "Flight 3 departs at 19:35."}
    at = {"observed_at": f"2024-01-{1 + site:02}", "source": f"site {site}"}
    return {"id": f"f3-{site}", "entity": "flight 3", "claims": [claim], **at}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """Eight sites say the same of a flight."""
    memory = open_memory(embedder="none:")
    memory.retain([told(site) for site in range(8)])
    return memory


def dies_after_its_tombstones(memory: Memory, bank: str, id: str) -> None:
    """Begin to forget an observation, and go no further than what makes it certain."""
    graves = [grave(bank, id)]
    memory.home.tombstones.add(bank, graves, memory.home.clock())
    memory.home.graph.bury(bank, graves)


def files_with(memory: Memory, text: bytes) -> list[str]:
    """The names of files that hold the text, packed or not."""
    found = []
    for file in memory.home.folder.path.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            if text in (unpacked(data, file.name) if file.parent.parent.name == "archive" else data):
                found.append(file.name)
    return found


def test_words_that_a_job_archived_meanwhile_go_when_it_is_completed(open_memory: OpenMemory, memory: Memory) -> None:
    dies_after_its_tombstones(memory, "default", "f3-2")
    assert memory.run_job("compaction").counts["voices"] == 7
    assert any(".jsonl." in name for name in files_with(memory, b"site 2"))
    memory.close()

    memory = open_memory(embedder="none:")

    assert files_with(memory, b"site 2") == []
    assert files_with(memory, b"site 3")
    assert memory.home.tombstones.unfinished() == []
    assert memory.doctor().differences == ()


def test_words_in_an_older_copy_of_the_archive_go_when_it_is_opened(
    open_memory: OpenMemory, memory: Memory, tmp_path: Path
) -> None:
    folder = memory.home.folder.path
    memory.run_job("compaction")
    memory.close()
    shutil.copytree(folder, tmp_path / "copy")
    memory = open_memory(embedder="none:")
    memory.forget(ids=["f3-2"])
    memory.close()
    for name in ("graph.db", "jobs.db"):
        for rest in folder.glob(f"{name}-*"):
            rest.unlink()
        shutil.copy(tmp_path / "copy" / name, folder / name)
    shutil.copytree(tmp_path / "copy" / "archive", folder / "archive", dirs_exist_ok=True)

    memory = open_memory(embedder="none:")

    assert files_with(memory, b"site 2") == []
    assert files_with(memory, b"site 3")


def test_what_cannot_be_brought_back_now_is_completed_once_it_can(
    open_memory: OpenMemory, memory: Memory, tmp_path: Path
) -> None:
    dies_after_its_tombstones(memory, "default", "f3-2")
    memory.run_job("compaction")
    (archive,) = (memory.home.folder.path / "archive").rglob("*.jsonl.*")
    away = archive.rename(tmp_path / "away")
    memory.retain({**told(1), "id": "other"}, bank="other")
    memory.close()

    memory = open_memory(embedder="none:")
    memory.forget(ids=["other"], bank="other")
    assert memory.home.tombstones.unfinished()
    assert memory.home.graph.evidence_of_observations("default", ["f3-2"]) == []
    memory.close()
    away.rename(archive)

    memory = open_memory(embedder="none:")
    assert memory.home.tombstones.unfinished() == []
    assert files_with(memory, b"site 2") == []
