"""Routing: the partition of a key is the one that a Kafka producer picks."""

import pytest

from schemas.routing import murmur2, partition_of


@pytest.mark.parametrize(
    ("data", "signed"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_murmur2_gives_the_values_that_kafka_itself_is_tested_with(data: str, signed: int) -> None:
    assert murmur2(data.encode()) == signed % 2**32


def test_partition_is_the_hash_without_its_sign_bit_modulo_the_partitions() -> None:
    assert partition_of("foobar", 12) == (-790332482 & 0x7FFFFFFF) % 12
    assert partition_of("abc", 12) == 479470107 % 12


def test_every_partition_of_a_topic_gets_some_of_many_keys() -> None:
    reached = {partition_of(f"shop/n{number}", 8) for number in range(200)}

    assert reached == {0, 1, 2, 3, 4, 5, 6, 7}


def test_empty_and_chinese_keys_have_a_partition() -> None:
    assert partition_of("", 4) in range(4)
    assert partition_of("shop/客户/陈梅", 1) == 0
