"""How the graph on NebulaGraph is read: slots with their evidence, beliefs by id, sessions, neighbours; in batches."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.evidence import Evidence
from schemas.slot import Slot, StoredSlot
from stores.nebula import statements as ngql
from stores.nebula.pieces import pieces_in
from stores.nebula.plan import Loose
from stores.nebula.rows import Plain, Row, read
from stores.nebula.schema import LINKS
from stores.nebula.script import Words, number, vids
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import Kind, vid

_AT_ONCE = 200
_NODES_AT_ONCE = 50

SessionPlace = tuple[int, int, str, str]
"""Turn, effective time, evidence id, observation: sorts as a session does."""


def rows_of(
    sessions: NebulaSessions, statement: str, bank: str, ids: Iterable[str], kind: Kind = ""
) -> Iterator[tuple[str, Row]]:
    """The rows of a statement about some ids, each with the id it is about where its vid says so, else empty."""
    asked = {vid(bank, id, kind): id for id in ids}
    for some in _pages(list(asked)):
        for row in sessions.read(statement, vids=some):
            yield asked.get(str(row.get("vid")), ""), row


def slots(sessions: NebulaSessions, bank: str, ids: Iterable[str]) -> dict[str, Slot]:
    """The slots that exist, with their beliefs."""
    rows = rows_of(sessions, ngql.FETCH_VIEWS, bank, ids)
    return {id: read(row["body"], Slot) for id, row in rows if row["version"]}


def stored_slots(sessions: NebulaSessions, bank: str, ids: Iterable[str]) -> dict[str, StoredSlot]:
    """Slots with their evidence, each as of one version: evidence that came after the slot was read is left out.

    So is what left the slot with that version and is still to be deleted.
    """
    rows = {id: row for id, row in rows_of(sessions, ngql.FETCH_VIEWS, bank, ids) if row["version"]}
    views = {id: read(row["body"], Slot) for id, row in rows.items()}
    leaving = {id: read(row["loose"], Loose).evidence if row["loose"] else () for id, row in rows.items()}
    held: dict[str, list[Evidence]] = {id: [] for id in views}
    known = [
        (id, row["body"])
        for id, row in rows_of(sessions, ngql.HELD_EVIDENCE, bank, views)
        if row["body"] is not None and _whole(row["since"]) <= views[id].version
    ]
    pieces = pieces_in(sessions, bank, [body for _, body in known])
    for (id, _), piece in zip(known, pieces, strict=True):
        if piece is not None and piece.slot == id and piece.id not in leaving[id]:
            held[id].append(piece)
    return {id: StoredSlot(view, tuple(sorted(held[id], key=_id))) for id, view in views.items()}


def evidence(sessions: NebulaSessions, bank: str, ids: Iterable[str]) -> dict[str, Evidence]:
    """Evidence by id."""
    rows = list(rows_of(sessions, ngql.FETCH_EVIDENCE, bank, ids))
    pieces = pieces_in(sessions, bank, [row["body"] for _, row in rows])
    return {id: piece for (id, _), piece in zip(rows, pieces, strict=True) if piece is not None}


def evidence_told(sessions: NebulaSessions, bank: str, observations: Iterable[str]) -> list[Evidence]:
    """The evidence that these observations gave, in id order."""
    asked = set(observations)
    rows = rows_of(sessions, ngql.EVIDENCE_TOLD, bank, asked, "observation")
    pieces = pieces_in(sessions, bank, [row["body"] for _, row in rows])
    found = {piece.id: piece for piece in pieces if piece is not None and piece.observation_id in asked}
    return sorted(found.values(), key=_id)


def beliefs(sessions: NebulaSessions, bank: str, ids: Iterable[str]) -> dict[str, Belief]:
    """Beliefs by the id asked for, following ids that were merged away; a circle leads nowhere."""
    leads = {id: id for id in ids}
    passed: dict[str, set[str]] = {id: {id} for id in leads}
    found: dict[str, Belief] = {}
    while leads:
        there = _beliefs_themselves(sessions, bank, set(leads.values()))
        found.update((asked, there[id]) for asked, id in leads.items() if id in there)
        lost = {asked: id for asked, id in leads.items() if id not in there}
        targets = {id: str(row["target"]) for id, row in rows_of(sessions, ngql.FETCH_ALIASES, bank, lost.values())}
        leads = {}
        for asked, id in lost.items():
            target = targets.get(id)
            if target is not None and target not in passed[asked]:
                passed[asked].add(target)
                leads[asked] = target
    return found


def _beliefs_themselves(sessions: NebulaSessions, bank: str, ids: Iterable[str]) -> dict[str, Belief]:
    homes = {id: str(row["slot"]) for id, row in rows_of(sessions, ngql.FETCH_BELIEFS, bank, ids)}
    views = slots(sessions, bank, set(homes.values()))
    held = {belief.id: belief for view in views.values() for belief in view.beliefs}
    return {id: held[id] for id in homes if id in held}


def last_of_session(sessions: NebulaSessions, bank: str, session: str, places: int) -> list[Evidence]:
    """The evidence of the last places of a session, in session order."""
    said = _places(sessions, bank, [session] if session else []).get(session, [])
    order = _order(said)
    last = {session: set(order[-places:] if places > 0 else ())}
    return _said_at(sessions, bank, {session: said}, last).get(session, [])


def windows(
    sessions: NebulaSessions, bank: str, around: Mapping[str, Collection[str]], reach: int
) -> dict[str, list[Evidence]]:
    """By session, its evidence within `reach` places of any of these observations, in session order."""
    said = _places(sessions, bank, around)
    reach = max(reach, 0)
    near: dict[str, set[str]] = {session: set() for session in said}
    for session, places in said.items():
        order = _order(places)
        for here, observation in enumerate(order):
            if observation in around[session]:
                near[session].update(order[max(here - reach, 0) : here + reach + 1])
    return _said_at(sessions, bank, said, near)


def _order(said: Sequence[SessionPlace]) -> list[str]:
    """The observations of a session in the order of their places."""
    return list(dict.fromkeys(observation for *_, observation in said))


def _said_at(
    sessions: NebulaSessions,
    bank: str,
    said: Mapping[str, Sequence[SessionPlace]],
    chosen: Mapping[str, Collection[str]],
) -> dict[str, list[Evidence]]:
    """The evidence of the chosen observations, by session and in its order; sessions without any are left out."""
    wanted = {session: [id for *_, id, told in places if told in chosen[session]] for session, places in said.items()}
    found = evidence(sessions, bank, [id for ids in wanted.values() for id in ids])
    of_session = {
        session: [found[id] for id in ids if id in found and found[id].session == session]
        for session, ids in wanted.items()
    }
    return {session: pieces for session, pieces in of_session.items() if pieces}


def _places(sessions: NebulaSessions, bank: str, asked: Iterable[str]) -> dict[str, list[SessionPlace]]:
    """The places of sessions, in order."""
    found: dict[str, list[SessionPlace]] = {}
    for session, row in rows_of(sessions, ngql.PLACES_SAID, bank, asked, "session"):
        place = (_whole(row["turn"]), _whole(row["at"]), str(row["id"]), str(row["observation"]))
        found.setdefault(session, []).append(place)
    return {session: sorted(places) for session, places in found.items()}


def neighbours(sessions: NebulaSessions, bank: str, nodes: Iterable[str], limit: int) -> list[Edge]:
    """The strongest edges of each node, however many a hub has: all nodes are asked for at once, and again without
    those that have enough, until each has enough or there is no more.
    """
    found: dict[tuple[str, str, str], Edge] = {}
    waiting = list(dict.fromkeys(nodes)) if limit > 0 else []
    while waiting:
        some, waiting = waiting[:_NODES_AT_ONCE], waiting[_NODES_AT_ONCE:]
        most = 2 * limit * len(some)
        while some:
            edges = _strongest(sessions, bank, some, most)
            of_node = {node: _distinct(edges, node, limit) for node in some}
            whole = len(edges) < most
            for node in some:
                if whole or len(of_node[node]) >= limit:
                    found.update(of_node[node])
            left = [] if whole else [node for node in some if len(of_node[node]) < limit]
            most = most if len(left) < len(some) else 2 * most
            some = left
    return sorted(found.values(), key=_strength)


def dependents(sessions: NebulaSessions, bank: str, premises: Iterable[str]) -> list[str]:
    """Ids of the slots with a belief that rests on any of these, sorted."""
    found = {str(row["source"]) for _, row in rows_of(sessions, ngql.CONCLUSIONS_FROM, bank, premises)}
    return sorted({belief.slot for belief in beliefs(sessions, bank, sorted(found)).values()}) if found else []


def _strongest(sessions: NebulaSessions, bank: str, nodes: Sequence[str], most: int) -> list[Edge]:
    rows = sessions.read(ngql.LINKS_OF, vids=vids(vid(bank, node) for node in nodes), limit=number(most))
    kinds = {str(link): link for link in LINKS}
    return [
        Edge(str(row["source"]), kinds[str(row["link"])], str(row["target"]), float(str(row["weight"]))) for row in rows
    ]


def _distinct(edges: Iterable[Edge], node: str, limit: int) -> dict[tuple[str, str, str], Edge]:
    """The first `limit` edges of a node by what they join; of two slots that state one, the stronger comes first."""
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        if node in (edge.src, edge.dst):
            found.setdefault((edge.src, edge.type, edge.dst), edge)
            if len(found) == limit:
                break
    return found


def _pages(some: Sequence[str]) -> Iterator[Words]:
    for start in range(0, len(some), _AT_ONCE):
        yield vids(some[start : start + _AT_ONCE])


def _whole(value: Plain) -> int:
    return int(str(value))


def _id(piece: Evidence) -> str:
    return piece.id


def _strength(edge: Edge) -> tuple[float, str, str, str]:
    return -edge.weight, edge.type, edge.src, edge.dst
