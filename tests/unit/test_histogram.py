"""The histogram: each duration in the smallest bucket that holds it, and in all larger ones."""

from threading import Thread

from streams.histogram import Counted, Histogram


def test_nothing_counted_is_zero_everywhere() -> None:
    assert Histogram((0.5, 1.0)).counted() == Counted({"0.5": 0, "1.0": 0, "+Inf": 0}, 0.0, 0)


def test_a_duration_counts_in_every_bucket_that_it_does_not_exceed() -> None:
    histogram = Histogram((0.5, 1.0, 5.0))

    histogram.add([0.25, 0.5, 0.75])
    histogram.add([9.0])

    assert histogram.counted() == Counted({"0.5": 2, "1.0": 3, "5.0": 3, "+Inf": 4}, 10.5, 4)


def test_threads_that_count_at_once_lose_nothing() -> None:
    histogram = Histogram((1.0,))
    threads = [Thread(target=lambda: [histogram.add([0.5]) for _ in range(2_000)]) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert histogram.counted() == Counted({"1.0": 8_000, "+Inf": 8_000}, 4_000.0, 8_000)
