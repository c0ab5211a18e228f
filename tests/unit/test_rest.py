"""A job rests while the stream moves, and not otherwise."""

from jobs.rest import Rest


class Stream:
    """Counts what came in; each nap lets some more in while any is left."""

    def __init__(self, left: int) -> None:
        self.came, self.left, self.naps = 0, left, 0

    def nap(self, seconds: float) -> None:
        self.naps += 1
        if self.left:
            self.left -= 1
            self.came += 1


def test_while_observations_come_in_a_job_has_a_fifth_of_the_time() -> None:
    stream = Stream(left=1_000)
    rest = Rest(lambda: stream.came, lambda: False, lambda: False, stream.nap)
    stream.came += 5

    assert rest(1.0) == 4.0


def test_a_job_does_not_rest_where_nothing_comes_in() -> None:
    stream = Stream(left=0)
    rest = Rest(lambda: stream.came, lambda: False, lambda: False, stream.nap)

    assert rest(1.0) == 0.0
    assert stream.naps == 0


def test_a_rest_ends_soon_after_the_stream_has_come_to_its_end() -> None:
    stream = Stream(left=2)
    rest = Rest(lambda: stream.came, lambda: False, lambda: False, stream.nap)
    stream.came += 1

    rest(10.0)

    assert stream.naps == 5


def test_a_rest_ends_at_once_when_the_job_is_to_stop() -> None:
    stream = Stream(left=1_000)
    rest = Rest(lambda: stream.came, lambda: True, lambda: True, stream.nap)
    stream.came += 1

    assert rest(10.0) == 0.0


def test_a_batch_that_takes_long_is_waited_for_though_nothing_more_comes_in() -> None:
    stream = Stream(left=0)
    rest = Rest(lambda: stream.came, lambda: stream.naps < 10, lambda: False, stream.nap)

    rest(10.0)

    assert stream.naps == 12
