"""The worker that is none: other processes stream, this one only publishes and asks."""

from typing import Any

from streams.worker import Worker


class Elsewhere(Worker):
    """Stands for workers in other processes."""

    here = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.caught_up = True

    @property
    def running(self) -> bool:
        """Others run."""
        return True

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""

    def drain(self, *, wait: bool = True) -> int:  # noqa: ARG002 (the signature of `Worker`)
        """Others do it."""
        return 0
