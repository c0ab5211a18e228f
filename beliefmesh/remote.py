"""A memory that another process holds, over its HTTP API: the same methods, the same results, the same errors."""

from types import TracebackType

from beliefmesh.remote_verbs.asking import RemoteAsking
from beliefmesh.remote_verbs.backing import RemoteBacking
from beliefmesh.remote_verbs.following import RemoteFollowing
from beliefmesh.remote_verbs.judging import RemoteJudging
from beliefmesh.remote_verbs.keeping import RemoteKeeping
from beliefmesh.remote_verbs.merging import RemoteMerging
from beliefmesh.remote_verbs.operating import RemoteOperating
from beliefmesh.remote_verbs.reflecting import RemoteReflecting
from beliefmesh.remote_verbs.sending import PATIENCE, Sender
from beliefmesh.remote_verbs.telling import RemoteTelling
from beliefmesh.remote_verbs.upkeep import RemoteUpkeep


class RemoteMemory(
    RemoteTelling,
    RemoteAsking,
    RemoteJudging,
    RemoteReflecting,
    RemoteMerging,
    RemoteKeeping,
    RemoteOperating,
    RemoteFollowing,
    RemoteUpkeep,
    RemoteBacking,
):
    """A client of a mesh that serves HTTP at `url`; for several threads. It holds nothing that needs closing.

    `key` is an API key or a JSON Web Token, where the mesh asks for one. For `patience` seconds a request is sent again
    that failed on the way, or that the mesh cannot take at the moment; a write has no second effect by that.
    """

    def __init__(self, url: str, *, bank: str = "default", key: str = "", patience: float = PATIENCE) -> None:
        super().__init__(Sender(url, key, patience), bank)

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> "RemoteMemory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
