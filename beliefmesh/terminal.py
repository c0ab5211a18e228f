"""A terminal that shows what was told and obeys none of it: no control character of a text gets through."""

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_USUAL_WIDTH = 80


class Terminal(Console):
    """A console whose texts may come from anybody: escape sequences in them neither colour, move nor command it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.width < 1:  # COLUMNS=0, as some shells of editors and containers set it
            self.width = _USUAL_WIDTH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a drawing; those of the console's own controls stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(without_controls(segment.text), segment.style)


def without_controls(text: str) -> str:
    """A text without the characters that a terminal obeys; line ends and tabs stay."""
    return _CONTROLS.sub("", text)
