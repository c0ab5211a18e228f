"""The sources by name: those that come with Beliefmesh, an operator's own in a folder, and a file by its path."""

import difflib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO

import msgspec

from schemas.errors import InvalidInput, NotFound
from schemas.instant import Instant
from streams.sources.apply import apply
from streams.sources.documents import LIMIT as LONGEST_DOCUMENT
from streams.sources.documents import Document, documents_of
from streams.sources.expression import Path as Steps
from streams.sources.keyed import KEYED, ReadLine
from streams.sources.lines import Line, lines_of
from streams.sources.log_lines import LIMIT as LONGEST_LINE
from streams.sources.log_lines import observe_log
from streams.sources.mapping import MappingFile, read_mapping
from streams.sources.pattern_file import PatternFile, read_pattern_file
from streams.sources.pattern_lines import PatternLines
from streams.sources.slots import SlotReader
from streams.sources.told import Reading, Refused
from streams.sources.unknown import any_line
from streams.sources.yaml_file import read_yaml

ANY_LOG = "log"

_BUNDLED = Path(__file__).parent / "bundled"
_GENERAL = "general"
_ORDER = ("nova", "zookeeper", "log4j", "syslog", "apache", "nginx", "levels")
"""In which order the formats of any log are tried: those that fit fewer lines first."""

_ENDINGS = (".yaml", ".yml")
_ABOUT = {
    ANY_LOG: "Any log: each line by the first of all known formats that fits it",
    "jsonlog": "Logs of one JSON object a line, with the usual names of time, level and message",
    "logfmt": "Logs of key=value pairs",
}


class About(msgspec.Struct, frozen=True):
    """A source as it is listed: its name, what it reads (`documents` or `log lines`), and the file that tells how."""

    name: str
    reads: str
    about: str
    file: str


class Source(msgspec.Struct, frozen=True):
    """A source that can be read: a mapping of documents, or a reader of log lines with its rules."""

    name: str
    mapping: MappingFile | None = None
    log: ReadLine | None = None
    slots: SlotReader | None = None
    joined: bool = False

    def read(self, stream: IO[bytes], file: str, now: Instant, latest: Instant) -> Iterator[Reading]:
        """What a file gives, to its end; where it breaks off, what came before stands and the reason comes last.

        `file` names it, `latest` is the newest time that is believed.
        """
        limit = LONGEST_DOCUMENT if self.mapping is not None else LONGEST_LINE
        broken: list[InvalidInput] = []
        lines = _whole(lines_of(stream, limit), broken)
        if self.mapping is not None:
            yield from _mapped(self.mapping, lines)
        elif self.log is not None and self.slots is not None:
            yield from observe_log(self.log, self.slots, lines, file, now, latest, self.joined)
        for error in broken:
            yield Refused(b"", error.code, str(error), 0)

    def observe(self, document: object) -> Iterator[Reading]:
        """What one document gives, as a webhook brings it. Raises InvalidInput for a source of log lines."""
        if self.mapping is None:
            raise InvalidInput("source", f"{self.name!r} reads log lines; send them as text/plain")
        yield from apply(self.mapping, document, "the document")


def source_at(path: Path) -> Source:
    """The source of a YAML file. Raises InvalidInput that names the file, the key and what to do."""
    return _opened(*_read(path, path.name))


def open_source(name: str, folder: Path | None = None) -> Source:
    """The source of a name, an operator's own in `folder` first. Raises NotFound, or InvalidInput for a wrong file."""
    if any(path.stem == name for path in _yaml_in(folder)):
        return source_at(_found(name, folder))
    if name not in _ABOUT:
        _found(name, folder)
    return _bundled(name)


@lru_cache(maxsize=64)
def _bundled(name: str) -> Source:
    if name == ANY_LOG:
        patterns = [pattern for each in _pattern_files() for pattern in each.patterns]
        return Source(name, log=any_line(PatternLines(patterns)), slots=_slots(*_pattern_files()), joined=True)
    if name in KEYED:
        return Source(name, log=KEYED[name], slots=_slots(*_pattern_files()))
    return _opened(*_read(_found(name, None), f"{name}.yaml"))


