"""What the meta service does: spaces, tags, edge types, indexes, jobs, and showing them (section 7)."""

from collections.abc import Callable
from typing import Any

from graph_catalog import ONLINE_HOST, Catalog, Index, Schema, Space, Version
from graph_errors import Refused, absent, execution, semantic
from graph_rows import Rows
from graph_values import EMPTY, Table
from ngql_tree import (
    AddFields,
    CreateIndex,
    CreateSchema,
    CreateSpace,
    DropIndex,
    DropSpace,
    Field,
    RebuildIndex,
    Show,
    SubmitStats,
)

EXISTED = "Existed!"
INVALID = "Invalid param!"
LONGEST_INDEXED = 256
MOST_INDEXED = 16
JOB_COLUMNS = ("Job Id(TaskId)", "Command(Dest)", "Status", "Start Time", "Stop Time", "Error Code")


class Meta:
    """Runs what concerns the schema; it asks the meta service and no cache, so DESCRIBE knows before INSERT does."""

    def __init__(self, catalog: Catalog, rows: Rows) -> None:
        self._catalog = catalog
        self._rows = rows

    def create_space(self, said: CreateSpace) -> None:
        """Make a space."""
        if said.name in self._catalog.spaces:
            self._existed(said.if_not_exists)
            return
        if said.partitions < 1 or said.vid_bytes < 1:
            raise execution(INVALID)
        if said.replicas != 1:
            raise execution("Host not enough!")
        self._catalog.spaces[said.name] = Space(
            self._catalog.next_id(),
            said.name,
            said.partitions,
            said.replicas,
            said.vid_bytes,
            said.comment,
            *self._catalog.known_from(),
        )

    def drop_space(self, said: DropSpace) -> None:
        """Drop a space, or only its rows."""
        space = self._catalog.spaces.get(said.name)
        if space is None:
            if said.if_exists:
                return
            raise absent("Space")
        self._rows.clear(space)
        if not said.keep:
            del self._catalog.spaces[said.name]

    def create_schema(self, space: Space, said: CreateSchema) -> None:
        """Make a tag or an edge type; IF NOT EXISTS never compares definitions."""
        if said.name in space.schemas(said.kind):
            self._existed(said.if_not_exists)
            return
        if space.schema(said.name) is not None:
            raise execution("Schema with same name exists: use different name")
        names = [field.name for field in said.fields]
        if len(set(names)) < len(names):
            raise semantic("Duplicate property name")
        made = Schema(said.kind, said.name, said.comment, [Version(said.fields, *self._catalog.known_from())])
        space.schemas(said.kind)[said.name] = made

    def add_fields(self, space: Space, said: AddFields) -> None:
        """Give a tag or an edge type more properties; rows that are there have their DEFAULT or NULL."""
        schema = space.schemas(said.kind).get(said.name)
        if schema is None:
            raise absent(said.kind)
        held = {field.name for field in schema.newest}
        for field in said.fields:
            if field.name in held:
                raise execution(EXISTED)
            if not field.nullable and not field.has_default:
                raise execution(INVALID)
        schema.versions.append(Version((*schema.newest, *said.fields), *self._catalog.known_from()))

    def create_index(self, space: Space, said: CreateIndex) -> None:
        """Make an index, unless one has the same columns, whatever its name (lengths are not compared)."""
        schema = space.schemas(said.kind).get(said.on)
        if schema is None:
            raise absent(said.kind)
        fields = {field.name: field for field in schema.newest}
        if len(said.columns) > MOST_INDEXED or not all(_indexable(fields.get(name), n) for name, n in said.columns):
            raise execution(INVALID)
        names = [name for name, _ in said.columns]
        alike = any([name for name, _ in each.columns] == names for each in space.indexes_on(said.kind, said.on))
        if alike or (said.kind, said.name) in space.indexes:
            self._existed(said.if_not_exists)
            return
        space.indexes[said.kind, said.name] = Index(
            self._catalog.next_id(), said.kind, said.name, said.on, said.columns, *self._catalog.known_from()
        )

    def drop_index(self, space: Space, said: DropIndex) -> None:
        """Drop an index with its entries."""
        index = space.indexes.pop((said.kind, said.name), None)
        if index is not None:
            self._rows.drop_index(index)
        elif not said.if_exists:
            raise absent("Index")

    def rebuild(self, space: Space, said: RebuildIndex) -> Table:
        """Queue the job that indexes the rows from before the index."""
        indexes = [index for name in said.names if (index := space.indexes.get((said.kind, name)))]
        if len(indexes) < len(said.names):
            raise absent("Index")

        def work() -> None:
            for index in indexes:
                if index in space.indexes.values():
                    self._rows.rebuild(space, index)

        return _new_job(self._catalog.submit(space, f"REBUILD_{said.kind.upper()}_INDEX", work).id)

    def submit_stats(self, space: Space, said: SubmitStats) -> Table:
        """Queue the job that counts rows for SHOW STATS."""

        def work() -> None:
            tags, edges, vertices = self._rows.counts(space)
            named = [("Tag", name, tags.get(name, 0)) for name in space.tags]
            named += [("Edge", name, edges.get(name, 0)) for name in space.edges]
            space.stats = [*named, ("Space", "vertices", vertices), ("Space", "edges", sum(edges.values()))]

        return _new_job(self._catalog.submit(space, "STATS", work).id)

    def show(self, space: Space | None, said: Show) -> Table:
        """SHOW and DESCRIBE."""
        if said.what == "spaces":
            return _names(sorted(self._catalog.spaces))
        if said.what == "hosts":
            return Table(("Host", "Port", "Status"), [(*ONLINE_HOST, "ONLINE")])
        if said.what == "describe space":
            return self._described_space(said.name)
        if space is None:
            raise not_chosen()
        self._catalog.finish_jobs()
        shown: dict[str, Callable[[Space, Any], Table]] = {
            "tags": lambda space, _: _names(sorted(space.tags)),
            "edges": lambda space, _: _names(sorted(space.edges)),
            "stats": lambda space, _: _stats(space),
            "job": _job,
            "tag indexes": lambda space, _: _indexes(space, "tag"),
            "edge indexes": lambda space, _: _indexes(space, "edge"),
            "tag index status": lambda space, _: _index_status(space, "tag"),
            "edge index status": lambda space, _: _index_status(space, "edge"),
            "describe tag": lambda space, name: _described(space, "tag", name),
            "describe edge": lambda space, name: _described(space, "edge", name),
            "describe tag index": lambda space, name: _described_index(space, "tag", name),
            "describe edge index": lambda space, name: _described_index(space, "edge", name),
        }
        return shown[said.what](space, said.name)

    def _existed(self, if_not_exists: bool) -> None:
        if not if_not_exists:
            raise execution(EXISTED)

    def _described_space(self, name: str) -> Table:
        space = self._catalog.spaces.get(name)
        if space is None:
            raise absent("Space")
        columns = ("ID", "Name", "Partition Number", "Replica Factor", "Charset", "Collate", "Vid Type", "Comment")
        vid_type = f"FIXED_STRING({space.vid_bytes})"
        row = (space.id, name, space.partitions, space.replicas, "utf8", "utf8_bin", vid_type, space.comment or EMPTY)
        return Table(columns, [row])


