"""How the text of a statement falls into words: literals with their escapes, names, parameters (sections 2 and 3)."""

import re
from typing import Any, NamedTuple

from graph_errors import syntax

LARGEST = 2**63
_RESERVED = """
timestamp time date datetime duration index indexes path tag tags edge edges vertex vertices step steps list map
set order on in of to from by as is no not null and or xor true false case when left right inner outer join semi
anti desc asc exists distinct match explain yield return where go over upto find reversely with insert update
upsert delete fetch prop lookup use show create drop alter add change remove grant revoke rebuild union intersect
minus string int bool double float fixed_string geography unwind _id _type _src _dst _rank
"""
_FOLDED = """
status value values text data user role group comment limit offset skip sample session space end then else default
all any single none merge format profile search service query top point uuid agent auto contains starts ends
optional both out
"""
RESERVED, FOLDED = frozenset(_RESERVED.split()), frozenset(_FOLDED.split())
WORD = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*|//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\n\r]|\\[^\n])*"|'(?:[^'\\\n\r]|\\[^\n])*')
    |(?P<quoted>`[^`\n]+`)
    |(?P<double>\d+\.\d*(?:[eE][+-]?\d+)?|\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    |(?P<int>0[xX][0-9a-fA-F]+|\d+)
    |(?P<input>\$-|\$\$|\$\^)
    |(?P<parameter>\$[A-Za-z_]\w*)
    |(?P<name>[^\W\d]\w*)
    |(?P<mark><-|->|--|==|!=|<>|<=|>=|=~|[-+*/%<>=()\[\]{},;:.|@!])
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{4})|([0-7]{1,3})|(.))", re.DOTALL)
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Word(NamedTuple):
    """One word: its kind, what it stands for, and how it was written, by which keywords are told."""

    kind: str
    value: Any
    written: str


END = Word("end", "", "")


def words_of(statement: str) -> list[Word]:
    """All words of a request, an END last; what is no word is a syntax error."""
    found, position = [], 0
    while position < len(statement):
        match = WORD.match(statement, position)
        if match is None:
            raise syntax(f"syntax error near `{statement[position : position + 20]}'")
        position = match.end()
        kind, written = str(match.lastgroup), match[0]
        if kind != "space":
            found.append(Word(kind, _value(kind, written), written.upper() if kind == "name" else written))
    found.append(END)
    return found


def name_of(word: Word) -> str:
    """What a word names: back-quoted as it stands, unreserved keywords in lower case, reserved ones never."""
    if word.kind == "quoted":
        if "." in word.value:
            raise syntax(f"a name may not hold a dot, near `{word.written}'")
        return str(word.value)
    lower = word.written.lower()
    if word.kind != "name" or lower in RESERVED or str(word.value).startswith("_"):
        raise syntax(f"syntax error near `{word.value if word.kind == 'name' else word.written}'")
    return lower if lower in FOLDED else str(word.value)


def _value(kind: str, written: str) -> Any:
    match kind:
        case "string":
            return _unescaped(written[1:-1])
        case "quoted":
            return written[1:-1]
        case "double":
            return float(written)
        case "int":
            return _integer(written)
        case "parameter":
            return written[1:]
    return written


def _integer(written: str) -> int:
    """A leading zero means octal. 2**63 is left to the parser, which knows whether a minus stands before it."""
    if written[:2] in ("0x", "0X"):
        number = int(written, 16)
    elif len(written) > 1 and written[0] == "0":
        if not set(written) <= set("01234567"):
            raise syntax(f"syntax error near `{written}'")
        number = int(written, 8)
    else:
        number = int(written)
    if number > LARGEST:
        raise syntax(f"Out of range: near `{written}'")
    return number


def _unescaped(inside: str) -> str:
    """The text of a literal; after a NUL everything in it becomes NULs."""
    if "\\" in inside:
        inside = ESCAPE.sub(_escape, inside)
    kept, nul, lost = inside.partition("\x00")
    return kept + nul + "\x00" * len(lost)


def _escape(match: re.Match[str]) -> str:
    wide, hexadecimal, octal, single = match.groups()
    if wide or hexadecimal:
        return chr(int(wide or hexadecimal, 16))
    if octal:
        if int(octal, 8) > 0o377:
            raise syntax(f"an octal escape ends at \\377, near `{match[0]}'")
        return chr(int(octal, 8))
    if single in "89":
        raise syntax(f"syntax error near `{match[0]}'")
    return CONTROLS.get(single, single)
