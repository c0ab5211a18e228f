"""A memory made anew from its log, beside the one that is in use: filled, compared, and switched to."""

import time
from contextlib import ExitStack, closing
from typing import NamedTuple

import msgspec

from beliefmesh.home import Home, index_and_mesh, store_urls
from beliefmesh.settings import Settings, masked
from beliefmesh.space import begin, check_space, complete, removable, switch
from beliefmesh.state import state_hash
from schemas.errors import InvalidInput, InvalidSetting
from schemas.instant import Instant
from stores.open import open_graph
from stores.pages import all_slots
from stores.ports import GraphStore, StoreUrls
from streams.freshness import lag
from streams.rebuild import Progress, Replayed, replay
from streams.tombstones import Tombstones


class BankState(msgspec.Struct, frozen=True):
    """The state hash of a bank in both spaces; where they differ, how much evidence only one of them has."""

    bank: str
    old: str
    new: str
    only_old: int = 0
    only_new: int = 0


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild did. `waiting`: records that the old space had not applied yet when both were compared.

    `settings` are those that must be changed to use the new space, where the folder itself cannot be switched.
    `removable` is what may be deleted once nobody wants to go back to the old space.
    """

    space: str
    old_space: str
    observations: int
    claims: int
    beliefs: int
    dead_letters: int
    seconds: float
    banks: tuple[BankState, ...]
    waiting: int
    switched: bool
    settings: dict[str, str]
    removable: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether both spaces hold the same."""
        return all(bank.old == bank.new for bank in self.banks)


class _Filled(NamedTuple):
    """A new space: what was replayed, what waited by then, both states of each bank, the beliefs that it has."""

    replayed: Replayed
    waiting: int
    banks: tuple[BankState, ...]
    beliefs: int


def rebuild(
    home: Home, into: str, progress: Progress, *, graph: str = "", index: str = "", force: bool = False
) -> Rebuilt:
    """Fill the space `into` from the log, and switch to it if it holds what the current one holds.

    1. The current space applies what waits. 2. The new one is begun, empty, with policies and tombstones of all banks.
    3. The log is replayed, and its position handed over to the workers of the new space. 4. Both are compared. 5. The
    folder is switched; where stores are given by URL, `settings` says what to change instead. `force` switches all the
    same.

    Up to step 5 the current space stays current, and the same call begins anew. Raises InvalidInput for a space that
    is there already, InvalidSetting for a store that needs a URL.
    """
    if check_space(into, "into") == home.space:
        raise InvalidInput("into", f"{into} is the current space; take another name")
    chosen = _chosen(home.settings, into, graph, index)
    urls = store_urls(chosen, home.folder, into)
    inside = not (chosen.stores.graph and chosen.stores.index)
    started = time.monotonic()
    home.worker.drain()
    if inside:
        begin(home.folder, into)
    filled = _filled(home, into, urls, progress)
    settings = _to_change(home.settings, chosen)
    wanted = force or all(bank.old == bank.new for bank in filled.banks)
    if wanted and inside:
        complete(home.folder, into) if settings else switch(home.folder, into)
    return Rebuilt(
        space=into,
        old_space=home.space,
        observations=filled.replayed.observations,
        claims=filled.replayed.claims,
        beliefs=filled.beliefs,
        dead_letters=filled.replayed.dead_letters,
        seconds=time.monotonic() - started,
        banks=filled.banks,
        waiting=filled.waiting,
        switched=wanted and not settings,
        settings=settings if wanted else {},
        removable=tuple(removable(home.folder, home.space)) if wanted and not settings else (),
    )


def _filled(home: Home, into: str, urls: StoreUrls, progress: Progress) -> _Filled:
    with ExitStack() as opened:
        new = opened.enter_context(closing(open_graph(urls.graph)))
        _require_empty(new, urls)
        _copy_policies(home.graph, new)
        buried_to = home.tombstones.end()
        for stone in home.tombstones.all():
            new.bury(stone.bank, stone.graves)
        new_index, mesh = index_and_mesh(
            urls, new, home.embedder(), home.settings.mesh.shard_cache_mb, language=home.language
        )
        opened.enter_context(closing(new_index))
        opened.enter_context(closing(mesh))
        topics = msgspec.structs.replace(home.topics, space=into)
        replayed = replay(home.log, topics, mesh, home.clock, progress, home.settings.streams.batch)
        Tombstones(home.log, topics).finish(buried_to)
        home.worker.drain()
        waiting = sum(count for stage in lag(home.log, home.topics).values() for count in stage.values())
        banks = tuple(_compared(home.graph, new, home.clock()))
        return _Filled(replayed, waiting, banks, sum(new.counts(bank)["beliefs"] for bank in new.banks()))


def _chosen(settings: Settings, into: str, graph: str, index: str) -> Settings:
    """The settings under which the new space is used. A store that has a URL must get another one."""
    for name, given in (("graph", graph), ("index", index)):
        current = getattr(settings.stores, name)
        if current and not given:
            raise InvalidSetting(
                f"stores.{name}: is set, so the new {name} needs a URL too; give it with --{name}, "
                f"and change stores.{name} after the rebuild"
            )
        if current and current == given:
            raise InvalidInput(name, "is the URL of the current space's; name another one")
    stores = msgspec.structs.replace(settings.stores, graph=graph, index=index)
    streams = msgspec.structs.replace(settings.streams, space=into)
    return msgspec.structs.replace(settings, stores=stores, streams=streams)


def _to_change(now: Settings, then: Settings) -> dict[str, str]:
    """The settings to change by hand; none where the folder can be switched."""
    if not (now.streams.space or then.stores.graph or then.stores.index):
        return {}
    urls = {"stores.graph": then.stores.graph, "stores.index": then.stores.index}
    told = {"streams.space": then.streams.space} | {key: url for key, url in urls.items() if url}
    return {key: str(masked(key, value)) for key, value in told.items()}


def _require_empty(graph: GraphStore, urls: StoreUrls) -> None:
    held = graph.banks()
    if held:
        raise InvalidInput(
            "graph", f"{masked('graph', urls.graph)} holds the bank {held[0]} already; name an empty one, or empty it"
        )


def _copy_policies(old: GraphStore, new: GraphStore) -> None:
    for bank in old.banks():
        policy = old.policy(bank)
        if new.policy(bank) != policy:
            new.set_policy(bank, policy)


def _compared(old: GraphStore, new: GraphStore, now: Instant) -> list[BankState]:
    return [_bank_state(old, new, bank, now) for bank in sorted({*old.banks(), *new.banks()})]


def _bank_state(old: GraphStore, new: GraphStore, bank: str, now: Instant) -> BankState:
    before, after = state_hash(old, bank, now), state_hash(new, bank, now)
    if before == after:
        return BankState(bank, before, after)
    had, has = _evidence_ids(old, bank), _evidence_ids(new, bank)
    return BankState(bank, before, after, len(had - has), len(has - had))


def _evidence_ids(graph: GraphStore, bank: str) -> set[str]:
    return {piece.id for stored in all_slots(graph, bank) for piece in stored.evidence}
