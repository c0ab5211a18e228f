"""The flags that say which job is meant and what it is told."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from schemas.job import Mode

Command = TypeVar("Command", bound=Callable[..., Any])


def with_arguments(command: Command) -> Command:
    """Give a command the flags of a run: whether it changes anything, and the job's arguments."""
    for option in (
        click.option("--set", "given", metavar="NAME=VALUE", multiple=True, help="An argument of the job."),
        click.option("--shadow", is_flag=True, help="The same, kept in the history as the schedule's shadow mode."),
        click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing."),
    ):
        command = option(command)
    return command


def mode_of(dry_run: bool, shadow: bool) -> Mode:
    """The mode that the flags name."""
    return "dry run" if dry_run else "shadow" if shadow else "apply"


def arguments_of(given: Sequence[str]) -> dict[str, object]:
    """Arguments by name. Raises a usage error for what is not NAME=VALUE."""
    for one in given:
        if not one.partition("=")[1]:
            raise click.UsageError(f"--set {one:.80}: write NAME=VALUE")
    return {name: value for name, _, value in (one.partition("=") for one in given)}
