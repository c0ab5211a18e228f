"""How results look on a terminal; every word that comes from the memory is printed as it is, never as markup."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from beliefmesh.doctor import DoctorReport
from beliefmesh.letters import original_text
from beliefmesh.receipt import Imported, Receipt
from beliefmesh.tour import Conflict, Tour
from recall.render import ARCHIVED, NOTHING, explanation_text, fresh_look, history_text, paragraph, recent_line
from recall.tell import counted, one_line, shortened, value_of
from schemas.answer import Answer, Explanation, Found, History
from schemas.belief import Belief
from schemas.dead_letter import DeadLetter
from schemas.instant import Instant, format_day, format_instant

_STATUS_STYLE = {"active": "green", "contested": "yellow", "revoked": "red", "stale": "bright_black"}
_CONFLICT_STYLE = {
    "replaced": ("→", "red", "green"),
    "narrowed": ("but", "green", "green"),
    "open": ("or", "yellow", "yellow"),
}
_CONFLICTS_SHOWN = 8
_ANSWERS_SHOWN = 2
_BAR = 10


def show_answer(console: Console, answer: Answer) -> None:
    """The beliefs found, each with its reasons and how to ask for more."""
    for number, found in enumerate(answer.found, 1):
        console.print(_headed(f"{number}. ", found))
    if not answer.found:
        console.print(NOTHING)
    for one in answer.needs_fresh_look:
        console.print(Text(fresh_look(one), "yellow"))
    for piece in answer.recent:
        console.print(Text(recent_line(piece), "dim"))
    if answer.left_out:
        told = ", ".join(f"{count} by {reason}" for reason, count in answer.left_out.items())
        console.print(Text(f"left out: {told}", "dim"))
    for report in answer.reports:
        if report.state in ("late", "failed"):
            console.print(Text(f"{report.name} {report.state}: {report.note}; something may be missing", "yellow"))
    if answer.archived:
        console.print(Text(ARCHIVED, "yellow"))


def show_explanation(console: Console, explanation: Explanation) -> None:
    """Every term of a confidence."""
    console.print(Text(explanation_text(explanation)))


def show_history(console: Console, history: History) -> None:
    """Every turn of a slot."""
    console.print(Text(history_text(history)))


def show_receipt(console: Console, receipt: Receipt) -> None:
    """What was accepted."""
    for id in receipt.ids:
        console.print(Text(f"kept {id}"))
    if receipt.clarification:
        console.print(Text("nothing was set back, for it may mean one of these; name it:", "yellow"))
    for way in receipt.clarification:
        console.print(Text(f"  {way}"))


def show_import(console: Console, imported: Imported) -> None:
    """What an import did."""
    console.print(
        Text(f"{counted(imported.accepted, 'observation')} accepted, {counted(imported.dead, 'line')} set aside")
    )
    if imported.dead:
        console.print(Text("`beliefmesh dlq list` shows why", "dim"))
    if imported.unclear:
        console.print(
            Text(
                f'{imported.unclear} ask for "the previous setting", which may be several; they changed nothing',
                "yellow",
            )
        )


def show_letters(console: Console, letters: Sequence[DeadLetter]) -> None:
    """All dead letters, one a line."""
    if not letters:
        console.print("no dead letters")
        return
    for letter in letters:
        console.print(Text(f"{letter.id}  {format_instant(letter.at)}  {letter.stage}: {one_line(letter.reason)}"))


def show_letter(console: Console, letter: DeadLetter) -> None:
    """One dead letter with its original."""
    place = f"{letter.topic} {letter.partition}@{letter.offset}" if letter.topic else "intake"
    console.print(Text(f"{letter.id}: {letter.reason}", "bold"))
    console.print(Text(f"{letter.error} at stage {letter.stage} ({place}), {format_instant(letter.at)}", "dim"))
    original = original_text(letter)
    console.print(Text(repr(letter.original) if original is None else original))


def show_doctor(console: Console, report: DoctorReport) -> None:
    """What was looked at and what differs."""
    looked = ((report.observations, "observation"), (report.slots, "slot"), (report.beliefs, "belief"))
    told = ", ".join(counted(*one) for one in looked)
    console.print(Text(f"looked at {told}: {'healthy' if report.healthy else 'not healthy'}"))
    fixed = set(report.fixed)
    for difference in report.differences:
        console.print(Text(f"  {'fixed: ' if difference in fixed else ''}{difference}"))
    for note in report.notes:
        console.print(Text(f"  note: {note}"))
    if not report.healthy:
        console.print(Text("`beliefmesh doctor --fix` repairs what can be repaired", "dim"))


def show_stats(console: Console, stats: Mapping[str, Any]) -> None:
    """Counts of every bank, up to when it is complete, and what waits and since when."""
    table = _table("bank", "observed", "count")
    for bank, counts in stats["banks"].items():
        for kind, count in counts.items():
            table.add_row(Text(bank), Text(kind), f"{count:,}")
    _draw(console, table)
    for bank, at in stats["low_watermark"].items():
        console.print(Text.assemble((bank, "bold"), f": all that was accepted up to {at} is recallable"))
    waiting = ", ".join(
        f"{stage} {_waiting(count, stats['partitions'][stage])}" for stage, count in stats["lag"].items()
    )
    console.print(Text(f"waiting: {waiting}; dead letters: {stats['dead_letters']}; actors: {stats['runtime']}"))


def show_settings(console: Console, shown: Mapping[str, Mapping[str, Mapping[str, object]]]) -> None:
    """Every setting with its source."""
    table = _table("setting", "value", "from")
    for section, settings in shown.items():
        for name, told in settings.items():
            source = str(told["source"])
            style = "dim" if source == "default" else ""
            table.add_row(Text(f"{section}.{name}"), Text(str(told["value"])), Text(source), style=style)
    _draw(console, table)


def show_serving(console: Console, address: str, bank: str, *, guarded: bool, local: bool) -> None:
    """Where HTTP is served, who may ask, and a line to try."""
    console.print(Text.assemble("serving ", (address, "bold"), " until Ctrl-C; try:"))
    body = """'{"text": "From what amount is shipping free?", "as_of": "2024-06-10", "form": "text"}'"""
    key = ' -H "Authorization: Bearer $KEY"' if guarded else ""
    console.print(Text(f"  curl{key} {address}/v1/banks/{bank}/recall -d {body}"), soft_wrap=True)
    if not guarded:
        reach = "only this machine reaches it" if local else "whoever reaches it may do everything"
        console.print(Text(f"nobody has to say who they are: {reach}; `beliefmesh keys create` makes a key", "dim"))


def show_tour(console: Console, tour: Tour) -> None:
    """The tour: what was learned, which conflicts were found, answers with reasons, what was set aside."""
    answers = [_answered(answer) for answer in tour.answers]
    _draw(console, _panel("What was learned", _learned(tour)))
    _draw(console, _panel(f"Conflicts: {len(tour.conflicts)}", _conflicts(tour.conflicts)))
    _draw(console, _panel(f"Answers, as of {format_day(tour.moment)}", Group(*answers)))
    if tour.letters:
        _draw(console, _panel(f"Set aside: {len(tour.letters)}", _set_aside(tour.letters[0])))


def _waiting(count: int, partitions: Mapping[str, Mapping[str, float]]) -> str:
    """How many records wait for a stage, and for how long the oldest has."""
    oldest = max((lag["seconds"] for lag in partitions.values()), default=0.0)
    return f"{count} (for {oldest:,.0f} s)" if count else "0"


def _draw(console: Console, drawing: RenderableType) -> None:
    """Print something that has a shape, wrapped to the width there is."""
    console.print(drawing, soft_wrap=False)


def _table(*headings: str) -> Table:
    """A table whose cells are wrapped where they are too wide, never cut: they are what people copy."""
    return Table(*(Column(heading, overflow="fold") for heading in headings), box=box.SIMPLE)


def _panel(title: str, content: RenderableType) -> Panel:
    return Panel(content, title=Text(title, "bold"), title_align="left", box=box.ROUNDED, padding=(0, 1))


def _learned(tour: Tour) -> Text:
    lesson, counts = tour.lesson, tour.counts
    known = f"{counted(lesson.new, 'new piece', 'new pieces')} of evidence" if lesson.new else "all of it already known"
    return Text(
        f"{counted(lesson.imported.accepted, 'observation')}: {known}.\n"
        f"Bank {tour.bank} holds {counted(counts['evidence'], 'piece', 'pieces')} of evidence, "
        f"{counted(counts['beliefs'], 'belief')} about {counted(counts['entities'], 'entity', 'entities')}.\n"
        f"On {format_day(tour.moment)} {counted(tour.held, 'belief')} held."
    )


def _conflicts(conflicts: Sequence[Conflict]) -> RenderableType:
    """The first conflict of each of some slots, older side left."""
    if not conflicts:
        return Text("none")
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    first = {conflict.new.slot: conflict for conflict in reversed(conflicts)}
    shown = [conflict for conflict in conflicts if first[conflict.new.slot] is conflict][:_CONFLICTS_SHOWN]
    for conflict in shown:
        sign, old, new = _CONFLICT_STYLE[conflict.kind]
        table.add_row(
            Text(f"{conflict.new.entity.name}: {conflict.new.attribute or 'statement'}"),
            Text(_dated(conflict.old, conflict.old_since), old),
            Text(sign),
            Text(_dated(conflict.new, conflict.new_since), new),
        )
    return Group(table, Text(f"and {len(conflicts) - len(shown)} more", "dim"))


def _dated(belief: Belief, since: Instant | None) -> str:
    """A value with its scope, and since when it is said."""
    return value_of(belief) + ("" if since is None else f", {format_day(since)}")


def _answered(answer: Answer) -> RenderableType:
    """A question with the first answers, each statement once."""
    lines = [Text(answer.question, "bold")]
    for found in {found.belief.statement: found for found in reversed(answer.found)}.values():
        lines.insert(1, Text.assemble(_bar(found.confidence), " ", paragraph(found)))
    return Group(*lines[: 1 + _ANSWERS_SHOWN]) if answer.found else Group(*lines, Text(NOTHING))


def _set_aside(letter: DeadLetter) -> Text:
    original = original_text(letter)
    told = repr(letter.original) if original is None else original
    return Text.assemble(f"{letter.id}: ", (letter.reason, "yellow"), "\n", (shortened(told), "dim"))


def _headed(lead: str, found: Found) -> Text:
    belief = found.belief
    by = ", ".join(name for name in found.scores)
    style = _STATUS_STYLE.get(belief.status, "")
    facts = (f"\n   {belief.id} · ", "dim"), (belief.status, style), (f" · {belief.network} · found by {by}", "dim")
    return Text.assemble((lead, "bold"), _bar(found.confidence), " ", paragraph(found), *facts)


def _bar(confidence: float) -> Text:
    filled = round(confidence * _BAR)
    return Text.assemble(("━" * filled, "green"), ("┄" * (_BAR - filled), "bright_black"))
