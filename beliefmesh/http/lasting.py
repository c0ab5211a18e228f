"""Replies that last: so many at once, apart from the requests in flight, which they do not keep out."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from beliefmesh.http.meters import Meters
from beliefmesh.http.room import Room
from schemas.errors import Busy


class _Counted(Response):
    """A reply that is counted while it lasts, and then not among the requests in flight."""

    def __init__(self, reply: Response, meters: Meters, room: Room) -> None:
        super().__init__()
        self._reply = reply
        self._meters = meters
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply, to its end."""
        self._meters.lasting += 1
        self._room.leave()
        try:
            await self._reply(scope, receive, send)
        finally:
            self._meters.lasting -= 1
            self._room.back()


def lasting(request: Request, reply: Response) -> Response:
    """A reply that lasts. Raises Busy where as many last already as the settings allow."""
    meters: Meters = request.app.state.meters
    most: int = request.app.state.settings.http.max_streams
    if meters.lasting >= most:
        raise Busy(f"{most} streams last already; try again in a second, or raise http.max_streams")
    return _Counted(reply, meters, request.app.state.room)
