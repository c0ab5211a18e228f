"""How an English sentence is made plain before the rules: openings, corrections, short forms, number words."""

import re

from beliefs.units import UNITS

LEAD = re.compile(
    r"(?i)^(?:(?P<urged>please|always|from\snow\son|henceforth|as\sa\srule|rule:|policy:|instruction:|decision:|remember\sto|"
    r"make\ssure\sto|be\ssure\sto)|fyi|note(?:\sthat)?|notice|update|news|reminder|remember(?:\sthat)?|also|and|so|btw|by\sthe\sway|"
    r"ok|okay|well|hi|hello|hey|currently|now|actually|in\sgeneral|generally|today|effective\simmediately|"
    r"correction|sorry|my\smistake|my\sbad|apologies|no\swait|wait|oops|i\smeant?(?:\sto\ssay)?(?:\sthat)?|to\sbe\sclear|to\sclarify|"
    r"in\sfact)\b[,:]?\s+(?=\w)"
)
"""Words that open a sentence and say nothing of its content; `urged` where they make it a rule."""

_MARK = re.compile(r"^(?:[-*•]\s+|\(?\d{1,2}[.)]\s+)")
_END = re.compile(r"[\s.!;,。！；]+$")
_INSTEAD = (" instead", " Instead")
_STANDING = re.compile(r"(?i)^(?:please\s)?(?:always|never|from\snow\son|as\sa\srule|rule:|policy:)\b")
_SHORT = {
    re.compile(r"(?i)\bI'm\b"): "I am",
    re.compile(r"(?i)\b(?:cannot|can't|can\snot)\b"): "can not",
    re.compile(r"(?i)\bwon't\b"): "will not",
    re.compile(r"(?i)\b(is|are|was|were|do|does|did|must|has|have|should|need)n't\b"): r"\1 not",
}
_NUMBERS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16",
    "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40",
    "fifty": "50", "sixty": "60", "ninety": "90",
}  # fmt: skip
_COUNTED = "|".join(sorted((unit for unit in UNITS if len(unit) > 3 and unit.isascii()), key=len, reverse=True))
_NUMBER_WORD = re.compile(rf"(?i)\b({'|'.join(_NUMBERS)})(?=[\s-](?:{_COUNTED}|times|people|guests)\b)")


def trimmed(text: str) -> str:
    """The sentence without list mark, end mark, and a closing "instead"."""
    plain = _END.sub("", _MARK.sub("", text))
    return plain[: -len(_INSTEAD[0])].rstrip(",") if plain.endswith(_INSTEAD) else plain


def spelled_out(text: str) -> str:
    """The sentence with "can't" as "can not" and "two days" as "2 days"."""
    if "'" in text or "annot" in text or "an not" in text:
        for pattern, long in _SHORT.items():
            text = pattern.sub(long, text)
    if _NUMBERS.keys().isdisjoint(text.lower().replace("-", " ").split()):
        return text
    return _NUMBER_WORD.sub(lambda found: _NUMBERS[found[1].lower()], text)


def is_standing(text: str) -> bool:
    """Whether the sentence opens as a rule for all times ("always", "never")."""
    return _STANDING.match(text) is not None
