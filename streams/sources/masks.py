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
_MOST_WORDS = 65_536

ID_MARK = "#"
NUMBER_MARK = "*"


def template_of(message: str) -> str:
    """The message with `#` for each id and `*` for each number; neither ever reaches over a space."""
    return " ".join([_masked[word] for word in message.split(" ")])


class _Masked(dict[str, str]):
    """Words with their marks, by the words as they were met; long ones, which seldom come again, are not kept."""

    def __missing__(self, word: str) -> str:
        masked = _NUMBERS.sub(NUMBER_MARK, _IDS.sub(ID_MARK, word))
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = masked
        return masked


_masked = _Masked()


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
