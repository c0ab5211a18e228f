"""The bundled sample: a spring at the support desk of a fictional shop, Lumen Outdoor, and a tour through it.

`support_desk.jsonl` holds one observation a line, in the form that `schemas.intake` reads, in the order of arrival,
from 2024-03-01 to 2024-06-10, in English and Chinese: chats, tickets, service logs, stock counts, orders, policy
documents and notes. Ask it as of `ASKED_AT`. Among the everyday lines stand, by their ids:

    policy-shipping-2024-05, -03           a newer policy, and the older one that arrives after it (also -zh-)
    policy-returns-*, policy-coupons-*     instructions replaced, narrowed to sale goods, and withdrawn
    rule-reports-template, -financial      a rule for all reports, and a narrower one for some
    mei-prefers-email, -chat               a customer's preference, and its change
    omar-allergies                         what a customer must not eat
    return-sofia-twice                     one message sent twice
    omar-bell-*                            one statement twice from one voice, and once from another
    note-*-private, note-fraud-group       notes that only an owner, or a group, may see
    checkout-east-*, checkout-west-*       two monitors that disagree at one moment, and later agree
    delivery-omar                          something that happened
    opinion-*                              judgements
    malformed-weight                       the one line that is refused
"""

from pathlib import Path

import msgspec

ASKED_AT = "2024-06-10T12:00:00Z"
"""The moment at which the tour's answers hold; the sample ends that morning."""


class TourQuestion(msgspec.Struct, frozen=True):
    """A question to the sample; a right answer contains every one of `contains`, and `note` says why."""

    question: str
    contains: tuple[str, ...]
    note: str


TOUR: tuple[TourQuestion, ...] = (
    TourQuestion(
        "From what amount is shipping free?",
        ("200",),
        "The policy of 2024-05-20 holds; that of 2024-03-01 (100 yuan) arrived later and is revoked.",
    ),
    TourQuestion(
        "满多少元免运费？",
        ("200",),
        "The same in Chinese: 2024-05-20 起满200元, and the older 100 is revoked.",
    ),
    TourQuestion(
        "Which template do financial reports use?",
        ("B",),
        "The rule of 2024-05-05 is narrower, so all other reports keep template A.",
    ),
    TourQuestion(
        "How does Mei Chen want to be contacted?",
        ("chat",),
        "Since 2024-05-28; email, from 2024-03-12, is in the history.",
    ),
    TourQuestion(
        "What is Omar Haddad allergic to?",
        ("peanuts", "seafood"),
        "Two allergies told in one sentence live side by side and do not fade.",
    ),
    TourQuestion(
        "What is the state of the checkout service?",
        ("up",),
        "Two monitors disagreed on 2024-06-03 at 10:00; both have said up since 10:26.",
    ),
)


def sample_path() -> Path:
    """Where the sample's JSON lines lie."""
    return Path(__file__).with_name("support_desk.jsonl")
