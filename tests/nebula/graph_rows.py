"""The rows of storaged, in SQLite: tag rows, both copies of each edge, and index entries (section 8, "Atomicity")."""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgpack
from graph_catalog import Index, Space
from graph_values import NULL, Edge, Null, Properties

TABLES = """
CREATE TABLE tag_rows (space INTEGER, tag TEXT, vid TEXT, props BLOB, PRIMARY KEY (space, vid, tag)) WITHOUT ROWID;
CREATE INDEX rows_of_tag ON tag_rows (space, tag);
CREATE TABLE edge_rows (
  space INTEGER, near TEXT, backwards INTEGER, type TEXT, rank INTEGER, far TEXT, props BLOB,
  PRIMARY KEY (space, near, backwards, type, rank, far)) WITHOUT ROWID;
CREATE TABLE entries (
  id INTEGER, first, src TEXT, rank INTEGER, dst TEXT, PRIMARY KEY (id, src, rank, dst)) WITHOUT ROWID;
CREATE INDEX entries_in_order ON entries (id, first);
"""
Bound = tuple[str, Any]
"""What the first column of an index must be: an SQL comparison and its value."""


def partition_of(space: Space, vid: str) -> int:
    """Where a vid lives; the real hash is another one."""
    return zlib.crc32(vid.encode("utf-8", "surrogateescape")) % space.partitions + 1


