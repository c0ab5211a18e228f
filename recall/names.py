"""Which entities a question may name: its runs of words, and of characters where words are not spaced."""

import re

from schemas.entity import Entity
from schemas.query import Query
from stores.ports import GraphStore

MAX_WORDS = 4
MAX_CHARACTERS = 8
MAX_NAMES = 400

_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"\w+(?:[-'.]\w+)*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+")
_EDGES = " \t\"'“”‘’()[]{}<>,.;:!?，。？！；：、（）《》「」"
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_STOP = re.compile(
    r"a|an|and|are|as|at|be|by|can|did|do|does|for|from|had|has|have|he|her|his|how|i|in|is|it|its|me|"
    r"my|of|on|or|our|she|should|so|that|the|their|them|they|this|to|us|was|we|were|what|when|where|"
    r"which|who|whom|whose|why|will|with|would|you|your",
    re.IGNORECASE,
)


def entities_in(query: Query, graph: GraphStore) -> list[tuple[str, Entity]]:
    """(id, entity) for each entity, of any type, that the question names; those of the longest names first."""
    asked = names_in(query.text)
    return sorted(graph.entities(query.bank, asked), key=_longest_first) if asked else []


def names_in(text: str) -> list[str]:
    """What in a text could be a name: up to four words in a row, and up to eight characters of unspaced scripts."""
    names: dict[str, None] = {}
    for pattern in (_WORD, _TOKEN):
        _runs(text, [match.span() for match in pattern.finditer(text)], names)
    for match in _UNSPACED.finditer(text):
        run = match[0]
        for size in range(min(MAX_CHARACTERS, len(run)), 1, -1):
            for at in range(len(run) - size + 1):
                names[run[at : at + size]] = None
            if len(names) >= MAX_NAMES:
                break
    return list(names)[:MAX_NAMES]


def _runs(text: str, spans: list[tuple[int, int]], names: dict[str, None]) -> None:
    for first, (begin, _) in enumerate(spans):
        if len(names) >= MAX_NAMES // 2:
            return
        for _, finish in spans[first : first + MAX_WORDS]:
            name = text[begin:finish].strip(_EDGES)
            for form in (name, _POSSESSIVE.sub("", name)):
                if form and not _STOP.fullmatch(form):
                    names[form] = None


def _longest_first(found: tuple[str, Entity]) -> tuple[int, str]:
    id, entity = found
    return (-len(entity.name), id)
