"""Which entities may be one: a score for a pair from names, types and what is told of both, and which pairs to score.

    score = sigmoid( BASE + the sum of what speaks for and against )

A proposal decides nothing: somebody merges, or does not. Pairs are found by shared keys, so that the work grows with
the entities and not with their square.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec

from beliefs.alike_names import all_words, compact, is_unspaced, name_likeness, tokens_of
from beliefs.confidence import sigmoid
from beliefs.sentences import words
from schemas.entity import DEFAULT_TYPE, Entity
from schemas.identity import normal_name
from schemas.instant import Instant

BASE = -4.6
NAME = 6.0
"""For names that are the same; less by the square of what they lack."""

TOLD_ALIAS = 3.5
SAME_TYPE = 0.7
OTHER_TYPE = -5.0
IDENTIFYING, IDENTIFYING_AGAINST = 4.8, -3.5
VALUE, VALUE_AGAINST = 0.9, -0.7
MOST_VALUES = 3
MET = -2.0
"""For two that one observation names together: who meets somebody is seldom the same person."""

SAME_SESSION = 0.4
WIDEST_BLOCK = 40
"""A key that more entities share says nothing and is passed over."""

_IDENTIFYING = words(
    "email e-mail mail phone mobile telephone id employee_id customer_id account serial passport ip address hostname "
    "url website domain isbn sku ssn tax_id birth_date birthday birthplace "
    "邮箱 电话 手机 手机号 身份证 工号 生日 账号 网址 出生地"
)

_PEOPLE = words("person people user account customer employee contact member agent author 用户 客户 员工 人")
"""Types under which one person may be told of."""

Fact = tuple[str, str]
"""An attribute and a value, both in normal form."""


class Profile(msgspec.Struct, frozen=True):
    """What is known of an entity: its names, the values that it holds, its sessions, and whom it was named with."""

    id: str
    entity: Entity
    aliases: tuple[str, ...] = ()
    facts: frozenset[Fact] = frozenset()
    single: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, the main one first."""
        return (self.entity.name, *self.aliases)


class Proposal(msgspec.Struct, frozen=True):
    """Two entities that may be one, how likely that is (0 to 1), and what speaks for and against.

    `found_at` is when a job found it; None where it is of the moment of asking.
    """

    entity: Entity
    into: Entity
    score: float
    reasons: tuple[str, ...]
    found_at: Instant | None = None


def proposals(profiles: Sequence[Profile], at_least: float = 0.5) -> list[Proposal]:
    """Pairs that score at least so much, the likeliest first; of two, the one of whom more is told is merged into."""
    by_id = {profile.id: profile for profile in profiles}
    common = _common(profiles)
    found = [propose(by_id[one], by_id[other], common) for one, other in sorted(candidate_pairs(profiles))]
    kept = [proposal for proposal in found if proposal.score >= at_least]
    return sorted(kept, key=_likeliest_first)


def propose(one: Profile, other: Profile, common: frozenset[Fact] = frozenset()) -> Proposal:
    """The score of one pair; facts that are `common` to many do not speak for it."""
    small, large = sorted((one, other), key=lambda profile: (len(profile.facts), len(profile.names), profile.id))
    terms = [
        *_by_name(small, large),
        *_by_type(small, large),
        *_by_facts(small, large, common),
        *_by_company(small, large),
    ]
    score = sigmoid(BASE + sum(worth for worth, _ in terms))
    told = sorted(terms, key=lambda term: (-abs(term[0]), term[1]))
    return Proposal(small.entity, large.entity, round(score, 4), tuple(f"{worth:+.1f} {why}" for worth, why in told))


def candidate_pairs(profiles: Sequence[Profile]) -> set[tuple[str, str]]:
    """Pairs of ids that share a key, which is a part of a name or an identifying value."""
    blocks: dict[str, list[str]] = {}
    for profile in profiles:
        for key in sorted(_keys(profile)):
            blocks.setdefault(key, []).append(profile.id)
    return {
        (min(pair), max(pair))
        for block in blocks.values()
        if 1 < len(block) <= WIDEST_BLOCK
        for pair in combinations(block, 2)
    }


