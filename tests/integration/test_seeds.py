"""The situations that the project began with, word for word, from plain text to what is recalled, in both languages."""

import json
from typing import Any

import pytest

from beliefmesh.memory import Memory


def answers(memory: Memory, question: str, **fields: Any) -> list[object]:
    """The values of what is found that has one, best first."""
    return [one.belief.value for one in memory.recall(question, **fields).found if one.belief.attribute is not None]


def statuses(memory: Memory, entity: str, attribute: str) -> dict[object, str]:
    return {belief.value: belief.status for belief in memory.history(entity=entity, attribute=attribute).beliefs}


def tell(memory: Memory, *told: tuple[str, str]) -> None:
    """Texts of one speaker, each in a call of its own, with the day on which it was said."""
    for text, day in told:
        memory.retain(text, agent="ann", observed_at=day)


@pytest.mark.parametrize(
    ("new", "old", "question", "entity", "attribute"),
    [
        (
            "Free shipping from 200 yuan from 20 May on.",
            "Free shipping from 100 yuan.",
            "From what amount is shipping free?",
            "Free shipping",
            "free shipping from {money}",
        ),
        ("自5月20日起，满200元免运费。", "满100元免运费。", "满多少元免运费？", "免运费", "满 {money} 免运费"),
    ],
)
def test_the_old_shipping_rule_that_arrives_a_week_later_does_not_come_back(
    memory: Memory, new: str, old: str, question: str, entity: str, attribute: str
) -> None:
    memory.retain(new, source={"id": "policy-2", "type": "document"}, observed_at="2024-05-20")
    memory.retain(old, source={"id": "policy-1", "type": "document"}, observed_at="2024-03-01")

    assert answers(memory, question) == ["200 CNY"]
    assert answers(memory, question, as_of="2024-04-01") == ["100 CNY"]
    assert statuses(memory, entity, attribute) == {"200 CNY": "active", "100 CNY": "revoked"}


@pytest.mark.parametrize(
    ("allowed", "withdrawn", "question"),
    [
        ("Coupon may be combined.", "Coupon may no longer be combined.", "May a coupon be combined?"),
        ("优惠券可以叠加。", "优惠券不再可以叠加。", "优惠券可以叠加吗？"),
    ],
)
def test_what_coupons_could_do_until_it_was_withdrawn(
    memory: Memory, allowed: str, withdrawn: str, question: str
) -> None:
    tell(memory, (allowed, "2024-05-01"), (withdrawn, "2024-06-01"))

    assert answers(memory, question) == [False]
    assert answers(memory, question, as_of="2024-05-15") == [True]


REPORTS = [
    (
        "All reports use template A.",
        "Financial reports use template B.",
        "Back to the previous setting.",
        "report",
        {"report": "financial"},
        "Which template do reports use?",
    ),
    (
        "所有报表使用模板A。",
        "财务报表使用模板B。",
        "恢复原来的设置。",
        "报表",
        {"报表": "财务"},
        "报表使用什么模板？",
    ),
]


@pytest.mark.parametrize(("wide", "narrow", "back", "entity", "scope", "question"), REPORTS)
def test_a_template_for_some_reports_is_an_exception_and_going_back_takes_it_away(
    memory: Memory, wide: str, narrow: str, back: str, entity: str, scope: dict[str, str], question: str
) -> None:
    tell(memory, (wide, "2024-05-01"), (narrow, "2024-05-05"))
    assert answers(memory, question, attribute="template", scope=scope) == ["B"]
    assert sorted(map(str, answers(memory, question, attribute="template"))) == ["A", "B"]

    receipt = memory.retain(back, agent="ann", observed_at="2024-05-09")

    assert receipt.clarification == ()
    assert answers(memory, question, attribute="template", scope=scope) == ["A"]
    assert statuses(memory, entity, "template") == {"A": "active", "B": "revoked"}


@pytest.mark.parametrize(("wide", "narrow", "back", "entity", "scope", "question"), REPORTS)
def test_the_history_keeps_the_exception_and_why_it_ended(
    memory: Memory, wide: str, narrow: str, back: str, entity: str, scope: dict[str, str], question: str
) -> None:
    tell(memory, (wide, "2024-05-01"), (narrow, "2024-05-05"), (back, "2024-05-09"))
    (told,) = (belief for belief in memory.history(entity=entity, attribute="template").beliefs if belief.value == "B")

    assert (told.status, told.reason) == ("revoked", "retracted")
    assert [len(turn.evidence) for turn in memory.history(entity=entity, attribute="template").turns] == [1, 1, 1]


def test_an_imported_line_goes_back_by_the_dates_of_the_lines(memory: Memory) -> None:
    told = [
        ("Go back to the previous theme.", "05-05"),
        ("Set the theme to light.", "05-02"),
        ("Set the theme to dark.", "05-01"),
    ]
    lines = [json.dumps({"text": text, "agent": "ann", "observed_at": f"2024-{day}"}) for text, day in told]
    done = memory.import_lines(lines)

    assert (done.accepted, done.dead, done.unclear) == (3, 0, 0)
    assert statuses(memory, "theme", "theme") == {"dark": "active", "light": "revoked"}
    before = memory.state_hash()
    assert memory.import_lines(lines).unclear == 0
    assert memory.state_hash() == before


