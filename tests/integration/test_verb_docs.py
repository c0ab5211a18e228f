"""The pages of verbs and of ways in are true: Python prints what they say, commands and requests are there."""

import doctest
import inspect
import json
import re
import shlex
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import click
import pytest
from rich.console import Console

from beliefmesh.cli.entry import beliefmesh as cli
from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefmesh.show import show_serving

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((DOCS / "verbs").glob("[a-z]*.md"))
SETTINGS = '[stores]\nembedder = "hashing:256"\n'
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(page: Path, language: str) -> str:
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return "\n".join(text for kind, text in found if kind == language)


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the API says of each path, by a pattern of it."""
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path_factory.mktemp("mesh")), runtime="inline"),
        stores=StoreSettings(embedder="hashing:256"),
    )
    with Memory(settings=settings) as memory:
        paths = create_app(memory, settings).openapi()["paths"]
    return {re.sub(r"\{\w+\}", "[^/]+", path): told for path, told in paths.items()}


def lines(program: str) -> list[list[str]]:
    told = [line for page in PAGES for line in blocks(page, "sh").splitlines()]
    return [shlex.split(line)[1:] for line in told if line.startswith(program)]


@pytest.mark.parametrize("page", [*PAGES, DOCS / "mem0.md", DOCS / "langgraph.md"], ids=lambda page: page.stem)
def test_the_python_of_a_page_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beliefmesh.toml").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    test = doctest.DocTestParser().get_doctest(blocks(page, "pycon"), names, page.stem, str(page), 0)
    told: list[str] = []

    doctest.DocTestRunner().run(test, out=told.append, clear_globs=False)

    for opened in test.globs.values():
        if isinstance(opened, Memory):
            opened.close()
    assert "".join(told) == ""
    assert test.examples


@pytest.mark.parametrize("arguments", lines("beliefmesh"), ids=" ".join)
def test_a_command_of_a_page_is_one_that_there_is(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("answers.jsonl", "acme.jsonl.zst", "observations.jsonl"):
        (tmp_path / name).touch()
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        name, found, arguments = command.resolve_command(context, list(arguments))
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)

    command.parse_args(context, list(arguments))


@pytest.mark.parametrize("arguments", lines("curl"), ids=" ".join)
def test_a_request_of_a_page_has_a_route_its_parameters_and_a_body_that_is_json(
    arguments: list[str], routes: dict[str, Any]
) -> None:
    address = urlsplit(next(one for one in arguments if one.startswith("http")))
    body = arguments[arguments.index("-d") + 1] if "-d" in arguments else "{}"
    method = "post" if {"-d", "--data-binary", "-X"} & set(arguments) else "get"

    fit = [told for path, told in routes.items() if method in told and re.fullmatch(path, address.path)]

    assert fit
    known = {parameter["name"] for parameter in fit[0][method].get("parameters", ())}
    assert {name for name, _ in parse_qsl(address.query)} <= known
    assert isinstance(json.loads(body), dict)


def test_the_request_of_the_readme_is_the_one_that_a_served_mesh_tells() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    told = StringIO()

    show_serving(Console(file=told, width=200), "http://127.0.0.1:7420", "default", guarded=False, local=True)

    assert re.findall(r"curl .*", readme)[0] in told.getvalue()


NO_VERBS = {"close", "connect", "is_known", "summariser"}
"""What opens and closes, and what other parts of the house ask."""


def test_each_verb_has_a_page_that_the_contents_name() -> None:
    contents = (PAGES[0].parent / "README.md").read_text(encoding="utf-8")
    headings = {page.stem: page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in PAGES}
    paged = [verb for heading in headings.values() for verb in heading.split(", ")]
    public = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}

    assert sorted(paged) == sorted(public - NO_VERBS)
    assert set(re.findall(r"\((\w+)\.md\)", contents)) == headings.keys()
    assert all("**Errors.**" in page.read_text(encoding="utf-8") for page in PAGES)


def test_each_route_stands_on_a_page_as_it_is_asked(routes: dict[str, Any]) -> None:
    pages = [*PAGES, *(DOCS / name for name in ("http.md", "backup.md", "access.md", "sources.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"/v1/[^\s?\"'`)]+", text))

    unseen = [path for path in routes if path.startswith("/v1") and not any(re.fullmatch(path, one) for one in shown)]
    assert unseen == []
