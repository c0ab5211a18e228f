"""How ids become vertex ids on NebulaGraph: one function for all, a safe alphabet, hashed where an id is not safe."""

import re
import struct
from typing import Literal

from schemas.edge import Edge
from schemas.identity import digest
from stores.nebula.schema import VID_BYTES

Kind = Literal["", "observation", "session", "name", "bank", "grave"]
"""What an id is of; without a kind it is of an entity, slot, belief or piece of evidence."""

MESH_VID = ":mesh"
PROBE_VID = ":" + "p" * (VID_BYTES - 1)
"""As long as a vid may be, so that a space with shorter ones is noticed when it is opened."""

_SAFE = re.compile(r"[A-Za-z0-9_.-]+")
_PREFIX = {"": "", "observation": "o:", "session": "t:", "name": "w:", "bank": "b:", "grave": "g:"}
_RANK_BITS = 40
_WEIGHT_SHIFT = 8


def vid(bank: str, id: str, kind: Kind = "") -> str:
    """The vertex id: bank, kind and id as they are, or a hash of all three; no two different ones give the same.

    A bank's name begins with a letter or digit and holds no colon, so neither form can be taken for the other.
    """
    plain = f"{bank}:{_PREFIX[kind]}{id}"
    if _SAFE.fullmatch(id) and _SAFE.fullmatch(bank) and len(plain) <= VID_BYTES:
        return plain
    return "_:" + digest(kind, bank, id)


def bank_vid(bank: str) -> str:
    """The vertex of a bank itself."""
    return vid(bank, bank, "bank")


def link_rank(slot: str, edge: Edge) -> int:
    """The rank that keeps apart edges of one type between two nodes that several slots state; strongest sorts first.

    An edge of another weight is another edge, as it is in the embedded graph.
    """
    weight = _ordered_bits(edge.weight) >> _WEIGHT_SHIFT
    strongest = (1 << (32 - _WEIGHT_SHIFT)) - 1
    return (strongest - weight) << (_RANK_BITS - 1) | int(digest(slot)[:10], 16) >> 1


def _ordered_bits(weight: float) -> int:
    """32 bits that sort as the numbers do (IEEE 754: flip all bits of negative numbers, the sign of the others)."""
    bits = int.from_bytes(struct.pack(">f", weight), "big")
    return bits ^ (0xFFFF_FFFF if bits >> 31 else 0x8000_0000)
