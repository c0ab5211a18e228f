"""The template of a message: what is left when numbers and ids are taken out; lines of one template are repeats."""

import re
from functools import lru_cache

_IDS = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|0x[0-9a-fA-F]+|(?<![0-9A-Za-z])(?=[a-f]*\d)[0-9a-f]{12,}(?![0-9A-Za-z])|\d{7,}"
)
_NUMBERS = re.compile(r"\d+(?:[.:,]\d+)*")
_SPACES = re.compile(r"\s+")
_LONG = 8
_LONGEST_PATH = 200
_LONGEST_WORD = 64

ID_MARK = "#"
NUMBER_MARK = "*"


def template_of(message: str) -> str:
    """The message with `#` for each id and `*` for each number; neither ever reaches over a space."""
    return " ".join([_of_word(word) if len(word) <= _LONGEST_WORD else _masked(word) for word in message.split(" ")])


def _masked(text: str) -> str:
    return _NUMBERS.sub(NUMBER_MARK, _IDS.sub(ID_MARK, text))


_of_word = lru_cache(maxsize=65_536)(_masked)


def shown_template(template: str, longest: int) -> str:
    """A template as people read it, on one line and cut where it gets long."""
    line = _SPACES.sub(" ", template.replace(ID_MARK, NUMBER_MARK)).strip(" .")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


@lru_cache(maxsize=4_096)
def masked_path(path: str) -> str:
    """The path of a request with `*` for every part that is an id or a number; a query string is left out."""
    parts = path.partition("?")[0][:_LONGEST_PATH].split("/")
    return "/".join(NUMBER_MARK if _is_id(part) else part for part in parts)


def _is_id(part: str) -> bool:
    if part.isdigit():
        return True
    return len(part) >= _LONG and sum(each.isdigit() for each in part) > len(part) // 4
