"""Commands that ask: recall, explain, history."""

from typing import Any, get_args

import click
import msgspec
from rich.console import Console

from beliefmesh.cli.keeping import show_worth
from beliefmesh.cli.session import AnyMemory, Session, asker, session_of, with_asker, with_flags
from beliefmesh.show import show_answer, show_explanation, show_history
from recall.outward import answer_to_builtins, explanation_to_builtins, history_to_builtins
from schemas.answer import Answer, Explanation, History
from schemas.belief import Status
from schemas.entity import DEFAULT_TYPE
from schemas.errors import NotFound
from schemas.query import Principal


@click.command()
@with_flags
@with_asker
@click.argument("question")
@click.option("--limit", type=int, help="At most so many beliefs.")
@click.option("--min-confidence", type=float, help="Only beliefs held at least so surely.")
@click.option("--as-of", metavar="TIME", help="What held at that time.")
@click.option("--known-at", metavar="TIME", help="What the mesh believed at that time.")
@click.option("--entity", metavar="NAME", help="Only about this entity.")
@click.option("--entity-type", metavar="TYPE", default=DEFAULT_TYPE, help="The entity's type.")
@click.option("--attribute", metavar="NAME", help="Only this attribute.")
@click.option("--session", "session_name", metavar="ID", help="The session that --recent is about.")
@click.option("--recent", type=int, help="Add the last turns of the session.")
@click.option("--max-tokens", type=int, help="How much may come back.")
@click.option(
    "--deadline",
    type=float,
    default=10.0,
    show_default=True,
    help="Seconds for each retriever; longer than a server's, since this process may have to load the model first.",
)
@click.option("--wait-for", metavar="TOKEN", default="", help="Answer once this receipt's token is recallable.")
@click.option("--history", "with_history", is_flag=True, help="Also what no longer holds, and each slot's turns.")
@click.option("--explain", "with_terms", is_flag=True, help="Also every term of each confidence.")
@click.pass_context
def recall(
    context: click.Context,
    /,
    question: str,
    principal: str,
    groups: tuple[str, ...],
    with_history: bool,
    with_terms: bool,
    entity: str | None,
    entity_type: str,
    session_name: str | None,
    wait_for: str,
    **given: Any,
) -> None:
    """Ask a QUESTION: beliefs that answer it, how surely they are held, and why."""
    session = session_of(context)
    who = asker(principal, groups)
    given["session"] = session_name
    given["entity"] = None if entity is None else {"name": entity, "type": entity_type}
    given["statuses"] = get_args(Status) if with_history else None
    with session.memory() as memory:
        answer = memory.recall(question, wait_for=wait_for, principal=who, **given)
        explanations = _explanations(memory, answer, who, given["as_of"]) if with_terms else []
        histories = _histories(memory, answer, who) if with_history else []
    plain = answer_to_builtins(answer)
    if with_terms:
        plain["explanations"] = [explanation_to_builtins(one) for one in explanations]
    if with_history:
        plain["histories"] = [history_to_builtins(one) for one in histories]

    def show(console: Console) -> None:
        show_answer(console, answer)
        for explanation in explanations:
            show_explanation(console, explanation)
        for history in histories:
            show_history(console, history)

    session.emit(plain, show)


@click.command()
@with_flags
@with_asker
@click.argument("belief", required=False)
@click.option("--as-of", metavar="TIME", help="As it stood at that time.")
@click.option("--value", "with_value", is_flag=True, help="Also every term of what it is worth keeping for.")
@click.option("--told-by", metavar="OBSERVATION", help="Instead of one BELIEF, all that this observation speaks for.")
@click.pass_context
def explain(
    context: click.Context,
    belief: str | None,
    principal: str,
    groups: tuple[str, ...],
    as_of: str | None,
    with_value: bool,
    told_by: str | None,
) -> None:
    """Every term of the confidence of a BELIEF (by id)."""
    session = session_of(context)
    who = asker(principal, groups)
    if told_by is not None and not (belief or as_of or with_value):
        _explain_observation(session, told_by, who)
        return
    if belief is None or told_by is not None:
        raise click.UsageError("name one BELIEF by its id, or --told-by OBSERVATION alone")
    with session.memory() as memory:
        explanation = memory.explain(belief, principal=who, as_of=as_of)
        worth = memory.value_of(belief, principal=who) if with_value else None
    plain = explanation_to_builtins(explanation)
    if worth is not None:
        plain["value"] = msgspec.to_builtins(worth)

    def show(console: Console) -> None:
        show_explanation(console, explanation)
        if worth is not None:
            show_worth(console, worth)

    session.emit(plain, show)


@click.command()
@with_flags
@with_asker
@click.argument("belief", required=False)
@click.option("--entity", metavar="NAME", help="With --attribute instead of an id.")
@click.option("--entity-type", metavar="TYPE", default=DEFAULT_TYPE, help="The entity's type.")
@click.option("--attribute", metavar="NAME", help="With --entity instead of an id.")
@click.pass_context
def history(
    context: click.Context,
    belief: str | None,
    principal: str,
    groups: tuple[str, ...],
    entity: str | None,
    entity_type: str,
    attribute: str | None,
) -> None:
    """Every turn of a slot: by the id of a BELIEF or slot, or by --entity and --attribute."""
    session = session_of(context)
    subject = None if entity is None else {"name": entity, "type": entity_type}
    with session.memory() as memory:
        found = memory.history(belief, entity=subject, attribute=attribute, principal=asker(principal, groups))
    session.emit(history_to_builtins(found), lambda console: show_history(console, found))


def _explain_observation(session: Session, observation: str, who: Principal) -> None:
    with session.memory() as memory:
        found = memory.explanations(observations=[observation], principal=who)
    if not found:
        raise NotFound(f"no belief that you may see rests on observation {observation:.80}")

    def show(console: Console) -> None:
        for explanation in found:
            show_explanation(console, explanation)

    session.emit({"explanations": [explanation_to_builtins(one) for one in found]}, show)


def _explanations(memory: AnyMemory, answer: Answer, who: Principal, as_of: str | None) -> list[Explanation]:
    return [memory.explain(found.belief.id, principal=who, as_of=as_of) for found in answer.found]


def _histories(memory: AnyMemory, answer: Answer, who: Principal) -> list[History]:
    """The history of each slot that the answer touches, once."""
    slots = dict.fromkeys(found.belief.slot for found in answer.found)
    return [memory.history(slot, principal=who) for slot in slots]
