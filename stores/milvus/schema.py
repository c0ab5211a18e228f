"""How rows of the index stand in Milvus: one collection for each embedding model, its columns and its indexes.

A collection's name tells what is in it: `<prefix>_v<schema>_<hash of model and dimensions>`. So vectors of two models
are never in one collection, and a changed model or dimension begins a new one beside the earlier.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pymilvus import CollectionSchema, DataType, Function, FunctionType, MilvusClient

from schemas.errors import TooLarge
from schemas.identity import digest
from stores.local.row_table import span_of
from stores.milvus.filter import JOINER, bank_key, belief_key, entity_key, reader_key
from stores.milvus.words import LONGEST, parts_of
from stores.ports import IndexRow, Vectors

SCHEMA_VERSION: Final = 1
METRIC: Final = "IP"
"""Inner product: the cosine of unit vectors; and a row without a vector may hold zeros, which have no cosine."""

VECTOR, WORDS, BM25 = "vector", "words", "bm25"

_KEY_LENGTH = 32
_MOST_LISTED = 1_900
"""Readers, and entities, that are kept of one row: as many as a text column holds."""

_LONGEST_NAME = 4_096
_ANALYZER = {"tokenizer": "standard"}
_BM25_PARAMS = {"bm25_k1": 1.2, "bm25_b": 0.75}
_HNSW = {"M": 16, "efConstruction": 200}
_LEAST_BEAM = 64
_SERVER_INDEXES = {"belief_key": "INVERTED", "readers": "INVERTED", "entities": "INVERTED", "middle": "INVERTED"}

Stored = dict[str, Any]


def collection_name(prefix: str, model_id: str, dimensions: int) -> str:
    """The collection of a model under a prefix."""
    return f"{prefix}_v{SCHEMA_VERSION}_{digest(model_id, str(dimensions))[:16]}"


def version_of(name: str, prefix: str) -> int | None:
    """The schema version of one of our collections under the prefix; None for any other collection."""
    match = re.fullmatch(rf"{re.escape(prefix)}_v(\d{{1,6}})_[0-9a-f]{{16}}", name)
    return int(match[1]) if match else None


def schema_of(dimensions: int, lite: bool) -> CollectionSchema:
    """The columns. The bank is the partition key. Lists are arrays; in Milvus Lite they are joined texts."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("row", DataType.VARCHAR, is_primary=True, max_length=_KEY_LENGTH)
    schema.add_field("bank", DataType.VARCHAR, is_partition_key=True, max_length=_KEY_LENGTH)
    schema.add_field("belief_key", DataType.VARCHAR, max_length=_KEY_LENGTH)
    schema.add_field("belief", DataType.VARCHAR, max_length=_LONGEST_NAME)
    schema.add_field("version", DataType.INT64)
    schema.add_field("model", DataType.VARCHAR, max_length=_LONGEST_NAME)
    for column in ("readers", "entities"):
        if lite:
            schema.add_field(column, DataType.VARCHAR, max_length=LONGEST)
        else:
            schema.add_field(
                column,
                DataType.ARRAY,
                element_type=DataType.VARCHAR,
                max_capacity=_MOST_LISTED,
                max_length=_KEY_LENGTH,
            )
    schema.add_field("network", DataType.VARCHAR, max_length=_KEY_LENGTH)
    schema.add_field("status", DataType.VARCHAR, max_length=_KEY_LENGTH)
    schema.add_field("checked", DataType.BOOL)
    schema.add_field("embedded", DataType.BOOL)
    for column in ("since", "until", "middle"):
        schema.add_field(column, DataType.INT64)
    schema.add_field(WORDS, DataType.VARCHAR, max_length=LONGEST, enable_analyzer=True, analyzer_params=_ANALYZER)
    schema.add_field(BM25, DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=max(2, dimensions))
    schema.add_function(
        Function(name=BM25, function_type=FunctionType.BM25, input_field_names=[WORDS], output_field_names=[BM25])
    )
    return schema


def indexes_of(lite: bool) -> Any:
    """The indexes: Milvus Lite scans, since its HNSW loses hits under a selective filter."""
    params = MilvusClient.prepare_index_params()
    if lite:
        params.add_index(VECTOR, index_type="FLAT", metric_type=METRIC)
    else:
        params.add_index(VECTOR, index_type="HNSW", metric_type=METRIC, params=_HNSW)
    params.add_index(BM25, index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=_BM25_PARAMS)
    for column, kind in {} if lite else _SERVER_INDEXES.items():
        params.add_index(column, index_type=kind)
    return params


def vector_search(limit: int, lite: bool) -> dict[str, Any]:
    """How the vector column is searched: on a server, the beam of HNSW is never narrower than the answer."""
    return {"metric_type": METRIC, "params": {} if lite else {"ef": max(_LEAST_BEAM, limit)}}


def word_search() -> dict[str, Any]:
    """How the word column is searched."""
    return {"metric_type": "BM25"}


def stored_rows(
    rows: Sequence[IndexRow], vectors: Vectors | None, model_id: str, dimensions: int, lite: bool
) -> Iterator[Stored]:
    """What Milvus keeps of rows: usually one row each, more where the words need it; the first one bears the vector.

    Raises TooLarge for an id that its column cannot hold.
    """
    nothing = [0.0] * max(2, dimensions)
    for at, row in enumerate(rows):
        if len(row.belief.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
            raise TooLarge("belief", f"has an id of more than {_LONGEST_NAME} bytes; Milvus keeps no longer one")
        shared = _columns(row, lite)
        vector = vectors[at].tolist() if vectors is not None and row.embedded else None
        for number, words in enumerate(parts_of(row)):
            bears = vector is not None and number == 0
            yield shared | {
                "row": digest("row", row.bank, row.belief, row.audience, str(number)),
                "model": model_id if bears else "",
                "embedded": bears,
                WORDS: words,
                VECTOR: _padded(vector) if vector is not None and bears else nothing,
            }


def unpadded(vector: Sequence[float], dimensions: int) -> Sequence[float]:
    """A stored vector without what was added to it; Milvus takes none of one dimension."""
    return vector[:dimensions]


def padded(vector: Vectors) -> list[float]:
    """A vector as its column holds it."""
    return _padded(vector.tolist())


def _padded(vector: list[float]) -> list[float]:
    return vector if len(vector) > 1 else [*vector, 0.0]


def _columns(row: IndexRow, lite: bool) -> Stored:
    since, until = span_of(row)
    readers = [reader_key(row.bank, reader) for reader in dict.fromkeys(row.readers)][:_MOST_LISTED]
    entities = [entity_key(row.bank, entity) for entity in dict.fromkeys(row.entities)][:_MOST_LISTED]
    return {
        "bank": bank_key(row.bank),
        "belief_key": belief_key(row.bank, row.belief),
        "belief": row.belief,
        "version": row.version,
        "readers": JOINER.join(readers) if lite else readers,
        "entities": JOINER.join(entities) if lite else entities,
        "network": row.network,
        "status": row.status,
        "checked": row.checked,
        "since": since,
        "until": until,
        "middle": (since + until) // 2,
    }
