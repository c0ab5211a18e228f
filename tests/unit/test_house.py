"""The structure of the house: room names, public names, files."""

import re
from importlib.metadata import packages_distributions
from pathlib import Path

from fastapi.routing import APIRoute

import beliefmesh
from beliefmesh.http.app import FAMILIES
from beliefmesh.http.replies import REPLIES

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("beliefmesh", "streams", "jobs", "actors", "recall", "beliefs", "stores", "schemas")


def test_no_room_bears_a_name_that_a_dependency_ships() -> None:
    shipped = packages_distributions()
    taken = {room: shipped.get(room, []) for room in ROOMS}
    assert {room for room, owners in taken.items() if set(owners) - {"beliefmesh"}} == set()


def test_only_the_front_door_exports_names() -> None:
    assert beliefmesh.__all__ == ["AsyncMemory", "Memory", "RemoteMemory", "__version__"]
    for room in ROOMS[1:]:
        lines = (ROOT / room / "__init__.py").read_text(encoding="utf-8").strip().splitlines()
        assert lines[0].startswith('"""')
        assert not any(line.startswith(("import ", "from ")) for line in lines), room


def test_every_module_opens_with_what_it_knows() -> None:
    silent = [
        str(file.relative_to(ROOT))
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        if not file.read_text(encoding="utf-8").startswith('"""')
    ]
    assert silent == []


def test_ray_is_named_in_one_folder_only() -> None:
    naming = {
        file.parent.relative_to(ROOT).as_posix()
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        if "import ray" in file.read_text(encoding="utf-8")
    }
    assert naming == {"actors/cluster"}


def test_every_route_of_the_api_has_a_reply_in_the_table() -> None:
    routes = [route for family in FAMILIES for route in family.router.routes if isinstance(route, APIRoute)]
    told = {(method, route.path) for route in routes if route.include_in_schema for method in route.methods}

    assert len(told) > 40
    assert told - REPLIES.keys() == set()


def test_the_environment_is_read_in_one_file_only() -> None:
    reading = {
        file.relative_to(ROOT).as_posix()
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        if "os.environ" in file.read_text(encoding="utf-8")
    }
    assert reading == {
        "beliefmesh/settings.py",
        "beliefmesh/__init__.py",
        "actors/cluster/__init__.py",
        "actors/cluster/start.py",
    }


def test_every_file_that_the_documentation_names_is_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {path for page in pages for path in re.findall(r"`(\w+/[\w/]+\.\w+)`", page.read_text(encoding="utf-8"))}
    assert "streams/embedded.py" in named
    assert {path for path in named if not (ROOT / path).is_file()} == set()