def test_an_imported_line_that_may_go_back_to_several_changes_nothing_and_is_counted(memory: Memory) -> None:
    told = ["Set the theme to dark.", "Set the theme to light.", "Set the language to English."]
    told += ["Set the language to German.", "Go back to the previous setting."]
    lines = [
        json.dumps({"text": text, "agent": "ann", "observed_at": f"2024-05-0{n}"}) for n, text in enumerate(told, 1)
    ]
    done = memory.import_lines(lines)

    assert (done.accepted, done.unclear) == (5, 1)
    assert statuses(memory, "theme", "theme") == {"dark": "revoked", "light": "active"}


def test_going_back_asks_where_two_settings_may_be_meant(memory: Memory) -> None:
    tell(
        memory,
        ("Set the theme to dark.", "2024-05-01"),
        ("Set the theme to light.", "2024-05-02"),
        ("Set the language to English.", "2024-05-03"),
        ("Set the language to German.", "2024-05-04"),
    )

    unclear = memory.retain("Go back to the previous setting.", agent="ann", observed_at="2024-05-05")
    assert unclear.clarification == (
        "language, language: German, back to English",
        "theme, theme: light, back to dark",
    )
    assert statuses(memory, "theme", "theme") == {"dark": "revoked", "light": "active"}

    clear = memory.retain("Go back to the previous theme.", agent="ann", observed_at="2024-05-06")
    assert clear.clarification == ()
    assert statuses(memory, "theme", "theme") == {"dark": "active", "light": "revoked"}
    assert statuses(memory, "language", "language") == {"English": "revoked", "German": "active"}


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        ("Save as PDF.", "Save as DOCX.", "As what should I save?"),
        ("保存为PDF。", "保存为DOCX。", "保存为什么格式？"),
    ],
)
def test_the_later_format_holds(memory: Memory, first: str, second: str, question: str) -> None:
    tell(memory, (first, "2024-05-01"), (second, "2024-05-02"))

    assert answers(memory, question) == ["DOCX"]


@pytest.mark.parametrize(
    ("theme", "font", "dark", "larger"),
    [
        ("Set the theme to dark.", "Make the font one size larger.", "dark", "one size larger"),
        ("把主题设为深色。", "字体调大一号。", "深色", "调大一号"),
    ],
)
def test_a_dark_theme_and_a_larger_font_live_together(
    memory: Memory, theme: str, font: str, dark: str, larger: str
) -> None:
    tell(memory, (theme, "2024-05-01"), (font, "2024-05-02"))

    assert {belief.value: belief.status for belief in memory.holders()} == {dark: "active", larger: "active"}


@pytest.mark.parametrize(
    ("ten", "none", "question"),
    [
        ("Stock of SKU-9 is 10.", "Stock of SKU-9 is 0.", "What is the stock of SKU-9?"),
        ("SKU-9的库存是10。", "SKU-9的库存是0。", "SKU-9的库存是多少？"),
    ],
)
def test_a_tool_s_stock_is_replaced_and_expires(memory: Memory, ten: str, none: str, question: str) -> None:
    tool = {"id": "inventory", "type": "tool"}
    memory.retain(ten, source=tool, observed_at="2024-06-10T10:00:00Z", valid_until="2024-06-10T11:00:00Z")
    memory.retain(none, source=tool, observed_at="2024-06-10T10:30:00Z", valid_until="2024-06-10T11:30:00Z")

    assert answers(memory, question, as_of="2024-06-10T10:15:00Z") == [10]
    assert answers(memory, question, as_of="2024-06-10T10:45:00Z") == [0]
    assert statuses(memory, "SKU-9", "stock") == {10: "stale", 0: "stale"}
    assert answers(memory, question) == []


@pytest.mark.parametrize(
    ("allergy", "chatter", "question", "value"),
    [
        (
            "Omar is allergic to seafood.",
            "The restaurant on the corner serves lovely soup.",
            "recommend a restaurant for Omar",
            "seafood",
        ),
        ("王强对海鲜过敏。", "街角的餐厅汤很好喝。", "给王强推荐一家餐厅", "海鲜"),
    ],
)
def test_a_later_recommendation_sees_the_allergy(
    memory: Memory, allergy: str, chatter: str, question: str, value: str
) -> None:
    memory.retain(allergy, agent="ann", observed_at="2023-05-01")
    memory.retain([chatter, "We walked home.", "It rained all day."], agent="bob", observed_at="2024-06-01")

    assert answers(memory, question) == [value]


@pytest.mark.parametrize(
    ("first", "second", "question", "old", "new"),
    [
        ("I was born in Colorado.", "I was born in Texas.", "Where was ann born?", "Colorado", "Texas"),
        ("我出生在北京。", "我出生在上海。", "ann出生在哪里？", "北京", "上海"),
    ],
)
def test_the_later_birthplace_of_one_speaker_holds(
    memory: Memory, first: str, second: str, question: str, old: str, new: str
) -> None:
    tell(memory, (first, "2024-05-01"), (second, "2024-05-02"))

    assert answers(memory, question) == [new]
    birthplaces = memory.history(entity={"name": "ann", "type": "agent"}, attribute="birthplace").beliefs
    assert {belief.value: belief.status for belief in birthplaces} == {new: "active", old: "revoked"}