def _likeliest_first(one: Proposal) -> tuple[float, str, str, str, str]:
    return (-one.score, one.entity.name, one.entity.type, one.into.name, one.into.type)


Term = tuple[float, str]


def _by_name(one: Profile, other: Profile) -> list[Term]:
    best, names = max((name_likeness(left, right), (left, right)) for left in one.names for right in other.names)
    terms = [(NAME * best * best, f"names {names[0]!r} and {names[1]!r} are alike ({best:.2f})")]
    mine, theirs = normal_name(one.entity.name), normal_name(other.entity.name)
    if mine in map(normal_name, other.aliases) or theirs in map(normal_name, one.aliases):
        terms.append((TOLD_ALIAS, "one is told to be an alias of the other"))
    return terms


def _by_type(one: Profile, other: Profile) -> list[Term]:
    mine, theirs = normal_name(one.entity.type), normal_name(other.entity.type)
    if mine == theirs:
        return [] if mine == DEFAULT_TYPE else [(SAME_TYPE, f"both are of type {mine}")]
    if {mine, theirs} <= _PEOPLE:
        return [(0.0, f"one is a {mine}, the other a {theirs}")]
    return [] if DEFAULT_TYPE in (mine, theirs) else [(OTHER_TYPE, f"one is a {mine}, the other a {theirs}")]


def _by_facts(one: Profile, other: Profile, common: frozenset[Fact]) -> list[Term]:
    terms = []
    shared = sorted((one.facts & other.facts) - common)
    both = {attribute for attribute, _ in one.facts} & {attribute for attribute, _ in other.facts}
    agreed = {attribute for attribute, _ in one.facts & other.facts}
    for attribute, value in shared:
        identifying = _identifies(attribute)
        terms.append((IDENTIFYING if identifying else VALUE, f"both have {attribute} {value}"))
    for attribute in sorted((both - agreed) & one.single & other.single):
        identifying = _identifies(attribute)
        terms.append((IDENTIFYING_AGAINST if identifying else VALUE_AGAINST, f"they differ in {attribute}"))
    terms.sort(key=lambda term: -abs(term[0]))
    return terms[:MOST_VALUES]


def _identifies(attribute: str) -> bool:
    return attribute.replace(" ", "_") in _IDENTIFYING


def _by_company(one: Profile, other: Profile) -> list[Term]:
    if other.id in one.met or one.id in other.met:
        return [(MET, "one observation names both")]
    return [(SAME_SESSION, "they occur in one session")] if one.sessions & other.sessions else []


def _keys(profile: Profile) -> set[str]:
    keys = {f"={attribute}={value}" for attribute, value in profile.facts if _identifies(attribute)}
    for name in profile.names:
        tokens, whole = tokens_of(name), compact(name)
        keys |= {f"~{whole}", f"^{whole[:4]}"} if len(whole) > 1 else {f"~{whole}"}
        keys |= {f"#{token}" for token in tokens if len(token) > 2}
        if is_unspaced(name):
            keys |= {f"#{letter}" for letter in whole if letter not in "小阿老"}
            keys |= {f"#{whole[at : at + 2]}" for at in range(len(whole) - 1)}
        every = all_words(name)
        if len(every) > 1:
            keys.add("~" + "".join(word[0] for word in every))
            keys.add(f"~{tokens[0][0]}{tokens[-1]}")
    return keys


def _common(profiles: Iterable[Profile]) -> frozenset[Fact]:
    """Facts that too many share to tell anybody apart."""
    counts: dict[Fact, int] = {}
    for profile in profiles:
        for fact in profile.facts:
            counts[fact] = counts.get(fact, 0) + 1
    return frozenset(fact for fact, count in counts.items() if count > 8)
