"""English sentences and what the rules make of them."""

import pytest

from beliefs.extract import extract
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.instant import parse_instant
from schemas.observation import Observation, Source

MOMENT = parse_instant("2024-05-10T12:00:00Z", "observed_at")


def told(text: str, source: str = "handbook", agent: str = "dana") -> tuple[Claim, ...]:
    return extract(Observation(id="o1", bank="b", source=Source(source), agent=agent, observed_at=MOMENT, text=text))


def only(text: str) -> Claim:
    (claim,) = told(text)
    return claim


def slots(text: str) -> set[tuple[str, str, str]]:
    return {
        (claim.entity.type, claim.entity.name.casefold(), claim.attribute)
        for claim in told(text)
        if claim.attribute is not None
    }


VALUES = [
    ("Free shipping from 100 yuan", "Free shipping", "free shipping from {money}", "100 CNY", "money"),
    ("Stock is 10", "Stock", "stock", 10, "number"),
    ("The stock of SKU-9 is 10 items.", "SKU-9", "stock", 10, "number"),
    ("The rate limit is now 200.", "rate limit", "rate limit", 200, "number"),
    ("Rate limit: 1,500", "Rate limit", "rate limit", 1500, "number"),
    ("The price of the book is $25.50.", "book", "price", "25.5 USD", "money"),
    ("The timeout of the gateway is 30 seconds.", "gateway", "timeout", "30 seconds", "number"),
    ("The meeting is at 6:05 pm.", "meeting", "meeting", "18:05", "time"),
    ("The deadline is 20 May.", "deadline", "deadline", "2024-05-20", "date"),
    ("The deadline is tomorrow.", "deadline", "deadline", "2024-05-11", "date"),
    ("Python version is 3.10.", "Python", "version", "3.10", "version"),
    ("The latest version is v2.1.0.", "version", "version", "2.1.0", "version"),
    ("My birthday is May 5.", "dana", "birthday", "05-05", "text"),
    ("I am 30 years old.", "dana", "age", 30, "number"),
    ("The owner of ticket ABC-1 is Carol.", "ABC-1", "owner", "Carol", "enum"),
    ("The checkout service is down.", "checkout service", "status", "down", "enum"),
    ("Ticket ABC-1 changed from open to closed.", "ABC-1", "status", "closed", "enum"),
    ("The rate limit was raised from 100 to 200.", "rate limit", "rate limit", 200, "number"),
    ("We changed the rate limit to 300.", "rate limit", "rate limit", 300, "number"),
    ("Refunds are accepted within 30 days.", "Refunds", "refunds accepted within {number}", "30 days", "number"),
    ("The v1 API is deprecated.", "v1 API", "in force", False, "boolean"),
    ("Notifications are disabled.", "Notifications", "enabled", False, "boolean"),
    ("Parking is free.", "Parking", "free", True, "boolean"),
    ("The endpoint does not accept XML.", "endpoint", "accept xml", False, "boolean"),
    ("My name is Robert.", "dana", "name", "Robert", "name"),
    ("Call me Bob.", "dana", "nickname", "Bob", "name"),
    ("I was born in Colorado.", "dana", "birthplace", "Colorado", "name"),
    ("Alice is allergic to seafood.", "Alice", "allergy", "seafood", "text"),
    ("The billing service is also known as Tally.", "billing service", "alias", "Tally", "name"),
    ("Robert Smith, a.k.a. Bob.", "Robert Smith", "alias", "Bob", "name"),
    ("I am also known as Bob.", "dana", "alias", "Bob", "name"),
    ("I was born on 5 May 1990.", "dana", "birth date", "1990-05-05", "date"),
    ("Alice has a seafood allergy.", "Alice", "allergy", "seafood", "text"),
    ("Alice lives in Oslo.", "Alice", "residence", "Oslo", "name"),
    ("I moved to New York City.", "dana", "residence", "New York City", "name"),
    ("Bob works for Initech.", "Bob", "employer", "Initech", "name"),
    ("The sales office is in Lyon.", "sales office", "location", "Lyon", "name"),
    ("The review takes place in room Aurora.", "review", "location", "room Aurora", "name"),
    ("Alice owns the billing service.", "billing service", "owner", "Alice", "name"),
    ("Tom is responsible for backups.", "backups", "owner", "Tom", "name"),
    ("Ticket ABC-7 is assigned to Carol.", "ABC-7", "assignee", "Carol", "name"),
    ("Alice leads the data team.", "data team", "leader", "Alice", "name"),
    ("Alice Ray is the CEO of Acme.", "Acme", "ceo", "Alice Ray", "name"),
    ("The CEO of Acme is Alice Ray.", "Acme", "ceo", "Alice Ray", "name"),
    ("My address is 12 Mill Lane.", "dana", "address", "12 Mill Lane", "text"),
    ("My timezone is UTC+2.", "dana", "timezone", "UTC+2", "text"),
    ("The project was renamed to Osprey.", "project", "name", "Osprey", "name"),
    ("Status of order 1001: pending", "1001", "status", "pending", "enum"),
    ("Order 1001 has been shipped.", "1001", "status", "shipped", "enum"),
    ("Pets are forbidden.", "Pets", "allowed", False, "boolean"),
    ("The tent is waterproof.", "tent", "waterproof", True, "boolean"),
    ("Vouchers are refundable.", "Vouchers", "refundable", True, "boolean"),
    ("Visitors need a visa.", "Visitors", "need visa", True, "boolean"),
    ("Lena speaks French.", "Lena", "speak french", True, "boolean"),
    ("The deadline is Friday.", "deadline", "deadline", "2024-05-10", "date"),
    ("The meeting was moved to Monday.", "meeting", "meeting", "2024-05-13", "date"),
    ("The API listens on port 8080.", "API", "api listens on port {number}", 8080, "number"),
    ("Staging runs version 2.4.1.", "Staging", "staging runs {version}", "2.4.1", "version"),
    ("Refunds are paid within 14 days.", "Refunds", "refunds paid within {number}", "14 days", "number"),
    ("Room 5 holds 12 people.", "Room 5", "room 5 holds {number} people", 12, "number"),
    ("Staff may travel two days a week.", "Staff", "staff may travel {number} week", "2 days", "number"),
    ("The invoice is due on 30 June 2024.", "invoice", "invoice due on {date}", "2024-06-30", "date"),
    ("Sorry, I meant the rate limit is 150.", "rate limit", "rate limit", 150, "number"),
    ("Mei prefers to be contacted by phone.", "Mei", "preference.contact", "phone", "text"),
    ("I prefer dark mode for the editor.", "dana", "preference.editor", "dark mode", "text"),
    ("My favourite color is green.", "dana", "preference.color", "green", "text"),
]


