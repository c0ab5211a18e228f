"""How much each bank may ask of this process: token buckets, which fill at a rate and hold what a burst may take.

    level(t) = min(capacity, level + rate * seconds)

Whoever finds at least one in a bucket may take any number, which may leave it in debt: one large request passes, and
the next one waits until that is paid.
"""

import threading
import time
from collections.abc import Callable

from beliefmesh.settings import LimitSettings
from schemas.errors import OverLimit

REQUESTS, OBSERVATIONS, BYTES, DAILY_BYTES = (
    "requests_per_second",
    "observations_per_second",
    "bytes_per_second",
    "bytes_per_day",
)

_DAY_SECONDS = 86_400.0
_MOST_BUCKETS = 40_000


class _Bucket:
    """One bank's share of one measure."""

    def __init__(self, rate: float, capacity: float, now: float) -> None:
        self._rate = rate
        self._capacity = capacity
        self._level = capacity
        self._at = now

    def wanting(self, now: float) -> float:
        """Seconds until there is one to take; 0 where there is."""
        self._fill(now)
        return max(0.0, (min(1.0, self._capacity) - self._level) / self._rate)

    def take(self, amount: float) -> None:
        self._level -= amount

    def is_full(self, now: float) -> bool:
        """Whether it is as a new one would be."""
        self._fill(now)
        return self._level >= self._capacity

    def _fill(self, now: float) -> None:
        self._level = min(self._capacity, self._level + self._rate * (now - self._at))
        self._at = now


class Quotas:
    """The buckets of all banks, for several threads."""

    def __init__(self, limits: LimitSettings, clock: Callable[[], float] = time.monotonic) -> None:
        burst = limits.burst_seconds
        rates = {name: float(getattr(limits, name)) for name in (REQUESTS, OBSERVATIONS, BYTES)}
        self._plans = {name: (rate, rate * burst) for name, rate in rates.items() if rate}
        if limits.bytes_per_day:
            self._plans[DAILY_BYTES] = (limits.bytes_per_day / _DAY_SECONDS, float(limits.bytes_per_day))
        self._clock = clock
        self._turn = threading.Lock()
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def take(self, bank: str, measure: str, amount: float) -> None:
        """Take so much of a measure. Raises OverLimit where the bank has used up what it may."""
        if measure in self._plans and amount:
            with self._turn:
                bucket = self._bucket(bank, measure)
                wanting = bucket.wanting(self._clock())
                if wanting:
                    raise _over(bank, measure, wanting)
                bucket.take(amount)

    def charge(self, bank: str, measure: str, amount: float) -> None:
        """Take what was had already; it may leave a debt."""
        if measure in self._plans and amount > 0:
            with self._turn:
                self._bucket(bank, measure).take(amount)

    def take_bytes(self, bank: str, amount: int) -> None:
        """Take bytes that came in already, of a second's share and of a day's."""
        for measure in (BYTES, DAILY_BYTES):
            self.charge(bank, measure, amount)

    def require_bytes(self, bank: str) -> None:
        """Raises OverLimit where the bank may send nothing more for now."""
        for measure in (BYTES, DAILY_BYTES):
            if wanting := self.wanting(bank, measure):
                raise _over(bank, measure, wanting)

    def wanting(self, bank: str, measure: str) -> float:
        """Seconds until the bank may take anything of a measure."""
        if measure not in self._plans:
            return 0.0
        with self._turn:
            return self._bucket(bank, measure).wanting(self._clock())

    def _bucket(self, bank: str, measure: str) -> _Bucket:
        bucket = self._buckets.get((bank, measure))
        if bucket is None:
            now = self._clock()
            if len(self._buckets) >= _MOST_BUCKETS:
                self._buckets = {key: each for key, each in self._buckets.items() if not each.is_full(now)}
            bucket = self._buckets[bank, measure] = _Bucket(*self._plans[measure], now)
        return bucket


def _over(bank: str, measure: str, seconds: float) -> OverLimit:
    return OverLimit(
        f"bank {bank:.64} has used up what limits.{measure} allows; try again in {seconds:.3g} s",
        f"limits.{measure}",
        seconds,
    )
