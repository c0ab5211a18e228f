"""What a belief is worth, how full a bank is, and what is learned of value: with what the folder knows of use."""

from pathlib import Path

import msgspec

from beliefmesh.home import Home
from beliefs.access import visible
from beliefs.appraise import holds
from beliefs.forget import fullness
from beliefs.learned import in_force, learned_value, named_terms
from beliefs.worth import Features, value
from jobs.bank_files import BankFiles
from jobs.usage import count_usage
from jobs.weigh import Scales, Valued, use_of
from schemas.belief import Belief
from schemas.budget import BudgetReport, Use
from schemas.errors import NotFound
from schemas.evidence import Evidence
from schemas.instant import Instant, format_instant
from schemas.query import Principal
from schemas.usage import UNUSED
from schemas.worth import ValueModel, Worth
from stores.embedders import known_dimensions
from streams.topics import RECALL_LOG

VALUE_FOLDER = "value"
_BYTES_A_NUMBER = 4
_RUNS = 8
"""How far back a run with a plan is looked for; each mode can have one that is not there yet."""


def value_files(home: Home) -> BankFiles[ValueModel]:
    """Where the learned values of a mesh are."""
    return BankFiles(Path(home.folder.path) / VALUE_FOLDER, ValueModel)


def usage_counted(home: Home) -> None:
    """Count what the recall log holds by now, what waits to be written included."""
    home.recalls.flush()
    count_usage(home.log, home.topics.name(RECALL_LOG), home.usage)


def scales_of(home: Home, bank: str, digest_age: Instant | None = None) -> Scales:
    """Scales for a bank as of now, by the value in force, with every use counted that the log holds; see `Scales`."""
    usage_counted(home)
    return Scales(
        home.graph,
        bank,
        home.clock(),
        home.usage.usage,
        valued_by(value_files(home).read(bank)),
        vector_bytes=_BYTES_A_NUMBER * known_dimensions(home.urls.embedder),
        digest_age=digest_age,
    )


def valued_by(model: ValueModel | None) -> Valued:
    """The value in force: by the model if it is good enough, else the heuristic."""
    if model is None or not model.in_force:
        return value

    def by_model(features: Features) -> float:
        return learned_value(model, features)

    return by_model


def worth_of(home: Home, bank: str, belief: str, principal: Principal) -> Worth:
    """What a belief is worth, from what a principal may see of its slot and links. Raises NotFound.

    Use is counted over the whole bank, whoever recalled.
    """
    now = home.clock()
    held = home.mesh.belief(bank, belief, principal, now)
    scales = scales_of(home, bank)
    slot = home.graph.load_slots(bank, [held.slot]).get(held.slot)
    pieces = visible(slot.evidence, principal) if slot else []
    pieces = pieces or _of_explanation(home, bank, held, principal)
    usage = home.usage.usage(bank, [held.id]).get(held.id, UNUSED)
    features = scales.features(held, pieces, usage, _links(home, bank, held, scales, principal))
    model = value_files(home).read(bank)
    terms = dict(named_terms(model, features))
    return Worth(
        belief=held.id,
        statement=held.statement,
        value=sum(terms.values()),
        by=in_force(model),
        terms=terms,
        features=msgspec.to_builtins(features),
        pinned=features.pinned,
        holds=slot is not None and holds(msgspec.structs.replace(slot.slot, beliefs=(held,))),
    )


def measured(home: Home, bank: str) -> BudgetReport:
    """Measure how much there is of a bank, by going through it, and keep the figure."""
    at = home.clock()
    home.usage.keep_use(bank, use_of(scales_of(home, bank).all()), at)
    return budget_report(home, bank)


def budget_report(home: Home, bank: str) -> BudgetReport:
    """A bank's bounds and what was last measured of it."""
    budget = home.graph.policy(bank).budget
    last = home.usage.last_use(bank)
    use, at = last or (Use(), None)
    return BudgetReport(
        bank=bank,
        budget=budget,
        use=use,
        fullness=fullness(use, budget),
        measured_at=None if at is None else format_instant(at),
        note=shortfall(home, bank),
    )


def shortfall(home: Home, bank: str) -> str:
    """What the last run of the budget job on a bank that came to a plan could not bring about, in words."""
    planned = next((run for run in home.ledger.runs("budget", bank, _RUNS) if run.notes), None)
    return next((note for note in (planned.notes if planned else ()) if note.startswith("use ")), "")


def _of_explanation(home: Home, bank: str, held: Belief, principal: Principal) -> list[Evidence]:
    """The evidence of a belief that stands in another slot, since several entities are taken for one."""
    explained = home.mesh.explain(bank, held.id, principal, home.clock(), None)
    return [one.evidence for one in explained.contributions]


def _links(home: Home, bank: str, held: Belief, scales: Scales, principal: Principal) -> int:
    """How many edges of a belief lead to what the principal may see."""
    edges = scales.edges([held.id])[held.id]
    others = {node for edge in edges for node in (edge.src, edge.dst) if node != held.id}
    return sum(not other.startswith("b") or _is_seen(home, bank, other, principal) for other in others)


def _is_seen(home: Home, bank: str, belief: str, principal: Principal) -> bool:
    try:
        home.mesh.belief(bank, belief, principal, home.clock())
    except NotFound:
        return False
    return True
