"""Runs an evaluation by its name on the data in a place, and gives its figures by name; also as a process."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from beliefmesh.evaluate.budget import evaluate_budget
from beliefmesh.evaluate.config import evaluate_config
from beliefmesh.evaluate.entities.evaluate import evaluate_entities
from beliefmesh.evaluate.flight import evaluate_flight
from beliefmesh.evaluate.locomo import evaluate_locomo
from beliefmesh.evaluate.rules.evaluate import evaluate_rules
from beliefmesh.failure import error_to_builtins, exit_code
from schemas.errors import BeliefmeshError, InvalidInput
from schemas.job import Evaluation


def figures_of(evaluation: Evaluation, data: str) -> dict[str, float]:
    """Run it with default settings; every number of its result, under the path that leads to it.

    `data` is the file of conversations for `locomo` and `budget`, the folder of the files for `config` (one that ends
    with `observations.jsonl`, one with `truth.json`; .gz too) and `flight`. Raises InvalidInput where it is not there.
    """
    return dict(_numbers(_RUN[evaluation](Path(data) if data else None), ""))


def _rules(_: Path | None) -> dict[str, Any]:
    return evaluate_rules("all")


def _entities(_: Path | None) -> dict[str, Any]:
    return evaluate_entities("all", None, 0.5, False)


def _config(place: Path | None) -> dict[str, Any]:
    folder = _folder(place)
    observations = _only(folder, "*observations.jsonl", "*observations.jsonl.gz")
    return evaluate_config(observations, _only(folder, "*truth.json", "*truth.json.gz"), report=_silent)


def _flight(place: Path | None) -> dict[str, Any]:
    folder = _folder(place)
    return evaluate_flight(folder, folder, report=_silent)


def _locomo(place: Path | None) -> dict[str, Any]:
    return evaluate_locomo(_file(place), report=_silent)


def _budget(place: Path | None) -> dict[str, Any]:
    return evaluate_budget(_file(place), report=_silent)


_RUN: Mapping[str, Callable[[Path | None], dict[str, Any]]] = {
    "rules": _rules,
    "entities": _entities,
    "config": _config,
    "flight": _flight,
    "locomo": _locomo,
    "budget": _budget,
}


def _folder(place: Path | None) -> Path:
    if place is None or not place.is_dir():
        raise InvalidInput("data", f"{place or 'nothing'} is no folder; name the one that holds the evaluation's files")
    return place


def _file(place: Path | None) -> Path:
    if place is None or not place.is_file():
        raise InvalidInput("data", f"{place or 'nothing'} is no file; name the one that holds the conversations")
    return place


def _only(folder: Path, *patterns: str) -> Path:
    found = [file for pattern in patterns for file in folder.glob(pattern)]
    if len(found) != 1:
        raise InvalidInput("data", f"{folder} holds {len(found)} files {' or '.join(patterns)}; there must be one")
    return found[0]


def _numbers(value: object, path: str) -> Iterator[tuple[str, float]]:
    match value:
        case bool() | str() | None:
            return
        case int() | float():
            yield path, float(value)
        case Mapping():
            for name, inner in value.items():
                yield from _numbers(inner, f"{path} {name}".strip())
        case list() | tuple():
            for place, inner in enumerate(value):
                yield from _numbers(inner, f"{path} {_title(inner, place)}".strip())


def _title(row: object, place: int) -> str:
    """What a row of a table calls itself: its words, else its place."""
    words = [word for word in row.values() if isinstance(word, str)] if isinstance(row, Mapping) else []
    return " ".join(words) or f"{place + 1}"


def _silent(_: str) -> None:
    """Nobody hears how far it has come."""


def main() -> int:
    """Print the figures of the evaluation and the data that the arguments name as JSON, or the error that ended it."""
    evaluation, data = sys.argv[1:]
    try:
        told: Mapping[str, Any] = figures_of(msgspec.convert(evaluation, Evaluation), data)
        code = 0
    except BeliefmeshError as error:
        told, code = error_to_builtins(error), exit_code(error)
    sys.stdout.buffer.write(msgspec.json.encode(told))
    return code


if __name__ == "__main__":
    sys.exit(main())
