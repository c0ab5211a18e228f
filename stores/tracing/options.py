"""Where traces go, and how many of them."""

from typing import Annotated

import msgspec


class TracingOptions(msgspec.Struct, frozen=True):
    """The collector's OTLP endpoint (empty: nothing is traced), the share of new traces, the name of the service."""

    endpoint: str = ""
    sample_ratio: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1.0
    service_name: str = "beliefmesh"
    token: str = ""
