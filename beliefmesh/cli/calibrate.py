"""The command that learns how far each source is to be trusted."""

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beliefmesh.cli.session import session_of, with_flags
from beliefmesh.gold import read_gold_file
from jobs.calibrating import Calibration, Scores


@click.command("calibrate")
@with_flags
@click.option(
    "--gold",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Answers that are known: JSON lines with entity, attribute, value[, as_of, type], or the same by tabs.",
)
@click.option("--no-feedback", is_flag=True, help="Do not learn from feedback on beliefs.")
@click.option("--dry-run", is_flag=True, help="Say what would be learned, and change nothing.")
@click.pass_context
def calibrate_command(context: click.Context, gold: Path | None, no_feedback: bool, dry_run: bool) -> None:
    """Learn from verified answers, and from feedback, how far each source is to be trusted on each attribute."""
    if gold is None and no_feedback:
        raise click.UsageError("nothing to learn from: give --gold FILE, or leave out --no-feedback")
    session = session_of(context)
    answers = read_gold_file(gold) if gold else []
    with session.memory() as memory:
        learned = memory.calibrate(answers, feedback=not no_feedback, dry_run=dry_run)
    session.emit(learned, lambda console: _show(console, learned))


def _show(console: Console, learned: Calibration) -> None:
    """What was learned of each source, and what it changes."""
    table = Table("attribute", "origin", "outcomes", "right", "weight before", "after", box=box.SIMPLE)
    for one in learned.sources:
        known = Text(one.attribute), Text(one.origin)
        table.add_row(*known, f"{one.outcomes}", f"{one.right:.3f}", f"{one.before:.3f}", f"{one.after:.3f}")
    console.print(table, soft_wrap=False)
    console.print(
        Text(
            f"{learned.outcomes} verified answers: {learned.from_gold} of the gold, "
            f"{learned.from_feedback} of feedback; {learned.unanswered} of the gold found no source that says anything"
        )
    )
    console.print(Text(f"before: {_told(learned.before)}"))
    console.print(Text(f"after:  {_told(learned.after)} (on the answers learned from)"))
    console.print(
        Text(f"in force as version {learned.version}" if learned.applied else "a dry run: nothing was changed")
    )


def _told(scores: Scores) -> str:
    return f"right {scores.precision:.4f}, brier {scores.brier:.4f}, calibration error {scores.ece:.4f}"