class Rows:
    """All rows of all spaces; whoever uses it holds the cluster's lock."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.executescript(TABLES)

    def close(self) -> None:
        """Forget everything."""
        self._db.close()

    def tag_row(self, space: Space, tag: str, vid: str) -> Properties | None:
        """The properties of one tag of a vertex; None when it has not that tag."""
        found = self._db.execute(
            "SELECT props FROM tag_rows WHERE space = ? AND tag = ? AND vid = ?", (space.id, tag, _text(vid))
        ).fetchone()
        return _unpacked(found[0]) if found else None

    def tags_of(self, space: Space, vid: str) -> dict[str, Properties]:
        """All tags of a vertex."""
        found = self._db.execute(
            "SELECT tag, props FROM tag_rows WHERE space = ? AND vid = ? ORDER BY tag", (space.id, _text(vid))
        )
        return {tag: _unpacked(props) for tag, props in found}

    def vids(self, space: Space, tag: str = "") -> list[str]:
        """Every vertex, or those with the tag."""
        condition, given = ("AND tag = ?", (space.id, tag)) if tag else ("", (space.id,))
        found = self._db.execute(f"SELECT DISTINCT vid FROM tag_rows WHERE space = ? {condition}", given)
        return [_vid(vid) for (vid,) in found]

    def put_tag(self, space: Space, tag: str, vid: str, props: Properties, now: float) -> None:
        """Write a whole tag row, and its entries in the indexes that storaged knows."""
        self._db.execute(
            "INSERT OR REPLACE INTO tag_rows VALUES (?, ?, ?, ?)", (space.id, tag, _text(vid), _packed(props))
        )
        for index in space.indexes_on("tag", tag):
            self._drop_entry(index, vid)
            if index.stored_at <= now:
                self._put_entry(index, props, vid)

    def drop_tag(self, space: Space, tag: str, vid: str) -> None:
        """Remove a tag row, if it is there, and its index entries."""
        self._db.execute("DELETE FROM tag_rows WHERE space = ? AND tag = ? AND vid = ?", (space.id, tag, _text(vid)))
        for index in space.indexes_on("tag", tag):
            self._drop_entry(index, vid)

    def edge(self, space: Space, key: tuple[str, str, int, str]) -> Edge | None:
        """An edge by its key, from its out-copy."""
        src, type, rank, dst = key
        found = self._db.execute(
            "SELECT props FROM edge_rows"
            " WHERE space = ? AND near = ? AND backwards = 0 AND type = ? AND rank = ? AND far = ?",
            (space.id, _text(src), type, rank, _text(dst)),
        ).fetchone()
        return Edge(src, dst, type, rank, _unpacked(found[0])) if found else None

    def hops(self, space: Space, near: str, types: Sequence[str], *, backwards: bool) -> Iterator[Edge]:
        """The edges out of a vertex, or into it, of these types."""
        marks = ", ".join("?" * len(types))
        found = self._db.execute(
            "SELECT type, rank, far, props FROM edge_rows"
            f" WHERE space = ? AND near = ? AND backwards = ? AND type IN ({marks}) ORDER BY type, rank, far",
            (space.id, _text(near), int(backwards), *types),
        ).fetchall()
        for type, rank, far, props in found:
            ends = (_vid(far), near) if backwards else (near, _vid(far))
            yield Edge(*ends, type, rank, _unpacked(props), reverse=backwards)

    def put_edge(self, space: Space, edge: Edge, now: float, *, backwards: bool) -> None:
        """Write one copy of an edge; indexes go by the out-copy."""
        near, far = (edge.dst, edge.src) if backwards else (edge.src, edge.dst)
        self._db.execute(
            "INSERT OR REPLACE INTO edge_rows VALUES (?, ?, ?, ?, ?, ?, ?)",
            (space.id, _text(near), int(backwards), edge.type, edge.rank, _text(far), _packed(edge.props)),
        )
        for index in [] if backwards else space.indexes_on("edge", edge.type):
            self._drop_entry(index, edge.src, edge.rank, edge.dst)
            if index.stored_at <= now:
                self._put_entry(index, edge.props, edge.src, edge.rank, edge.dst)

    def drop_edge(self, space: Space, key: tuple[str, str, int, str]) -> None:
        """Remove both copies of an edge, if they are there."""
        src, type, rank, dst = key
        for near, backwards, far in ((src, 0, dst), (dst, 1, src)):
            self._db.execute(
                "DELETE FROM edge_rows"
                " WHERE space = ? AND near = ? AND backwards = ? AND type = ? AND rank = ? AND far = ?",
                (space.id, _text(near), backwards, type, rank, _text(far)),
            )
        for index in space.indexes_on("edge", type):
            self._drop_entry(index, src, rank, dst)

    def found_by(self, index: Index, bounds: Iterable[Bound]) -> list[tuple[str, int, str]]:
        """The keys of the index whose first column is within all bounds, in its order."""
        conditions = ""
        given: list[Any] = [index.id]
        for comparison, value in bounds:
            conditions += f" AND first {comparison} ?"
            given.append(_text(value) if isinstance(value, str) else value)
        found = self._db.execute(
            f"SELECT src, rank, dst FROM entries WHERE id = ?{conditions} ORDER BY first, src, rank, dst", given
        )
        return [(_vid(src), rank, _vid(dst)) for src, rank, dst in found]

    def rebuild(self, space: Space, index: Index) -> None:
        """Give the index an entry for every row there is."""
        self._db.execute("DELETE FROM entries WHERE id = ?", (index.id,))
        if index.kind == "tag":
            for vid in self.vids(space, index.on):
                self._put_entry(index, self.tag_row(space, index.on, vid) or {}, vid)
            return
        out = self._db.execute(
            "SELECT near, rank, far, props FROM edge_rows WHERE space = ? AND backwards = 0 AND type = ?",
            (space.id, index.on),
        )
        for near, rank, far, props in out.fetchall():
            self._put_entry(index, _unpacked(props), _vid(near), rank, _vid(far))

    def drop_index(self, index: Index) -> None:
        """Remove all entries of an index."""
        self._db.execute("DELETE FROM entries WHERE id = ?", (index.id,))

    def clear(self, space: Space) -> None:
        """Remove all rows of a space."""
        for table in ("tag_rows", "edge_rows"):
            self._db.execute(f"DELETE FROM {table} WHERE space = ?", (space.id,))
        for index in space.indexes.values():
            self.drop_index(index)

    def counts(self, space: Space) -> tuple[dict[str, int], dict[str, int], int]:
        """Rows of each tag, edges of each type, and vertices, as a STATS job counts them."""
        tags = self._db.execute("SELECT tag, count(*) FROM tag_rows WHERE space = ? GROUP BY tag", (space.id,))
        by_tag = dict(tags.fetchall())
        edges = self._db.execute(
            "SELECT type, count(*) FROM edge_rows WHERE space = ? AND backwards = 0 GROUP BY type", (space.id,)
        )
        return by_tag, dict(edges.fetchall()), len(self.vids(space))

    def _put_entry(self, index: Index, props: Properties, src: str, rank: int = 0, dst: str = "") -> None:
        first = props.get(index.columns[0][0], NULL) if index.columns else NULL
        if isinstance(first, Null):
            first = None
        elif isinstance(first, str):
            first = _text(first)
        self._db.execute(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", (index.id, first, _text(src), rank, _text(dst))
        )

    def _drop_entry(self, index: Index, src: str, rank: int = 0, dst: str = "") -> None:
        self._db.execute(
            "DELETE FROM entries WHERE id = ? AND src = ? AND rank = ? AND dst = ?",
            (index.id, _text(src), rank, _text(dst)),
        )


def _packed(props: Properties) -> bytes:
    plain = {name: None if isinstance(value, Null) else value for name, value in props.items()}
    return bytes(msgpack.packb(plain, unicode_errors="surrogateescape"))


def _unpacked(packed: bytes) -> Properties:
    plain = msgpack.unpackb(packed, unicode_errors="surrogateescape")
    return {name: NULL if value is None else value for name, value in plain.items()}


def _text(value: str) -> bytes:
    """SQLite gets bytes: any text goes in, and is ordered as the server orders it."""
    return value.encode("utf-8", "surrogateescape")


def _vid(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")