@pytest.mark.parametrize(("text", "entity", "attribute", "value", "type"), VALUES)
def test_a_sentence_gives_its_value(text: str, entity: str, attribute: str, value: object, type: str) -> None:
    claim = only(text)

    assert (claim.entity.name, claim.attribute, claim.value, claim.value_type) == (entity, attribute, value, type)
    assert claim.stance == "supports"
    assert claim.statement == text
    assert claim.extractor.startswith("rule:en.")


SAME_SLOT = [
    ("Free shipping from 100 yuan", "Free shipping from 200 yuan from 20 May on."),
    ("Coupons may be combined.", "Coupons may no longer be combined."),
    ("Coupons can be combined.", "Coupons cannot be combined."),
    ("Coupons can be combined.", "Coupons must not be combined."),
    ("Backups must be encrypted.", "Backups must not be encrypted."),
    ("The rate limit is 100.", "Set the rate limit to 200"),
    ("The meeting is at 10:00.", "The meeting was moved to 11:00."),
    ("All reports use template A.", "Use template C for all reports."),
    ("Save as PDF", "save as DOCX"),
    ("Always share passwords.", "Never share passwords."),
    ("The v1 API is supported.", "The v1 API is no longer supported."),
    ("The book's price is 20 yuan.", "The price of the book is 25 yuan."),
    ("Turn on notifications.", "Notifications are disabled."),
    ("Orders over 100 yuan ship free.", "Orders over 200 yuan ship free."),
    ("Send reports by email.", "Send reports via Slack."),
    ("Alice works at Initech.", "Alice joined Globex."),
    ("Smoking is allowed.", "Smoking is prohibited."),
    ("Always include a summary.", "Never include a summary."),
    ("I eat meat.", "I don't eat meat."),
    ("Use template A for invoices.", "Use template B for invoices instead."),
]


