"""Who may hear what is said of a belief."""

from actors.mesh import Mesh
from schemas.belief import Belief
from schemas.errors import NotFound
from schemas.instant import Instant
from schemas.query import Principal


def audience_of(mesh: Mesh, held: Belief, sight: Principal, now: Instant) -> dict[str, object]:
    """The fields of an observation on a belief: what only some may see is spoken of among them."""
    try:
        mesh.belief(held.bank, held.id, Principal(), now)
    except NotFound:
        account = mesh.explain(held.bank, held.id, sight, now, None)
        words = (term.evidence for term in account.contributions if term.stance == "supports")
        piece = next(words, account.contributions[0].evidence)
        return {"visibility": piece.visibility, "owner": piece.owner, "readers": list(piece.readers)}
    return {}
