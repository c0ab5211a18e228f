"""What every request of the API passes before its route: the door, the limits of its bank, its Idempotency-Key."""

from starlette.requests import Request

from beliefmesh.http.door import admit
from beliefmesh.http.once import once
from beliefmesh.quota import REQUESTS, Quotas


async def enter(request: Request) -> None:
    """Let a request in, in this order, or raise why not."""
    await admit(request)
    quotas: Quotas = request.app.state.quotas
    if "bank" in request.path_params:
        quotas.take(request.path_params["bank"], REQUESTS, 1)
    await once(request)
