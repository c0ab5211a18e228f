"""Which periods a question names, in English or Chinese, relative to the time at which it is asked."""

import re

from recall import when_chinese, when_english
from recall.period import Mention, Period, moved_to_year, week_of
from schemas.instant import DAY, Instant, datetime_of

_OPEN_REACH = 365 * DAY
"""How far "before X" reaches back: it asks for what lies just before, not for the beginning of time."""

_MAX_MENTIONS = 16
_HEAD = 40
"""How many characters before a date are read for words such as "between" or "since"."""

_JOINS = re.compile(r"\s*(?:and|to|till|until|through|-|–|—|~|到|至|和|与)\s*(?:the\s+)?(?:in\s+)?", re.IGNORECASE)
_OPENS = re.compile(r"\b(?:between|from)\s*(?:the\s+)?$", re.IGNORECASE)
_RANGE_WORDS = ("到", "至", "to", "through", "until", "till", "-", "–", "—", "~")
_SINCE = re.compile(r"\b(?:since|after|from)\s+(?:the\s+)?(?:month of\s+)?$", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:before|until|till|by|prior to)\s+(?:the\s+)?(?:month of\s+)?$", re.IGNORECASE)
_LEADING = re.compile(r"^(since|after|from|before|until|till|by|between|to|and|in|during|of)\s+", re.IGNORECASE)
_WEEK_OF = re.compile(r"\bweek of\s+(?:the\s+)?$", re.IGNORECASE)
_THEN_ON = re.compile(r"\s*(?:以来|之后|以后|后|起)")
_UP_TO = re.compile(r"\s*(?:之前|以前|前)")


def periods_in(text: str, now: Instant) -> list[Period]:
    """The periods that a text names, in the order of the text; `now` is what "yesterday" is relative to.

    Days, weeks, months and years are UTC calendar units; weeks begin on Monday. A date without a year is the
    latest one that has begun. "Between X and Y" is one period; "since X" ends now; "before X" reaches back a year.
    """
    found = _mentions(text, now)
    periods: list[Period] = []
    at = 0
    while at < len(found):
        joined = _range(text, found[at], found[at + 1]) if at + 1 < len(found) else None
        periods.append(joined or _opened(text, found[at], now))
        at += 2 if joined else 1
    return [period for period in periods if period.start < period.end]


def _mentions(text: str, now: Instant) -> list[Mention]:
    """Mentions that do not overlap: those found first take precedence, then all go in order of place."""
    kept: list[Mention] = []
    for phrase in (*when_english.PHRASES, *when_chinese.PHRASES):
        for match in phrase.pattern.finditer(text):
            if any(match.start() < other.finish and match.end() > other.begin for other in kept):
                continue
            period = phrase.read(match, now)
            if period is not None:
                kept.append(_without_lead(text, Mention(match.start(), match.end(), period, phrase.floating)))
            if len(kept) == _MAX_MENTIONS:
                break
    return sorted(kept, key=lambda mention: mention.begin)


def _without_lead(text: str, mention: Mention) -> Mention:
    """Take a leading "since" or "in" out of the span, so that what comes before a date reads alike for all."""
    lead = _LEADING.match(text[mention.begin : mention.finish])
    if lead is None:
        return mention
    return Mention(mention.begin + lead.end(), mention.finish, mention.period, mention.floating)


def _range(text: str, first: Mention, last: Mention) -> Period | None:
    between = text[first.finish : last.begin]
    if not _JOINS.fullmatch(between):
        return None
    head = _head(text, first)
    opened = _OPENS.search(head) or head.rstrip().endswith("从")
    if not opened and between.strip().lower() not in _RANGE_WORDS:
        return None
    start, end = first.period, last.period
    if first.floating and not last.floating:
        start = _nearest_year(start, end, -1)
    elif last.floating and not first.floating:
        end = _nearest_year(end, start, 1)
    elif start.start > end.start and first.floating:
        start = moved_to_year(start, datetime_of(start.start).year - 1)
    return Period(start.start, end.end) if start.start < end.end else None


def _nearest_year(floating: Period, fixed: Period, direction: int) -> Period:
    """The floating period in the fixed one's year, or one further where it would lie on the wrong side."""
    of_year = datetime_of(fixed.start).year
    moved = moved_to_year(floating, of_year)
    wrong = moved.start > fixed.start if direction < 0 else moved.start < fixed.start
    return moved_to_year(floating, of_year + direction) if wrong else moved


def _opened(text: str, mention: Mention, now: Instant) -> Period:
    head, tail, period = _head(text, mention), text[mention.finish : mention.finish + _HEAD], mention.period
    if _WEEK_OF.search(head):
        return week_of(period.start)
    since = _SINCE.search(head)
    if since or _THEN_ON.match(tail):
        after = since is not None and since[0].lower().startswith("after")
        return Period(period.end if after else period.start, max(now + 1, period.end))
    if _BEFORE.search(head) or _UP_TO.match(tail):
        return Period(period.start - _OPEN_REACH, period.start)
    return period


def _head(text: str, mention: Mention) -> str:
    return text[max(0, mention.begin - _HEAD) : mention.begin]
