"""A policy: what a bank's owner decides about attributes, half-lives, authority and trust."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import get_args

import msgspec

from schemas.budget import Budget, check_budget
from schemas.claim import ValueType
from schemas.errors import InvalidInput
from schemas.instant import DAY, MINUTE
from schemas.limits import MAX_ITEMS, MAX_NAME_BYTES, MAX_WEIGHT, check_number, check_text
from schemas.observation import SourceType
from schemas.profile import Profile, check_profile

_MAX_DAYS = 100_000.0


class AttributeRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How values of the attributes that match `pattern` (shell wildcards) compete.

    `tolerance` makes close values equal: seconds for times and dates, units for numbers.
    `ignore` are words that do not count when codes are compared. `half_life_days` overrides the
    network's (0 means no decay). `specific_survives` keeps an older narrower value beside a newer wider one.
    """

    pattern: str
    cardinality: str = "one"
    type: ValueType | None = None
    tolerance: float = 0.0
    ignore: tuple[str, ...] = ()
    half_life_days: float | None = None
    specific_survives: bool = False


class Authority(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whoever matches all that is named here (shell wildcards) may, or may not, instruct, with a rank.

    `group` is a name from the policy's `groups`; empty: any agent.
    """

    agent: str = "*"
    attribute: str = "*"
    may_instruct: bool = True
    rank: int = 0
    group: str = ""
    source_type: str = "*"
    entity_type: str = "*"


class Reliability(msgspec.Struct, frozen=True):
    """The weight of a source origin on an attribute, learned from `outcomes` verified answers."""

    origin: str
    attribute: str
    weight: float
    outcomes: int = 0


class Trust(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `calibrate` has learned from `outcomes` verified answers; what teaches something else raises the version.

    `*` as an origin, or as an attribute, is the weight for those of which nothing is known.
    """

    version: int = 0
    outcomes: int = 0
    weights: tuple[Reliability, ...] = ()


UNTAUGHT = Trust()


class Policy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that resolving a slot depends on besides its evidence and the time; immutable and versioned.

    The first matching entry of `attributes` and of `authorities` applies; without one, anybody may instruct.
    `groups` names lists of agents (shell wildcards). `reliabilities` are the owner's own and go before those that
    were learned, `trust`. `skew` in microseconds. Without a `profile` the neutral one applies.
    `goals` say in words what the bank is for; what bears on them is worth more. `budget` bounds what is kept of it.
    """

    version: int = 1
    base: float = 0.0
    state_half_life_days: float = 30.0
    refute_factor: float = 1.5
    later_factor: float = 1.5
    concurrent_factor: float = 1.0
    stale_below: float = 0.55
    skew: int = 10 * MINUTE
    attributes: tuple[AttributeRule, ...] = (
        AttributeRule(pattern="preference*", half_life_days=180.0),
        AttributeRule(pattern="likes", cardinality="many", half_life_days=180.0),
        AttributeRule(pattern="dislikes", cardinality="many", half_life_days=180.0),
        AttributeRule(pattern="allergy", cardinality="many", half_life_days=0.0),
    )
    authorities: tuple[Authority, ...] = ()
    reliabilities: tuple[Reliability, ...] = ()
    groups: dict[str, tuple[str, ...]] = {}
    trust: Trust = UNTAUGHT
    profile: Profile | None = None
    goals: tuple[str, ...] = ()
    budget: Budget = Budget()


DEFAULT_POLICY = Policy()


def check_policy(policy: Policy) -> Policy:
    """Accept a policy whose numbers make sense. Raises InvalidInput naming the first that does not."""
    check_number(policy.base, "policy.base", -100.0, 100.0)
    check_number(policy.state_half_life_days, "policy.state_half_life_days", 0.0, _MAX_DAYS)
    for name in ("refute_factor", "later_factor", "concurrent_factor"):
        check_number(getattr(policy, name), f"policy.{name}", 0.0, MAX_WEIGHT)
    check_number(policy.stale_below, "policy.stale_below", 0.001, 0.999)
    check_number(policy.skew, "policy.skew", 0, _MAX_DAYS * DAY)
    if policy.profile is not None:
        check_profile(policy.profile, "policy.profile")
    check_budget(policy.budget, "policy.budget")
    if len(policy.goals) > MAX_ITEMS:
        raise InvalidInput("policy.goals", f"are {len(policy.goals)}; at most {MAX_ITEMS} may be given")
    for place, goal in enumerate(policy.goals):
        check_text(goal, f"policy.goals[{place}]", limit=MAX_NAME_BYTES, empty=False)
    for place, rule in enumerate(policy.attributes):
        field = f"policy.attributes[{place}]"
        if rule.cardinality not in ("one", "many"):
            raise InvalidInput(f"{field}.cardinality", f"is {rule.cardinality!r}; use one or many")
        check_number(rule.tolerance, f"{field}.tolerance", 0.0, 1e12)
        if rule.half_life_days is not None:
            check_number(rule.half_life_days, f"{field}.half_life_days", 0.0, _MAX_DAYS)
    for place, authority in enumerate(policy.authorities):
        _check_authority(authority, policy.groups, f"policy.authorities[{place}]")
    for name, entries in (("reliabilities", policy.reliabilities), ("trust.weights", policy.trust.weights)):
        for place, entry in enumerate(entries):
            check_number(entry.weight, f"policy.{name}[{place}].weight", 0.0, MAX_WEIGHT)
    return policy


def _check_authority(authority: Authority, groups: Mapping[str, tuple[str, ...]], field: str) -> None:
    if authority.group and authority.group not in groups:
        known = ", ".join(sorted(groups)) or "none"
        raise InvalidInput(
            f"{field}.group", f"is {authority.group!r:.80}, which policy.groups does not list; listed: {known}"
        )
    types = get_args(SourceType)
    if not any(fnmatchcase(type, authority.source_type) for type in types):
        raise InvalidInput(
            f"{field}.source_type", f"is {authority.source_type!r:.80}, which no source is; use * or {', '.join(types)}"
        )
    for name in ("agent", "attribute", "entity_type"):
        if not getattr(authority, name):
            raise InvalidInput(f"{field}.{name}", "is empty and matches nothing; leave it out to match all")
