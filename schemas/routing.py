"""Which partition a key belongs to: murmur2, as in Kafka's default partitioner."""

from functools import lru_cache

_MASK = 0xFFFFFFFF
_M = 0x5BD1E995
_SEED = 0x9747B28C


def murmur2(data: bytes) -> int:
    """32-bit murmur2 of `data`, unsigned, with Kafka's seed (org.apache.kafka.common.utils.Utils.murmur2)."""
    length = len(data)
    h = (_SEED ^ length) & _MASK
    whole = length & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        k = (k ^ (k >> 24)) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    tail = data[whole:]
    if tail:
        h = (h ^ int.from_bytes(tail, "little")) * _M & _MASK
    h = (h ^ (h >> 13)) * _M & _MASK
    return h ^ (h >> 15)


@lru_cache(maxsize=65_536)
def partition_of(key: str, partitions: int) -> int:
    """The partition, 0 to partitions - 1, that a key belongs to; the same as a Kafka producer picks."""
    return (murmur2(key.encode("utf-8")) & 0x7FFFFFFF) % partitions
