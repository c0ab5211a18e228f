"""How things are named: ids that depend on content alone, and the normal form of a name."""

import hashlib
import unicodedata

_SPACE = " "
_BLANK = hashlib.blake2b(digest_size=16)  # to copy it takes less than to make another one


def digest(*parts: str) -> str:
    """Hash an ordered list of texts to 32 hex digits; no two different lists give one input."""
    joined = ""
    for part in parts:
        joined += f"{len(part)}:{part}"
    hashed = _BLANK.copy()
    hashed.update(joined.encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


def normal_name(name: str) -> str:
    """The form in which names are compared: NFKC, case-folded, inner space single, ends trimmed."""
    if name.isascii():
        folded = name.lower()  # the same, at a tenth of the time
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return _SPACE.join(folded.split())
