"""What was forgotten, on NebulaGraph: a vertex for each grave, and on the bank's own vertex when the last was dug."""

from collections.abc import Sequence

from stores.nebula import statements as ngql
from stores.nebula.reading import rows_of
from stores.nebula.script import Line, Script, quoted
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import bank_vid, vid


def bury(sessions: NebulaSessions, bank: str, graves: Sequence[str], at: int) -> None:
    """Note graves; the time goes last, so that whoever sees it finds them all."""
    lines = [Line(ngql.GRAVE_ROW, {"vid": quoted(vid(bank, each, "grave")), "bank": bank}) for each in graves]
    script = Script()
    script.add_rows(ngql.INSERT_GRAVES, lines)
    sessions.write(script)
    sessions.read(ngql.PUT_BURIALS, vid=quoted(bank_vid(bank)), last=at)


def buried(sessions: NebulaSessions, bank: str, graves: Sequence[str]) -> set[str]:
    """Those of these graves that were noted."""
    return {id for id, _ in rows_of(sessions, ngql.FETCH_GRAVES, bank, graves, "grave")}


def burials(sessions: NebulaSessions, bank: str) -> int:
    """When the bank's last burial was; 0 where there was none."""
    rows = sessions.read(ngql.FETCH_BURIALS, vids=quoted(bank_vid(bank)))
    return int(str(rows[0]["last"])) if rows else 0
