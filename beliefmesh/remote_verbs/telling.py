"""Verbs that tell a mesh elsewhere something: observations, one by one or by the file, and what a source refused."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from beliefmesh.http.body import LINES_TYPE
from beliefmesh.http.reply import EXACT_TYPE
from beliefmesh.letters import Letters
from beliefmesh.receipt import Imported, Receipt, Tellable, fields_of, line_of, several, written
from beliefmesh.remote_verbs.connected import Connected
from schemas.dead_letter import DeadLetter
from schemas.wire import dump, load

_LINES_AT_ONCE = 1_000
_BYTES_AT_ONCE = 2_097_152


class RemoteTelling(Connected):
    """Retain and import."""

    def retain(
        self,
        observations: Tellable | Sequence[Tellable],
        *,
        bank: str | None = None,
        wait: bool = True,
        expected_version: int | None = None,
        **fields: object,
    ) -> Receipt:
        """Keep what was observed, as `Memory.retain` does."""
        told = [_filled(one, fields) for one in several(observations)]
        asked = {"wait": "true" if wait else None, "expected_version": expected_version}
        return self._post(f"{self._in(bank)}/observations", told, Receipt, asked=asked)

    def import_lines(
        self, lines: Iterable[bytes | str], *, bank: str | None = None, progress: Callable[[int], None] | None = None
    ) -> Imported:
        """Keep observations written as JSON, one a line, as `Memory.import_lines` does."""
        accepted = dead = unclear = 0
        token = ""
        for count, chunk in _chunks(lines):
            data = self._sender.send("POST", f"{self._in(bank)}/observations", body=chunk, content=LINES_TYPE)
            done = load(data, Imported)
            accepted, dead, token = accepted + done.accepted, dead + done.dead, done.token or token
            unclear += done.unclear
            if progress:
                progress(count)
        return Imported(accepted, dead, token, unclear)

    def import_fields(self, rows: Iterable[Mapping[str, object]], *, bank: str | None = None) -> Imported:
        """Keep observations, each as the fields that its JSON would have, as `Memory.import_fields` does."""
        return self.import_lines(map(written, map(fields_of, rows)), bank=bank)

    def set_aside(self, letters: Sequence[DeadLetter], *, bank: str | None = None) -> None:
        """Keep what a source could not use, which was read here, as dead letters of the mesh."""
        body = dump(Letters(tuple(letters)))
        self._sender.send("POST", f"{self._in(bank)}/refused", body=body, content=EXACT_TYPE)


def _filled(one: object, fields: Mapping[str, object]) -> object:
    """An observation with the fields that it lacks; what is none is left for the mesh to refuse by name."""
    told = {"text": one} if isinstance(one, str) else one
    return {**fields, **told} if isinstance(told, Mapping) else told


def _chunks(lines: Iterable[bytes | str]) -> Iterator[tuple[int, bytes]]:
    """Lines joined to bodies of a bearable size, each with their number."""
    chunk: list[bytes] = []
    size = 0
    for line in map(line_of, lines):
        if chunk and (len(chunk) >= _LINES_AT_ONCE or size + len(line) > _BYTES_AT_ONCE):
            yield len(chunk), b"\n".join(chunk)
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield len(chunk), b"\n".join(chunk)
