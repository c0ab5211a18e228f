"""What a policy says of one attribute, agent or source: rule, half-life, authority, reliability."""

from fnmatch import fnmatchcase
from typing import TypeVar

from beliefs.confidence import logit
from beliefs.values import normal_value
from schemas.claim import Value, ValueType
from schemas.evidence import Evidence
from schemas.identity import normal_name
from schemas.instant import DAY
from schemas.policy import AttributeRule, Authority, Policy

_PLAIN = AttributeRule(pattern="*")
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

    `stale_odds` is S - R below which a holder is stale.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._rules: dict[str, AttributeRule] = {}
        self._authorities: dict[tuple[str, str], Authority] = {}
        self._values: dict[tuple[object, ...], tuple[ValueType, str]] = {}
        self._reliability = {(one.origin, normal_name(one.attribute)): one.weight for one in policy.reliabilities}
        self.stale_odds = logit(policy.stale_below) - policy.base
        self._state_half_life = _microseconds(policy.state_half_life_days)

    def rule(self, attribute: str | None) -> AttributeRule:
        """The first rule whose pattern matches the normal name of the attribute; a free claim has the plain one."""
        if attribute is None:
            return _PLAIN
        found = self._rules.get(attribute)
        if found is None:
            name = normal_name(attribute)
            matching = (rule for rule in self.policy.attributes if fnmatchcase(name, normal_name(rule.pattern)))
            found = _remember(self._rules, attribute, next(matching, _PLAIN))
        return found

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

    def authority(self, agent: str, attribute: str | None) -> Authority:
        """The first authority entry that matches; without any, everybody may instruct."""
        if not self.policy.authorities:
            return _ANYBODY
        key = (agent, attribute or "")
        found = self._authorities.get(key)
        if found is None:
            name = normal_name(attribute or "")
            matching = (
                entry
                for entry in self.policy.authorities
                if fnmatchcase(agent, entry.agent) and fnmatchcase(name, normal_name(entry.attribute))
            )
            found = _remember(self._authorities, key, next(matching, _ANYBODY))
        return found

    def reliability(self, evidence: Evidence) -> float:
        """The learned weight of the evidence's origin on its attribute; 1.0 until something is known."""
        if not self._reliability:
            return 1.0
        return self._reliability.get((evidence.origin, normal_name(evidence.attribute or "")), 1.0)

    def half_life(self, evidence: Evidence, instructs: bool) -> int | None:
        """The half-life in microseconds, None for what does not decay (design 3.3).

        States decay. Instructions stay in force; events stay happened: free claims, the experience
        network, and what has an occurred interval in its past. Pinned evidence does not decay.
        """
        if instructs or evidence.pinned or evidence.attribute is None or evidence.network == "experience":
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
