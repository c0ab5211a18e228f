"""What every request of the API passes before its route, in this order: the door, then its Idempotency-Key."""

from starlette.requests import Request

from beliefmesh.http.door import admit
from beliefmesh.http.once import once


async def enter(request: Request) -> None:
    """Let a request in, or raise why not."""
    await admit(request)
    await once(request)
