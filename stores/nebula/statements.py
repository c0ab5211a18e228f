"""Every nGQL statement of the graph on NebulaGraph, by name.

In braces stands what the caller fills in: a `Words` (vids, rows, keys, whole numbers for LIMIT) becomes part of the
text, every other value becomes a parameter (stores/nebula/script.py). Vids and edge ranks cannot be parameters.
A request is some of these joined by `;`: first what writes, then at most one that reads, whose rows are the reply.
"""

from stores.nebula.schema import LINKS, Index, Shape

_LINKS = ", ".join(f"`{link}`" for link in LINKS)

# The space and its schema. All of it is asynchronous: stores/nebula/bootstrap.py waits.

USE = "USE {space}"
CREATE_SPACE = (
    "CREATE SPACE IF NOT EXISTS {space} "
    "(partition_num = {partitions}, replica_factor = {replicas}, vid_type = FIXED_STRING({vid_bytes}))"
)
SHOW_SPACES = "SHOW SPACES"
DESCRIBE_TAG = "DESCRIBE TAG {shape}"
"""Columns Field, Type, Null, Default, Comment; an unknown tag is an error."""
DESCRIBE_EDGE = "DESCRIBE EDGE {shape}"
REBUILD_INDEXES = "REBUILD TAG INDEX {indexes}"
"""One row with a column `New Job Id`."""
SHOW_JOB = "SHOW JOB {job}"
"""The first row is the job; its column Status ends as FINISHED."""


def create_shape(shape: Shape) -> str:
    """Make a tag or an edge type unless there is one of that name, whatever its columns."""
    columns = ", ".join(f"`{column.name}` {column.declared}" for column in shape.columns)
    return f"CREATE {'EDGE' if shape.is_edge else 'TAG'} IF NOT EXISTS `{shape.name}` ({columns})"


def create_index(index: Index) -> str:
    """Make a tag index unless there is one on these columns."""
    return f"CREATE TAG INDEX IF NOT EXISTS `{index.name}` ON `{index.tag}` ({index.on})"


def probe(shape: Shape, vid: str) -> tuple[str, str, str]:
    """Write a row of nothing but defaults, read it, remove it: works once every server touched knows the shape."""
    if shape.is_edge:
        return (
            f"INSERT EDGE `{shape.name}` (`{shape.columns[0].name}`) VALUES {vid}->{vid}@0:({_blank(shape)})",
            f"FETCH PROP ON `{shape.name}` {vid}->{vid}@0 YIELD src(edge) AS vid",
            f"DELETE EDGE `{shape.name}` {vid}->{vid}@0",
        )
    return (
        f"INSERT VERTEX `{shape.name}` (`{shape.columns[0].name}`) VALUES {vid}:({_blank(shape)})",
        f"FETCH PROP ON `{shape.name}` {vid} YIELD id(vertex) AS vid",
        f"DELETE TAG `{shape.name}` FROM {vid}",
    )


def _blank(shape: Shape) -> str:
    return {"string": '""', "int64": "0", "double": "0.0"}[shape.columns[0].kind]


FETCH_MESH = "FETCH PROP ON `mesh` {vids} YIELD id(vertex) AS vid, mesh.schema_version AS version"
PUT_MESH = "INSERT VERTEX `mesh` (`schema_version`) VALUES {vid}:({version})"

# Reading. A vid that is not there, or lacks the tag, gives no row, except where it says otherwise.

