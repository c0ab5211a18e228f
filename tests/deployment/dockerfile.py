"""Reads a Dockerfile into its stages, and says what of a build's context .dockerignore leaves."""

import fnmatch
import json
import re
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """One instruction: its word, and what follows it on one line."""

    word: str
    rest: str

    def listed(self) -> list[str]:
        """The words of an exec form."""
        words: list[str] = json.loads(self.rest)
        return words


class Stage(NamedTuple):
    """What stands between one FROM and the next."""

    image: str
    name: str
    instructions: list[Instruction]

    def all(self, word: str) -> list[Instruction]:
        """Its instructions of one word, in order."""
        return [instruction for instruction in self.instructions if instruction.word == word]


def instructions_of(text: str) -> list[Instruction]:
    """Every instruction, without comments, continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines()]


def stages_of(text: str) -> list[Stage]:
    """The stages; an argument before the first FROM is put in its place."""
    arguments: dict[str, str] = {}
    stages: list[Stage] = []
    for instruction in instructions_of(text):
        if instruction.word == "ARG" and not stages:
            name, _, value = instruction.rest.partition("=")
            arguments[name] = value
        elif instruction.word == "FROM":
            image, *named = instruction.rest.split()
            for name, value in arguments.items():
                image = image.replace(f"${{{name}}}", value)
            stages.append(Stage(image, named[-1] if named else "", []))
        else:
            stages[-1].instructions.append(instruction)
    return stages


def environment_of(stage: Stage) -> dict[str, str]:
    """What its ENV instructions set."""
    return dict(pair.split("=", 1) for instruction in stage.all("ENV") for pair in instruction.rest.split())


def is_sent(path: str, ignore: Path) -> bool:
    """Whether a path of the context reaches the build: the last pattern that matches it or a folder above decides."""
    parts = path.split("/")
    above = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    sent = True
    for line in ignore.read_text(encoding="utf-8").splitlines():
        pattern = line.strip().removeprefix("!")
        if not pattern or pattern.startswith("#"):
            continue
        deep = pattern.removeprefix("**/")
        hit = any(fnmatch.fnmatchcase(part, deep) for part in (parts if deep != pattern else above))
        sent = line.startswith("!") if hit else sent
    return sent
