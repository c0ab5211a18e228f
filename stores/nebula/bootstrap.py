"""How a space gets its schema, and how one that is there is checked: idempotent, and patient with slow caches.

Order: space, tags and edge types, indexes, two heartbeats, a probe of every tag and edge type, indexes rebuilt, and
last the version. Whoever finds the version finds everything before it; two that start at once do the same twice.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

from schemas.errors import InvalidSetting, NewerSchema, StoreUnavailable
from stores.nebula import statements as ngql
from stores.nebula.errors import NebulaRefused
from stores.nebula.rows import Row
from stores.nebula.schema import INDEXES, MIGRATIONS, SHAPES, VERSION, VID_BYTES, Shape
from stores.nebula.script import Request, Words, name, number, one, quoted
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import MESH_VID, PROBE_VID

_LONGEST_WAIT = 60.0
_HEARTBEATS = 2
_POLL = 1.0


def prepare(sessions: NebulaSessions) -> None:
    """Make the space and its schema what this release expects.

    Raises NewerSchema where a newer release made it, InvalidSetting where it is of another make, StoreUnavailable
    where the servers do not get there in time.
    """
    found = _version(sessions) if _space_exists(sessions) else 0
    if found > VERSION:
        raise NewerSchema(
            f"{sessions.options.place} has schema version {found}; this release knows up to {VERSION}. "
            "Upgrade Beliefmesh"
        )
    if found == VERSION:
        for shape in SHAPES:
            _compare(sessions, shape)
        return
    _make(sessions, found)


def _make(sessions: NebulaSessions, found: int) -> None:
    _make_space(sessions)
    sessions.settle()
    for shape in SHAPES:
        sessions.run(Request(ngql.create_shape(shape), {}))
    if found:
        for statements in MIGRATIONS[found - 1 :]:
            for statement in statements:
                sessions.run(Request(statement, {}))
    for shape in SHAPES:
        _compare(sessions, shape)
    for index in INDEXES:
        sessions.run(Request(ngql.create_index(index), {}))
    time.sleep(_HEARTBEATS * sessions.options.heartbeat)
    sessions.settle()
    for shape in SHAPES:
        _until(sessions, partial(_is_known, sessions, shape), f"{shape.name} to be known everywhere")
    _rebuild(sessions)
    sessions.read(ngql.PUT_MESH, vid=quoted(MESH_VID), version=VERSION)


def _space_exists(sessions: NebulaSessions) -> bool:
    spaces = sessions.run(one(ngql.SHOW_SPACES), in_space=False)
    return any(row["Name"] == sessions.options.space for row in spaces)


def _make_space(sessions: NebulaSessions) -> None:
    options = sessions.options
    create = one(
        ngql.CREATE_SPACE,
        space=name(options.space),
        partitions=number(options.partitions),
        replicas=number(options.replicas),
        vid_bytes=number(VID_BYTES),
    )
    try:
        sessions.run(create, in_space=False)
    except StoreUnavailable as error:
        if "Host not enough" in str(error):
            raise InvalidSetting(
                f"stores.graph: NebulaGraph has fewer storage hosts than replicas={options.replicas}; "
                "add hosts (ADD HOSTS) or lower it"
            ) from error
        raise
    use = one(ngql.USE, space=name(options.space))
    _until(sessions, lambda: _passes(sessions, use, in_space=False), f"the space {options.space} to be known")


def _version(sessions: NebulaSessions) -> int:
    """The schema version of the space; 0 while nobody has finished making it."""
    try:
        rows = sessions.read(ngql.FETCH_MESH, vids=quoted(MESH_VID))
    except StoreUnavailable as error:
        if isinstance(error.__cause__, NebulaRefused) and error.__cause__.meaning == "settling":
            return 0
        raise
    return int(str(rows[0]["version"])) if rows else 0


def _compare(sessions: NebulaSessions, shape: Shape) -> None:
    """Raise InvalidSetting where a tag or edge type has other columns; more columns than expected do no harm."""
    describe = ngql.DESCRIBE_EDGE if shape.is_edge else ngql.DESCRIBE_TAG
    rows = sessions.read(describe, shape=name(shape.name))
    found = {str(row["Field"]): str(row["Type"]) for row in rows}
    for column in shape.columns:
        if found.get(column.name) != column.kind:
            there = found.get(column.name, "nothing")
            raise InvalidSetting(
                f"stores.graph: in space {sessions.options.space}, {shape.name}.{column.name} should be "
                f"{column.kind}, and there is {there}; name a space of Beliefmesh's own"
            )


def _is_known(sessions: NebulaSessions, shape: Shape) -> bool:
    insert, fetch, delete = ngql.probe(shape, quoted(PROBE_VID))
    try:
        sessions.run(Request(insert, {}))
        found = bool(sessions.run(Request(fetch, {})))
        sessions.run(Request(delete, {}))
    except StoreUnavailable as error:
        if not isinstance(error.__cause__, NebulaRefused) or error.__cause__.meaning != "settling":
            if "VID must be" in str(error):
                raise InvalidSetting(
                    f"stores.graph: the space {sessions.options.space} has other vids than FIXED_STRING({VID_BYTES}); "
                    "name a space of Beliefmesh's own"
                ) from error
            raise
        return False
    return found


def _rebuild(sessions: NebulaSessions) -> None:
    """Fill the indexes; rows that were written before every server knew them would be missing."""
    indexes = Words(", ".join(name(index.name) for index in INDEXES))
    rows = sessions.read(ngql.REBUILD_INDEXES, indexes=indexes)
    if rows:
        job = number(int(str(rows[0]["New Job Id"])))
        _until(sessions, lambda: _is_finished(sessions.read(ngql.SHOW_JOB, job=job)), "the indexes to be rebuilt")


def _is_finished(rows: Sequence[Row]) -> bool:
    status = str(rows[0]["Status"]) if rows else ""
    if status in ("FAILED", "STOPPED"):
        raise StoreUnavailable(f"NebulaGraph could not rebuild the indexes ({status}); see SHOW JOBS, then try again")
    return status == "FINISHED"


def _passes(sessions: NebulaSessions, request: Request, *, in_space: bool) -> bool:
    try:
        sessions.run(request, in_space=in_space)
    except StoreUnavailable as error:
        if isinstance(error.__cause__, NebulaRefused) and error.__cause__.meaning == "settling":
            return False
        raise
    return True


def _until(sessions: NebulaSessions, is_so: Callable[[], bool], what: str) -> None:
    """Ask again until it is so, each second or each heartbeat where that is shorter."""
    deadline = time.monotonic() + _LONGEST_WAIT
    while not is_so():
        if time.monotonic() > deadline:
            raise StoreUnavailable(f"NebulaGraph takes over {_LONGEST_WAIT:g} s for {what}; try again")
        time.sleep(min(_POLL, max(sessions.options.heartbeat, 0.01)))
