"""What a policy says of one attribute, agent or source: rule, half-life, authority, reliability."""

from fnmatch import fnmatchcase
from typing import TypeVar

import msgspec

from beliefs.confidence import logit
from beliefs.reliability import NOTHING_KNOWN, by_place, weight_from
from beliefs.values import normal_value
from schemas.budget import Budget
from schemas.claim import Value, ValueType
from schemas.evidence import Evidence
from schemas.identity import digest, normal_name
from schemas.instant import DAY
from schemas.policy import AttributeRule, Authority, Policy, Reliability
from schemas.profile import NEUTRAL
from schemas.reserved import ALIAS, SAME_AS, is_alias, is_same_as

_PLAIN = AttributeRule(pattern="*")
_SAME_AS = AttributeRule(pattern=SAME_AS, type="name", half_life_days=0.0)
_ALIAS = AttributeRule(pattern=ALIAS, cardinality="many", type="name", half_life_days=0.0)
_ANYBODY = Authority()
_BOOKS: dict[int, "Rulebook"] = {}
_MAX_BOOKS = 64
_MAX_ANSWERS = 50_000
_LONGEST_KEPT = 100
"""Characters of a text whose normal form is remembered; longer ones seldom come again."""

Asked = TypeVar("Asked")
Found = TypeVar("Found")


class Rulebook:
    """A policy, indexed for look-up; answers are remembered, since slots ask the same again and again.

    `stale_odds` is S - R below which a holder is stale. `name` is the same for policies that decide alike.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.name = digest(repr(msgspec.structs.replace(policy, version=1, goals=(), budget=Budget())))[:12]
        self._rules: dict[str, AttributeRule] = {}
        self._authorities: dict[tuple[str, str, str, str], Authority] = {}
        self._values: dict[tuple[object, ...], tuple[ValueType, str]] = {}
        self._reliabilities: dict[tuple[str, str, bool], Reliability] = {}
        self._told = {(one.origin, normal_name(one.attribute)): one for one in policy.reliabilities}
        self._learned = by_place(policy.trust)
        self._weighs_alike = not self._told and not self._learned
        self.stale_odds = logit(policy.stale_below) - policy.base
        self.profile = policy.profile or NEUTRAL
        self._state_half_life = _microseconds(policy.state_half_life_days)

    def rule(self, attribute: str | None) -> AttributeRule:
        """The first rule whose pattern matches the normal name of the attribute; a free claim has the plain one."""
        if attribute is None:
            return _PLAIN
        found = self._rules.get(attribute)
        if found is None:
            found = _remember(self._rules, attribute, self._first_rule(attribute))
        return found

    def _first_rule(self, attribute: str) -> AttributeRule:
        """What the mesh reads itself has a rule of its own, whatever the policy says of it."""
        if is_same_as(attribute):
            return _SAME_AS
        if is_alias(attribute):
            return _ALIAS
        name = normal_name(attribute)
        matching = (rule for rule in self.policy.attributes if fnmatchcase(name, normal_name(rule.pattern)))
        return next(matching, _PLAIN)

    def normal_value(self, attribute: str | None, value: Value, type: ValueType | None) -> tuple[ValueType, str]:
        """The type under which a value of this attribute is compared, and its key."""
        # 1, 1.0 and True are equal as keys of a dict, but not as values.
        asked = (attribute, value.__class__, value, type)
        found = self._values.get(asked)
        if found is None:
            rule = self.rule(attribute)
            found = normal_value(value, rule.type or type, rule)
            if not isinstance(value, str) or len(value) <= _LONGEST_KEPT:
                _remember(self._values, asked, found)
        return found

    def authority(self, evidence: Evidence) -> Authority:
        """The first authority entry that matches whoever speaks; without any, everybody may instruct."""
        if not self.policy.authorities:
            return _ANYBODY
        key = (evidence.agent, evidence.attribute or "", evidence.source.type, evidence.entity.type)
        found = self._authorities.get(key)
        if found is None:
            matching = (entry for entry in self.policy.authorities if self._speaks_for(entry, *key))
            found = _remember(self._authorities, key, next(matching, _ANYBODY))
        return found

    def _speaks_for(self, entry: Authority, agent: str, attribute: str, source_type: str, entity_type: str) -> bool:
        members = self.policy.groups.get(entry.group, ()) if entry.group else ("*",)
        return (
            fnmatchcase(agent, entry.agent)
            and any(fnmatchcase(agent, member) for member in members)
            and fnmatchcase(normal_name(attribute), normal_name(entry.attribute))
            and fnmatchcase(source_type, entry.source_type)
            and fnmatchcase(normal_name(entity_type), normal_name(entry.entity_type))
        )

    def reliability(self, evidence: Evidence) -> float:
        """The weight of the evidence's origin on its attribute; 1.0 until something is known."""
        return 1.0 if self._weighs_alike else self.learned(evidence).weight

    def learned(self, evidence: Evidence) -> Reliability:
        """That weight with the outcomes it comes from: the owner's own, else what was learned.

        Nothing is learned of those who judge beliefs: a verdict is no testimony.
        """
        if self._weighs_alike:
            return NOTHING_KNOWN
        verdict = evidence.source.type == "feedback"
        key = (evidence.origin, evidence.attribute or "", verdict)
        found = self._reliabilities.get(key)
        if found is None:
            origin, attribute = evidence.origin, normal_name(evidence.attribute or "")
            found = self._told.get((origin, attribute))
            if found is None:
                found = NOTHING_KNOWN if verdict else weight_from(self._learned, origin, attribute)
            _remember(self._reliabilities, key, found)
        return found

    def half_life(self, evidence: Evidence, instructs: bool) -> int | None:
        """The half-life in microseconds, None for what does not decay (design 3.3).

        States decay. Instructions stay in force; events stay happened: free claims, the experience
        network, and what has an occurred interval in its past. Opinions and summaries change by what is said, not by
        age. Pinned evidence does not decay.
        """
        if instructs or evidence.pinned or evidence.attribute is None or evidence.network != "world":
            return None
        occurred = evidence.occurred_end if evidence.occurred_end is not None else evidence.occurred_start
        if occurred is not None and occurred <= evidence.effective_at:
            return None
        days = self.rule(evidence.attribute).half_life_days
        return self._state_half_life if days is None else _microseconds(days)


def rulebook(policy: Policy) -> Rulebook:
    """The rulebook of a policy object; made once for each."""
    book = _BOOKS.get(id(policy))
    if book is None or book.policy is not policy:
        if len(_BOOKS) >= _MAX_BOOKS:
            _BOOKS.clear()
        book = _BOOKS[id(policy)] = Rulebook(policy)
    return book


def _remember(known: dict[Asked, Found], asked: Asked, found: Found) -> Found:
    """Keep an answer; all are dropped when there are too many, since attributes come from outside."""
    if len(known) >= _MAX_ANSWERS:
        known.clear()
    known[asked] = found
    return found


def _microseconds(days: float) -> int | None:
    return round(days * DAY) or None
