"""What came of the requests that this process answered."""

from collections import Counter

from streams.histogram import Histograms

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Meters:
    """Requests in flight or waiting, replies that last, answered ones by method, route, status; for the event loop."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.waiting = 0
        self.lasting = 0
        self.requests: Counter[tuple[str, str, str]] = Counter()
        self.seconds = Histograms(BOUNDS)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self.requests[method, route, str(status)] += 1
        self.seconds.add(route, seconds)