@pytest.mark.parametrize(("first", "second"), SAME_SLOT)
def test_sentences_that_differ_only_in_what_they_state_share_a_slot(first: str, second: str) -> None:
    assert slots(first) & slots(second)


OTHER_SLOT = [
    ("UI theme is dark.", "Make the font one size larger."),
    ("The office in SF is open.", "The office in NY is closed."),
    ("Alice's price is 20 yuan.", "Bob's price is 20 yuan."),
    ("Order 1001 is shipped.", "Order 1002 is shipped."),
    ("The store opens at 9 am.", "The store closes at 9 pm."),
    ("Tickets cost 20 yuan for adults.", "Tickets cost 10 yuan for children."),
    ("All reports use template A.", "All invoices use template D."),
    ("The endpoint accepts JSON.", "The endpoint does not accept XML."),
    ("Plan A costs 10 yuan.", "Plan B costs 20 yuan."),
    ("Delivery takes 3 days.", "Delivery costs 20 yuan."),
    ("My name is Robert.", "Alice is called Ali."),
    ("Alice lives in Oslo.", "Alice works at Oslo."),
    ("The CEO of Acme is Alice Ray.", "The CTO of Acme is Sarah Moss."),
    ("The standup is at 9:15.", "The standup is in room 3."),
    ("Use the date format YYYY.", "Use the output format JSON."),
]


@pytest.mark.parametrize(("first", "second"), OTHER_SLOT)
def test_sentences_about_different_things_share_no_slot(first: str, second: str) -> None:
    assert slots(first)
    assert slots(second)
    assert not slots(first) & slots(second)


FREE = [
    "Alice is the CEO.",
    "Alice met Bob in Paris last week.",
    "I ran 5 miles today.",
    "We have 20 people in the team.",
    "Order 1001 shipped",
    "Delivery takes 3-5 days.",
    "Is the limit 100?",
    "If the total is over 200 yuan, shipping is free.",
    "The price is probably 20 yuan.",
    "Bob said the limit is 100.",
    "According to Bob, the price is 20 yuan.",
    "Alice mentioned that the price of the book is 20 yuan.",
    "The limit was 100 and is now 200.",
    "The template is nice.",
    "The limit was 100.",
    "The checkout service was down.",
    "I love it!",
    "Never mind.",
    "Always a pleasure!",
    "Please send me the report by Friday.",
    "Deployment 42 finished in 30 seconds.",
    "User 42 logged in at 10:00:03",
    "Melanie is excited about the race.",
    "See section 4.2 for details.",
    "The price will be 20 yuan.",
    "Thanks for the support and encouragement.",
    "Good support is essential.",
    "Alice is in Paris.",
    "The meeting is in May.",
    "Alice moved to the front.",
    "I work at night.",
    "Bob leads by example.",
    "Alice manages stress.",
    "Alice owns a car.",
    "My phone is dead.",
    "The view is unbelievable.",
    "The store is at 5 Main Street.",
    "I eat lunch at home.",
    "My kids need me.",
    "The children ate three apples.",
    "The review was last week at 10:00.",
]


@pytest.mark.parametrize("text", FREE)
def test_a_sentence_that_no_rule_is_sure_of_stays_one_free_claim(text: str) -> None:
    claim = only(text)

    assert (claim.attribute, claim.value, claim.statement, claim.extractor) == (None, None, text, "free")
    assert claim.entity == Entity("dana", "agent")


