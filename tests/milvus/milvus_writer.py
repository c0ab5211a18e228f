"""Writes rows into an index in Milvus Lite and says which are acknowledged: a process to be killed."""

import sys

import numpy as np

from stores.milvus.index import MilvusIndex
from stores.ports import PUBLIC, IndexRow


def main(url: str) -> None:
    """Write beliefs b0, b1, … ten at a time until killed; each line said is the number of them that are written."""
    index = MilvusIndex(url, 4, "model-1")
    written = 0
    while True:
        rows = [
            IndexRow(
                bank="acme",
                belief=f"b{number}",
                audience="",
                readers=(PUBLIC,),
                version=1,
                network="world",
                status="active",
                text="word",
                keywords="",
                entities=(),
                at=0,
            )
            for number in range(written, written + 10)
        ]
        index.upsert(rows, np.tile(np.array([1, 0, 0, 0], np.float32), (10, 1)))
        written += 10
        print(written, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