def source_text(name: str, folder: Path | None = None) -> str:
    """The YAML of a source, as a start for one's own. Raises NotFound."""
    if name in _ABOUT:
        return (
            f"# {_ABOUT[name]}.\n# It is written in Python; the rules for what lines say:\n{text_at(_file(_GENERAL))}"
        )
    return text_at(_found(name, folder))


def list_sources(folder: Path | None = None) -> list[About]:
    """All sources that have a name, an operator's own first; a file that is wrong is listed with what is wrong."""
    own = [_described(path, str(path)) for path in _yaml_in(folder)]
    taken = {each.name for each in own}
    bundled = [_described(path, "bundled") for path in _yaml_in(_BUNDLED) if path.stem != _GENERAL]
    written = [About(name, "log lines", about, "bundled") for name, about in _ABOUT.items()]
    return [
        *own,
        *sorted((each for each in [*bundled, *written] if each.name not in taken), key=lambda each: each.name),
    ]


def _described(path: Path, file: str) -> About:
    try:
        mapping, patterns = _read(path, path.name)
    except InvalidInput as error:
        return About(path.stem, "nothing", str(error), file)
    if mapping is not None:
        return About(path.stem, "documents", mapping.about, file)
    return About(path.stem, "log lines", patterns.about if patterns else "", file)


def _opened(mapping: MappingFile | None, patterns: PatternFile | None) -> Source:
    if mapping is not None:
        return Source(mapping.name, mapping=mapping)
    told = patterns or PatternFile(name="")
    return Source(told.name, log=PatternLines(told.patterns), slots=_slots(told), joined=True)


def _read(path: Path, file: str) -> tuple[MappingFile | None, PatternFile | None]:
    told = read_yaml(text_at(path), file)
    if "records" in told:
        return read_mapping(told, file), None
    if told.get("patterns"):
        return None, read_pattern_file(told, file)
    raise InvalidInput(f"{file}.records", "is missing; a mapping of documents has 'records', one of logs 'patterns'")


def _mapped(mapping: MappingFile, lines: Iterator[Line]) -> Iterator[Reading]:
    for each in documents_of(lines, [_last_name(path) for path in mapping.documents]):
        if isinstance(each, Document):
            yield from apply(mapping, each.value, f"line {each.number}")
        else:
            yield each


def _last_name(path: Steps) -> str:
    return str(path[-1])


def _whole(lines: Iterator[Line], broken: list[InvalidInput]) -> Iterator[Line]:
    try:
        yield from lines
    except InvalidInput as error:
        broken.append(error)


def _slots(*files: PatternFile) -> SlotReader:
    """The rules of these files before the general ones."""
    rules = [*files, _general()]
    return SlotReader([rule for file in rules for rule in file.ids], [rule for file in rules for rule in file.states])


@lru_cache(maxsize=1)
def _general() -> PatternFile:
    return read_pattern_file(read_yaml(text_at(_file(_GENERAL)), f"{_GENERAL}.yaml"), f"{_GENERAL}.yaml")


@lru_cache(maxsize=1)
def _pattern_files() -> Sequence[PatternFile]:
    paths = sorted(_yaml_in(_BUNDLED), key=lambda path: _ORDER.index(path.stem) if path.stem in _ORDER else 0)
    found = [_read(path, path.name)[1] for path in paths if path.stem != _GENERAL]
    return [each for each in found if each is not None]


def _found(name: str, folder: Path | None) -> Path:
    for place in (folder, _BUNDLED):
        for path in _yaml_in(place):
            if path.stem == name and (place is not _BUNDLED or name != _GENERAL):
                return path
    names = [each.name for each in list_sources(folder)]
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise NotFound(f"no source {name!r:.80}; {meant}There are {', '.join(names)}; or give the path of a YAML file")


def _yaml_in(folder: Path | None) -> list[Path]:
    if folder is None or not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in _ENDINGS and path.is_file())


def _file(name: str) -> Path:
    return _BUNDLED / f"{name}.yaml"


def is_path(name: str) -> bool:
    """Whether a source is named by the path of its file."""
    return name.endswith(_ENDINGS) or "/" in name


def text_at(path: Path) -> str:
    """The text of a YAML file. Raises InvalidInput where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(str(path), f"cannot be read ({error}); give the path of a YAML file in UTF-8") from error
