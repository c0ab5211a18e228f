"""The client library: a memory in a folder, five lines from install to answer."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from actors.recaller import Extension
from beliefmesh.home import Home, system_clock
from beliefmesh.policy_file import read_policy
from beliefmesh.remote import RemoteMemory
from beliefmesh.remote_verbs.sending import PATIENCE
from beliefmesh.settings import Settings, load_settings
from beliefmesh.verbs.backing import Backing
from beliefmesh.verbs.explaining import Explaining
from beliefmesh.verbs.following import Following
from beliefmesh.verbs.forgetting import Forgetting
from beliefmesh.verbs.keeping import Keeping
from beliefmesh.verbs.listing import Listing
from beliefmesh.verbs.merging import Merging
from beliefmesh.verbs.narrating import Narrating
from beliefmesh.verbs.operating import Operating
from beliefmesh.verbs.profiling import Profiling
from beliefmesh.verbs.upkeep import Upkeep
from recall.judge import Filter
from recall.question import Retriever
from schemas.instant import Instant
from schemas.limits import check_bank


class Memory(
    Upkeep,
    Explaining,
    Keeping,
    Merging,
    Narrating,
    Profiling,
    Operating,
    Listing,
    Following,
    Forgetting,
    Backing,
):
    """A belief memory in a folder, in this process; for several threads.

    `folder` defaults to the settings' (`.beliefmesh`). Everything accepted is in the log before `retain` returns.
    `retrievers` of your own run beside ours (`recall/question.py` has their signature); `filters` refuse finds.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        bank: str | None = None,
        settings: Settings | None = None,
        clock: Callable[[], Instant] = system_clock,
        retrievers: Mapping[str, Retriever] | None = None,
        filters: Sequence[Filter] = (),
    ) -> None:
        chosen = settings or load_settings().settings
        if settings is None and not chosen.mesh.address:
            inline = msgspec.structs.replace(chosen.mesh, runtime="inline")
            chosen = msgspec.structs.replace(chosen, mesh=inline)
        if folder is not None:
            chosen = msgspec.structs.replace(chosen, mesh=msgspec.structs.replace(chosen.mesh, folder=str(folder)))
        name = check_bank(chosen.mesh.bank if bank is None else bank)
        policy = read_policy(Path(chosen.policy.file)) if chosen.policy.file else None
        home = Home(chosen, clock, Extension(retrievers or {}, tuple(filters)))
        try:
            super().__init__(home, name, policy)
        except BaseException:
            home.close()
            raise

    @staticmethod
    def connect(url: str, *, bank: str = "default", key: str = "", patience: float = PATIENCE) -> RemoteMemory:
        """A client of a mesh that runs elsewhere and serves HTTP at `url`, as `RemoteMemory` describes it."""
        return RemoteMemory(url, bank=bank, key=key, patience=patience)

    def close(self) -> None:
        """Finish what is in hand and give the folder up."""
        self.home.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
