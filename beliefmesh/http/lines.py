"""A body cut into lines as it arrives, holding no more of it than one line may have."""


class Lines:
    """Takes chunks and gives the lines that are complete; None stands for one that is over the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that end in this chunk, without their ends."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self._taken())
        self._add(rest)
        return lines

    def last(self) -> list[bytes | None]:
        """The line that no newline ended, if there is one."""
        return [self._taken()] if self._size else []

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _taken(self) -> bytes | None:
        line = None if self._size > self._limit else b"".join(self._parts)
        self._parts, self._size = [], 0
        return line