BOOLEANS = [
    ("Coupons may be combined.", "can be combined", True),
    ("Coupons can not be combined.", "can be combined", False),
    ("Coupons may no longer be combined.", "can be combined", False),
    ("Coupons are not allowed to be combined.", "can be combined", False),
    ("Parking is not free.", "free", False),
    ("The v1 API isn't supported anymore.", "supported", False),
]


@pytest.mark.parametrize(("text", "attribute", "value"), BOOLEANS)
def test_a_denial_is_the_false_of_the_same_slot(text: str, attribute: str, value: bool) -> None:
    claim = only(text)

    assert (claim.attribute, claim.value, claim.stance) == (attribute, value, "supports")


ORDERS = [
    ("Use template A for all reports.", Entity("report"), "template", "A", ()),
    ("All reports use template A, except financial reports.", Entity("report"), "template", "A", ()),
    ("Financial reports use template B.", Entity("report"), "template", "B", (("report", "financial"),)),
    ("Use PostgreSQL for the billing service.", Entity("billing service", "service"), "use", "PostgreSQL", ()),
    ("Set the theme to dark.", Entity("theme"), "theme", "dark", ()),
    ("Make the font one size larger.", Entity("font"), "font size", "one size larger", ()),
    ("Please answer in Chinese.", Entity("dana", "agent"), "answer in", "Chinese", ()),
    ("Use the date format YYYY-MM-DD.", Entity("format"), "date format", "YYYY-MM-DD", ()),
    ("Always include a summary.", Entity("dana", "agent"), "include summary", True, ()),
    ("Always encrypt backups.", Entity("dana", "agent"), "encrypt backups", True, ()),
    ("Don't share passwords.", Entity("dana", "agent"), "share passwords", False, ()),
]


@pytest.mark.parametrize(("text", "entity", "attribute", "value", "scope"), ORDERS)
def test_an_order_is_an_instruction_of_high_tier(
    text: str, entity: Entity, attribute: str, value: object, scope: tuple[tuple[str, str], ...]
) -> None:
    claim = only(text)

    assert (claim.entity, claim.attribute, claim.value, claim.scope) == (entity, attribute, value, scope)
    assert (claim.kind, claim.tier) == ("instruction", "high")


def test_the_end_of_a_value_retracts_it_and_the_sentence_stays_findable() -> None:
    ended, free = told("The rate limit is no longer 100.")

    assert (ended.attribute, ended.value, ended.stance) == ("rate limit", 100, "retracts")
    assert (free.attribute, free.statement) == (None, "The rate limit is no longer 100.")


def test_a_denied_value_is_refuted() -> None:
    refuted, free = told("The checkout service is not down.")

    assert (refuted.attribute, refuted.value, refuted.stance) == ("status", "down", "refutes")
    assert free.attribute is None


def test_who_stops_using_a_template_retracts_it() -> None:
    ended, free = told("Do not use template A for reports.")

    assert (ended.entity, ended.value, ended.stance) == (Entity("report"), "A", "retracts")
    assert (free.kind, free.tier) == ("instruction", "high")


def test_a_liking_ends_the_dislike_of_the_same_thing() -> None:
    liked, ended = told("User Alice prefers tea over coffee.")

    assert (liked.entity, liked.attribute, liked.value) == (Entity("Alice", "user"), "likes", "tea")
    assert (ended.attribute, ended.value, ended.stance) == ("dislikes", "tea", "retracts")


def test_two_allergies_in_one_sentence_are_two_claims() -> None:
    assert [claim.value for claim in told("Alice is allergic to seafood and peanuts.")] == ["seafood", "peanuts"]


DATES = [
    ("Free shipping from 200 yuan from 20 May on.", "2024-05-20", None),
    ("As of 2024-06-01, the rate limit is 200.", "2024-06-01", None),
    ("The rate limit was raised to 200 yesterday.", "2024-05-09", None),
    ("The checkout service was down yesterday.", "2024-05-09", None),
    ("Starting June 1, the rate limit is 200 until 30 June.", "2024-06-01", "2024-07-01"),
    ("Effective 5 January, the rate limit is 200.", "2024-01-05", None),
]


