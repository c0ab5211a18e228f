"""What every verb stands on: an opened home, the bank that a call is about, and being up to date before a question."""

import msgspec
import structlog

from beliefmesh.again import decide_again
from beliefmesh.echo import Echoes
from beliefmesh.home import Home
from schemas.errors import Busy, StoreUnavailable, VersionConflict
from schemas.limits import check_bank
from schemas.policy import Policy, check_policy
from streams.freshness import offsets_of, wait_for

_PATIENCE = 30.0

log_events = structlog.get_logger("beliefmesh")


class Bound:
    """A home and the bank that is meant where none is named."""

    def __init__(self, home: Home, bank: str, policy: Policy | None) -> None:
        self.home = home
        self.bank = bank
        self._policy = policy
        self._echoes = Echoes()
        for name in {bank, *home.graph.banks()} if policy else ():
            self._adopt_policy(name)

    def wait(self, token: str, timeout: float = _PATIENCE) -> None:
        """Return once what the token names is recallable. Raises Busy after `timeout` seconds."""
        if not offsets_of(token):
            return
        if not self.home.streaming:
            self.home.worker.drain()
        if not wait_for(self.home.log, self.home.topics, token, timeout):
            raise Busy(f"not recallable after {timeout:g} s; the stream is behind, try again later")

    def set_policy(self, policy: Policy, *, bank: str | None = None) -> None:
        """Give a bank a policy and decide all its slots again by it. Raises InvalidInput for senseless numbers."""
        name = self._bank(bank)
        self.home.graph.set_policy(name, check_policy(policy))
        decide_again(self.home, name)

    def banks(self) -> list[str]:
        """The banks that hold anything."""
        return self.home.graph.banks()

    def _keep_up(self) -> None:
        """Without a background worker, let what waits in the log, and what is due, have its effect before a question.

        Only what the stores hold answers; so where this fails, the question is asked all the same.
        """
        if not self.home.streaming:
            try:
                self.home.worker.drain(wait=False)
            except (StoreUnavailable, VersionConflict) as error:
                log_events.warning("memory.behind", reason=str(error))

    def _bank(self, bank: str | None) -> str:
        """The bank that a call is about; raises StoreUnavailable once this memory is closed."""
        self.home.require_open()
        return self.bank if bank is None else check_bank(bank)

    def _adopt_policy(self, bank: str) -> None:
        """Give a bank the policy of the settings' file, if there is one and the bank has another.

        What the bank has learned of its sources stays with it, and its profile where the file has none.
        """
        if self._policy is not None:
            held = self.home.graph.policy(bank)
            profile = held.profile if self._policy.profile is None else self._policy.profile
            wanted = msgspec.structs.replace(self._policy, trust=held.trust, profile=profile)
            if held != wanted:
                self.set_policy(wanted, bank=bank)