FETCH_SLOTS = (
    "FETCH PROP ON `slot` {vids} YIELD id(vertex) AS vid, slot.version AS version, slot.claim AS claim, "
    "slot.claimed AS claimed, slot.loose AS loose, slot.body AS body"
)
FETCH_VIEWS = (
    "FETCH PROP ON `slot` {vids} "
    "YIELD id(vertex) AS vid, slot.version AS version, slot.loose AS loose, slot.body AS body"
)
FETCH_TOKENS = (
    "FETCH PROP ON `slot` {vids} "
    "YIELD id(vertex) AS vid, slot.version AS version, slot.claim AS claim, slot.token AS token"
)
HELD_EVIDENCE = "GO FROM {vids} OVER `holds` YIELD src(edge) AS vid, holds.since AS since, $$.evidence.body AS body"
"""One row an edge; `body` is EMPTY or NULL where the evidence itself is gone."""
FETCH_EVIDENCE = "FETCH PROP ON `evidence` {vids} YIELD id(vertex) AS vid, evidence.body AS body"
FETCH_DIGESTS = "FETCH PROP ON `digest` {vids} YIELD id(vertex) AS vid, digest.body AS body"
FETCH_BELIEFS = (
    "FETCH PROP ON `belief` {vids} YIELD id(vertex) AS vid, belief.slot AS slot, "
    "belief.version AS version, belief.pending AS pending"
)
FETCH_ALIASES = "FETCH PROP ON `alias` {vids} YIELD id(vertex) AS vid, alias.target AS target"
FETCH_ENTITIES = "FETCH PROP ON `entity` {vids} YIELD id(vertex) AS vid, entity.name AS name, entity.type AS type"
FETCH_BANKS = "FETCH PROP ON `bank` {vids} YIELD id(vertex) AS vid, bank.policy AS policy"
FETCH_GRAVES = "FETCH PROP ON `grave` {vids} YIELD id(vertex) AS vid"
FETCH_BURIALS = "FETCH PROP ON `burials` {vids} YIELD id(vertex) AS vid, burials.last AS last"
EVIDENCE_TOLD = "GO FROM {vids} OVER `told` YIELD told.id AS id, $$.evidence.body AS body"
PLACES_SAID = (
    "GO FROM {vids} OVER `said` "
    "YIELD src(edge) AS vid, said.id AS id, said.observation AS observation, said.turn AS turn, said.at AS at"
)
ENTITIES_NAMED = "GO FROM {vids} OVER `named` YIELD named.id AS id, $$.entity.name AS name, $$.entity.type AS type"
SLOTS_ABOUT = "GO FROM {vids} OVER `about` YIELD about.id AS id | ORDER BY $-.id | LIMIT {limit}"
LINKS_OF = (
    f"GO FROM {{vids}} OVER {_LINKS} BIDIRECT YIELD DISTINCT type(edge) AS link, properties(edge).weight AS weight, "
    "properties(edge).source AS source, properties(edge).target AS target "
    "| ORDER BY $-.weight DESC, $-.link, $-.source, $-.target | LIMIT {limit}"
)
"""The strongest edges of all the vids together, both directions, each once."""
CONCLUSIONS_FROM = (
    "GO FROM {vids} OVER `derived_from` REVERSELY YIELD DISTINCT properties(edge).source AS source | ORDER BY $-.source"
)
"""The beliefs that rest on any of the vids."""

# Looking up through an index.

ALL_BANKS = "LOOKUP ON `bank` YIELD bank.name AS name, bank.policy AS policy"
SLOTS_DUE = (
    "LOOKUP ON `slot` WHERE slot.review_at <= {now} "
    "YIELD slot.bank AS bank, slot.id AS id, slot.review_at AS review_at "
    "| ORDER BY $-.review_at, $-.bank, $-.id | LIMIT {limit}"
)
BELIEFS_PENDING = (
    "LOOKUP ON `belief` WHERE belief.pending > {none} "
    "YIELD belief.bank AS bank, belief.id AS id, belief.slot AS slot, belief.version AS version, "
    "belief.pending AS pending | ORDER BY $-.pending, $-.bank, $-.id | LIMIT {skip}, {limit}"
)
BELIEFS_INDEXED = (
    "LOOKUP ON `belief` WHERE belief.bank == {bank} AND belief.pending == {none} YIELD belief.id AS id | LIMIT {limit}"
)
SLOTS_AFTER = (
    "LOOKUP ON `slot` WHERE slot.bank == {bank} AND slot.id > {after} YIELD slot.id AS id "
    "| ORDER BY $-.id | LIMIT {limit}"
)
SLOTS_BETWEEN = (
    "LOOKUP ON `slot` WHERE slot.bank == {bank} AND slot.id > {after} AND slot.id < {before} YIELD slot.id AS id "
    "| ORDER BY $-.id | LIMIT {limit}"
)
ENTITIES_AFTER = (
    "LOOKUP ON `entity` WHERE entity.bank == {bank} AND entity.id > {after} "
    "YIELD entity.id AS id, entity.name AS name, entity.type AS type | ORDER BY $-.id | LIMIT {limit}"
)
ENTITIES_BETWEEN = (
    "LOOKUP ON `entity` WHERE entity.bank == {bank} AND entity.id > {after} AND entity.id < {before} "
    "YIELD entity.id AS id, entity.name AS name, entity.type AS type | ORDER BY $-.id | LIMIT {limit}"
)
ANY_SLOT = "LOOKUP ON `slot` WHERE slot.bank == {bank} YIELD slot.id AS id | LIMIT {limit}"
COUNT_ENTITIES = "LOOKUP ON `entity` WHERE entity.bank == {bank} YIELD entity.id AS id | YIELD count(*) AS n"
COUNT_SLOTS = "LOOKUP ON `slot` WHERE slot.bank == {bank} YIELD slot.id AS id | YIELD count(*) AS n"
COUNT_EVIDENCE = "LOOKUP ON `evidence` WHERE evidence.bank == {bank} YIELD evidence.id AS id | YIELD count(*) AS n"
COUNT_STATUSES = (
    "LOOKUP ON `belief` WHERE belief.bank == {bank} YIELD belief.status AS status "
    "| GROUP BY $-.status YIELD $-.status AS status, count(*) AS n"
)
COUNT_PENDING = (
    "LOOKUP ON `belief` WHERE belief.bank == {bank} AND belief.pending > {none} YIELD belief.id AS id "
    "| YIELD count(*) AS n"
)