@pytest.mark.parametrize(("text", "start", "end"), DATES)
def test_dates_of_validity_are_relative_to_the_observation(text: str, start: str, end: str | None) -> None:
    claim = only(text)

    assert claim.effective_at == parse_instant(start, "start")
    assert claim.valid_until == (None if end is None else parse_instant(end, "end"))


SCOPES = [
    ("In the EU region, the VAT rate is 20%.", (("region", "eu"),)),
    ("For premium users, the daily limit is 500.", (("for", "premium users"),)),
    ("The daily limit for premium users is 500.", (("for", "premium users"),)),
    ("On weekends, the pool opens at 10:00.", (("on", "weekends"),)),
    ("The museum closes at 6 pm on Sundays.", (("on", "sundays"),)),
]


@pytest.mark.parametrize(("text", "scope"), SCOPES)
def test_a_phrase_of_scope_becomes_a_qualifier(text: str, scope: tuple[tuple[str, str], ...]) -> None:
    assert only(text).scope == scope


@pytest.mark.parametrize(
    ("text", "extractor"),
    [
        ("Revert to the previous template.", "rule:revert:template"),
        ("Go back to the previous setting.", "rule:revert"),
    ],
)
def test_going_back_is_marked_and_not_guessed(text: str, extractor: str) -> None:
    claim = only(text)

    assert (claim.attribute, claim.value, claim.extractor, claim.kind) == (None, None, extractor, "instruction")


def test_two_documents_meet_in_one_slot() -> None:
    (old,) = told("Free shipping from 100 yuan", source="doc-2024-03-01", agent="")
    (new,) = told("Free shipping from 200 yuan", source="doc-2024-05-20", agent="")

    assert (old.entity, old.attribute) == (new.entity, new.attribute)
    assert (old.value, new.value) == ("100 CNY", "200 CNY")


def test_a_further_name_in_passing_leaves_the_rest_of_the_sentence_to_be_read() -> None:
    claims = told("Robert Smith, also known as Bob, lives in Oslo.")
    assert [(claim.entity.name, claim.attribute, claim.value) for claim in claims] == [
        ("Robert Smith", "alias", "Bob"),
        ("Robert Smith", "residence", "Oslo"),
    ]


def test_a_sentence_that_is_not_read_but_for_a_further_name_is_kept_whole_too() -> None:
    text = "Robert Smith (also known as Bob) leads sales."
    alias, free = told(text)
    assert (alias.attribute, alias.value) == ("alias", "Bob")
    assert (free.attribute, free.statement, free.entity.name) == (None, text, "Robert Smith")


def test_a_further_name_belongs_to_whom_the_sentence_names_whatever_the_observation_is_about() -> None:
    observation = Observation(
        id="o1", bank="b", source=Source("s"), observed_at=MOMENT, text="Bo is also called Max.", entity=Entity("Ann")
    )
    (claim,) = extract(observation)
    assert (claim.entity.name, claim.attribute, claim.value) == ("Bo", "alias", "Max")


@pytest.mark.parametrize(
    "text",
    [
        "He is also known as Bob.",
        "Ann also called Bob yesterday.",
        "Ann is better known as a fast runner.",
        "Ann is commonly known as the fastest runner.",
        "Python is known as a slow language.",
        "Is Robert also known as Bob?",
    ],
)
def test_what_gives_nobody_a_name_is_no_alias(text: str) -> None:
    assert [claim.attribute for claim in told(text)] == [None]


def test_several_allergies_are_several_values() -> None:
    assert [claim.value for claim in told("Omar is allergic to peanuts and to seafood.")] == ["peanuts", "seafood"]
    assert [claim.value for claim in told("Omar is allergic to both milk, eggs, and nuts.")] == ["milk", "eggs", "nuts"]
