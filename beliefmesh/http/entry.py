"""What every request of the API passes before its route: door, limits of its bank, signature, Idempotency-Key."""

from starlette.requests import Request

from beliefmesh.http.body import read_bytes
from beliefmesh.http.door import SOURCE, admit
from beliefmesh.http.once import once
from beliefmesh.http.signature import check_signature, secret_of
from beliefmesh.quota import REQUESTS, Quotas
from beliefmesh.settings import WebhookSettings


async def enter(request: Request) -> None:
    """Let a request in, in this order, or raise why not."""
    await admit(request)
    quotas: Quotas = request.app.state.quotas
    if "bank" in request.path_params:
        quotas.take(request.path_params["bank"], REQUESTS, 1)
    if request.scope["route"].path == SOURCE:
        await _vouched(request)
    await once(request)


async def _vouched(request: Request) -> None:
    """Let a webhook through if its signature fits, where one is due; before its key, so that no reply is told unsigned.

    Raises WrongSignature.
    """
    source = request.path_params["name"]
    webhooks: WebhookSettings = request.app.state.settings.webhooks
    if secret_of(source, webhooks):
        check_signature(source, webhooks, request.headers, await read_bytes(request))
