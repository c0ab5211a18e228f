"""How a language model is reached, and how much of it may be used."""

from typing import Annotated

import msgspec


class LanguageOptions(msgspec.Struct, frozen=True):
    """Endpoint and limits; without a URL there is no model.

    `timeout` bounds one attempt in seconds, `calls_per_hour` all attempts of one process (0: no bound).
    """

    url: str = ""
    key: str = ""
    timeout: Annotated[float, msgspec.Meta(gt=0.0, le=60.0)] = 20.0
    retries: Annotated[int, msgspec.Meta(ge=0, le=3)] = 2
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    calls_per_hour: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 1_000

    def __repr__(self) -> str:
        """Without the key: this may stand in a log."""
        return f"LanguageOptions(timeout={self.timeout}, retries={self.retries}, concurrency={self.concurrency})"