# Compare and swap on a slot. Each may be sent again: afterwards FETCH_TOKENS tells whose it is.

CLAIM_SLOT = (
    "UPSERT VERTEX ON `slot` {vid} SET claim = {token}, claimed = {token}, loose = {loose} "
    "WHEN version == {version} AND claim == {held} AND claimed == {last}"
)
"""Take a slot that nobody is writing (`held` is empty) or whose writer is gone (`held` is its token).

`last` is who claimed it last when it was read: somebody may have begun and given up in between.

A slot that is not there comes to be at version 0, whatever WHEN says; such a row is no slot yet to any reader.
"""
COMMIT_SLOT = (
    "UPDATE VERTEX ON `slot` {vid} SET bank = {bank}, id = {id}, version = {version}, review_at = {review_at}, "
    "body = {body}, token = {token}, loose = {loose}, claim = {claim} WHEN claim == {token}"
)
"""Everything about the slot becomes what was decided, at once, if it is still ours.

`claim` is empty, or the token again where something is to be removed before anybody else may write.
"""
TIDY_SLOT = 'UPDATE VERTEX ON `slot` {vid} SET claim = "", loose = "" WHEN claim == {token}'
"""Once what was loose is removed."""
RELEASE_SLOT = 'UPDATE VERTEX ON `slot` {vid} SET claim = "" WHEN claim == {token}'

# Writing. Plain INSERT replaces the row; rows are `vid:(...)` or `from->to@rank:(...)`, see the row templates.

PUT_BANK = "UPSERT VERTEX ON `bank` {vid} SET name = {name}"
PUT_POLICY = "UPSERT VERTEX ON `bank` {vid} SET name = {name}, policy = {policy}"
PUT_ENTITY = (
    "UPSERT VERTEX ON `entity` {vid} SET bank = {bank}, id = {id}, name = {name}, type = {type} "
    "WHEN name > {name} OR (name == {name} AND type > {type})"
)
"""Of two spellings of one name the smaller stays, whichever came first."""
PUT_BELIEF = (
    "UPSERT VERTEX ON `belief` {vid} SET bank = {bank}, id = {id}, slot = {slot}, status = {status}, "
    "version = {version}, pending = {pending}"
)
"""For a belief that was there: the indexer may be marking it, which an INSERT would overwrite or lose."""
MARK_INDEXED = "UPDATE VERTEX ON `belief` {vid} SET pending = {none} WHEN version <= {version}"
MARK_PENDING = "UPDATE VERTEX ON `belief` {vid} SET pending = {pending}"

INSERT_BELIEFS = "INSERT VERTEX `belief` (`bank`, `id`, `slot`, `status`, `version`, `pending`) VALUES {rows}"
BELIEF_ROW = "{vid}:({bank}, {id}, {slot}, {status}, {version}, {pending})"
INSERT_ALIASES = "INSERT VERTEX `alias` (`target`) VALUES {rows}"
ALIAS_ROW = "{vid}:({target})"
INSERT_EVIDENCE = "INSERT VERTEX `evidence` (`bank`, `id`, `body`) VALUES {rows}"
EVIDENCE_ROW = "{vid}:({bank}, {id}, {body})"
INSERT_DIGESTS = "INSERT VERTEX `digest` (`body`) VALUES {rows}"
DIGEST_ROW = "{vid}:({body})"

INSERT_GRAVES = "INSERT VERTEX `grave` (`bank`) VALUES {rows}"
GRAVE_ROW = "{vid}:({bank})"
PUT_BURIALS = "INSERT VERTEX `burials` (`last`) VALUES {vid}:({last})"

INSERT_EDGES = "INSERT EDGE {edge} ({columns}) VALUES {rows}"
"""For every edge type: its columns in the order of the schema."""
EDGE_ROW = "{src}->{dst}@{rank}:({values})"
EDGE_KEY = "{src}->{dst}@{rank}"
DELETE_EDGES = "DELETE EDGE {edge} {keys}"
DELETE_ROWS = "DELETE TAG {tag} FROM {vids}"