def not_chosen() -> Refused:
    """A statement that needs a space in a session that has none."""
    return semantic("Space was not chosen.")


def _indexable(field: Field | None, length: int) -> bool:
    """A string has a length from 1 to 256, anything else has none."""
    if field is None:
        return False
    return 1 <= length <= LONGEST_INDEXED if field.type == "string" else length == 0


def _names(names: list[str]) -> Table:
    return Table(("Name",), [(name,) for name in names])


def _new_job(id: int) -> Table:
    return Table(("New Job Id",), [(id,)])


def _job(space: Space, id: int) -> Table:
    job = space.jobs.get(id)
    if job is None:
        raise execution("Job not existed!")
    status = "FINISHED" if job.finished else "QUEUE"
    return Table(JOB_COLUMNS, [(job.id, job.command, status, EMPTY, EMPTY, "SUCCEEDED")])


def _stats(space: Space) -> Table:
    if space.stats is None:
        raise execution("There is no any stats info to show, please execute `submit job stats' firstly!")
    return Table(("Type", "Name", "Count"), list(space.stats))


def _indexes(space: Space, kind: str) -> Table:
    rows = [
        (index.name, index.on, [name for name, _ in index.columns])
        for index in space.indexes.values()
        if index.kind == kind
    ]
    return Table(("Index Name", f"By {kind.capitalize()}", "Columns"), rows)


def _index_status(space: Space, kind: str) -> Table:
    command = f"REBUILD_{kind.upper()}_INDEX"
    jobs = [job for job in space.jobs.values() if job.command == command]
    status = "QUEUE" if any(not job.finished for job in jobs) else "FINISHED"
    return Table(
        ("Name", "Index Status"), [(each.name, status) for each in space.indexes.values() if jobs and each.kind == kind]
    )


def _described(space: Space, kind: str, name: str) -> Table:
    schema = space.schemas(kind).get(name)
    if schema is None:
        raise absent(kind)
    rows = [
        (
            field.name,
            f"fixed_string({field.size})" if field.type == "fixed_string" else field.type,
            "YES" if field.nullable else "NO",
            field.default if field.has_default else EMPTY,
            field.comment or EMPTY,
        )
        for field in schema.newest
    ]
    return Table(("Field", "Type", "Null", "Default", "Comment"), rows)


def _described_index(space: Space, kind: str, name: str) -> Table:
    index = space.indexes.get((kind, name))
    if index is None:
        raise absent("Index")
    types = {field.name: field.type for field in space.schemas(kind)[index.on].newest}
    shown = {column: f"fixed_string({length})" if length else types[column] for column, length in index.columns}
    return Table(("Field", "Type"), list(shown.items()))
