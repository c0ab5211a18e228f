"""Sessions with NebulaGraph: one a thread at work, kept for the next; every request is repeated until it is decided.

A request may be sent again at any time: statements are made so that twice is as good as once, and what compares and
swaps reads afterwards whose it is (stores/nebula/statements.py).
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from schemas.errors import StoreUnavailable
from stores.nebula import statements as ngql
from stores.nebula.errors import NebulaBroken, NebulaRefused
from stores.nebula.link import Link
from stores.nebula.options import NebulaOptions, tls_context
from stores.nebula.rows import Row
from stores.nebula.script import Fill, Request, Script, name, one

MOST_SESSIONS = 64
"""The server takes 300 from one user at one address."""
_ATTEMPTS = 10
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 2.0
_SETTLING_SECONDS = 30.0
_SETTLING_PAUSE = 0.5


class NebulaSessions:
    """Runs requests for any number of threads; `requests` counts those sent, `log_ins` the sessions opened."""

    def __init__(self, options: NebulaOptions) -> None:
        self.options = options
        self.requests = 0
        self.log_ins = 0
        self._context = tls_context(options)
        self._idle: deque[Link] = deque()
        self._lost: deque[int] = deque()
        self._room = threading.BoundedSemaphore(MOST_SESSIONS)
        self._counting = threading.Lock()
        self._next_address = random.randrange(len(options.addresses))  # noqa: S311  spreads the load, no secret
        self._settled = 0.0
        self._closed = False

    def read(self, template: str, **values: Fill) -> list[Row]:
        """The rows of one statement."""
        return self.run(one(template, **values))

    def write(self, script: Script) -> list[Row]:
        """Send a script, request by request, in order; the rows of its last statement."""
        rows: list[Row] = []
        for request in script.requests():
            rows = self.run(request)
        return rows

    def run(self, request: Request, *, in_space: bool = True) -> list[Row]:
        """The rows of a request. Raises StoreUnavailable when it cannot be done, NebulaRefused for an absent row."""
        started = time.monotonic()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._link(in_space) as link:
                    return self._counted(link.run, request)
            except NebulaBroken as error:
                problem: Exception = error
                if not error.sent and attempt > len(self.options.addresses):
                    break
            except NebulaRefused as error:
                problem = error
                if error.meaning == "absent":
                    raise
                if not self._may_pass(error):
                    raise error.ours() from error
            if time.monotonic() - started > 3 * self.options.timeout:
                break
            pause(attempt)
        raise StoreUnavailable(f"NebulaGraph at {self.options.place} does not do it: {problem}") from problem

    def settle(self) -> None:
        """Expect the servers not to know the schema for a while."""
        self._settled = time.monotonic() + _SETTLING_SECONDS

    def close(self) -> None:
        """Sign out of every session that is idle; those at work end when their call does."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _may_pass(self, error: NebulaRefused) -> bool:
        if error.meaning == "settling" and time.monotonic() < self._settled:
            time.sleep(min(_SETTLING_PAUSE, self.options.heartbeat / 2))
            return True
        return error.meaning in ("again", "login")

    def _counted(self, run: Callable[[Request], list[Row]], request: Request) -> list[Row]:
        with self._counting:
            self.requests += 1
        return run(request)

    @contextmanager
    def _link(self, in_space: bool) -> Iterator[Link]:
        if self._closed:
            raise StoreUnavailable(f"the graph store {self.options.place} was closed; open it again")
        with self._room:
            link = self._idle.pop() if self._idle and in_space else self._log_in(in_space)
            try:
                yield link
            except NebulaBroken as error:
                self._drop(link)
                if not error.slow:
                    self._drop_idle(link.address)
                raise
            except NebulaRefused as error:
                if error.meaning == "login":
                    link.hang_up()
                else:
                    self._keep(link, in_space)
                raise
            except BaseException:
                link.close()
                raise
            self._keep(link, in_space)

    def _drop(self, link: Link) -> None:
        self._lost.append(link.id)
        link.hang_up()

    def _drop_idle(self, address: tuple[str, int]) -> None:
        """What one connection tells of a server that went away is true of the idle ones too."""
        for _ in range(len(self._idle)):
            with suppress(IndexError):
                link = self._idle.popleft()
                if link.address == address:
                    self._drop(link)
                else:
                    self._idle.append(link)

    def _keep(self, link: Link, in_space: bool) -> None:
        if in_space and not self._closed:
            self._idle.append(link)
        else:
            link.close()

    def _log_in(self, in_space: bool) -> Link:
        """A new session with the next address that answers; after a failure the next call tries the one after it."""
        with self._counting:
            address = self.options.addresses[self._next_address % len(self.options.addresses)]
            self.log_ins += 1
        try:
            link = Link(address, self.options, self._context)
            if in_space:
                self._enter(link)
        except NebulaBroken as error:
            with self._counting:
                self._next_address += 1
            raise NebulaBroken(f"{address[0]}:{address[1]}: {error}", sent=False) from error
        while self._lost:
            link.sign_out(self._lost.pop())
        return link

    def _enter(self, link: Link) -> None:
        try:
            link.run(one(ngql.USE, space=name(self.options.space)))
        except BaseException:
            link.close()
            raise


def pause(attempt: int) -> None:
    """Longer after each attempt, and never the same for two."""
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    time.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311  no secret
