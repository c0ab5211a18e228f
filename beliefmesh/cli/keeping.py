"""Commands about what is worth keeping: the budget of a bank, and learning what is of use."""

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beliefmesh.cli.session import session_of, with_flags
from schemas.budget import MEASURES, BudgetReport
from schemas.worth import LearnedValue, Worth


@click.command("budget")
@with_flags
@click.option("--measure", is_flag=True, help="Measure now, by going through the bank; else as last measured.")
@click.pass_context
def budget_command(context: click.Context, measure: bool) -> None:
    """The bounds of a bank (its policy's `budget`) and how much of them is used."""
    session = session_of(context)
    with session.memory() as memory:
        report = memory.budget(measure=measure)
    session.emit(report, lambda console: _show_budget(console, report))


@click.command("learn-value")
@with_flags
@click.option("--dry-run", is_flag=True, help="Say what would be learned, and change nothing.")
@click.pass_context
def learn_value_command(context: click.Context, dry_run: bool) -> None:
    """Learn from recalls and feedback what is of use; it replaces the heuristic value where it ranks better."""
    session = session_of(context)
    with session.memory() as memory:
        learned = memory.learn_value(dry_run=dry_run)
    session.emit(learned, lambda console: _show_learned(console, learned))


def show_worth(console: Console, worth: Worth) -> None:
    """Every term of a value, and what goes before it."""
    console.print(Text(worth.statement))
    for name, term in worth.terms.items():
        console.print(Text(f"  {term:+8.4f}  {name}"))
    console.print(Text(f"= {worth.value:8.4f}  by the {worth.by} value", "bold"))
    if worth.pinned:
        console.print(Text("pinned: worth more than anything that is not"))
    if worth.holds:
        console.print(Text("holds a slot: never dropped for a budget"))


def _show_budget(console: Console, report: BudgetReport) -> None:
    if report.measured_at is None:
        console.print(Text(f"bank {report.bank} was never measured; `beliefmesh budget --measure` does it"))
        return
    table = Table("", "used", "of at most", "share", box=box.SIMPLE)
    for name in MEASURES:
        used, bound = getattr(report.use, name), getattr(report.budget, name)
        share = "" if bound is None else f"{used / bound:.0%}"
        table.add_row(name, f"{used:,.0f}", "any" if bound is None else f"{bound:,.0f}", share)
    console.print(table, soft_wrap=False)
    console.print(Text(f"measured at {report.measured_at}", "dim"))
    if report.note:
        console.print(Text(report.note, "yellow"))


def _show_learned(console: Console, learned: LearnedValue) -> None:
    console.print(Text(f"{learned.outcomes} recalled beliefs, {learned.credited} of use: {learned.reason}"))
    console.print(Text(f"in force: the {learned.by} value"))
