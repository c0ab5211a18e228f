"""Rules for Chinese statements of fact: values, changes, thresholds, states, permissions, likings, names."""

import re
from typing import NamedTuple

from beliefs.chinese_words import ENUMERATED, EVENT, FREE_FORM, HELD, STATES, english_name, named
from beliefs.reading import NOTHING, Reading, Readings, ReadValue, Sentence, preference
from beliefs.typed import as_version, boolean_of, find_typed, yearless
from schemas.claim import Network, ValueType
from schemas.entity import Entity

_CHANGE = re.compile(
    r"(?P<np>.+?)(?:已经?|将)?(?:(?:由|从)(?P<old>.{1,20}?))?(?P<verb>改为|改成|变为|变成|变更为|调整为|调整到|更改为|修改为|更新为|升级到|升级为|"
    r"降级到|提高到|提升到|上调至|上调到|下调至|下调到|升至|降至|降到|降低到|增加到|减少到|增至|减至|更名为|延期至|推迟到|提前到|换成|切换为|切换到)了?(?P<value>.+)"
)
_IS = re.compile(r"(?P<np>[^,，:：=]+?)(?:\s?(?:[:：](?!\d\d)|=)\s?|现为|定为|设为|等于|达到|为|是)(?P<value>.+)")
_MODIFIERS = re.compile(r"^(?:仅|只有?|在|约|大约|第)")
_AFTER = re.compile(r"[\u4e00-\u9fff]{0,3}(?:/[\u4e00-\u9fff]{1,2})?|\s?[A-Za-z]{1,12}")
_COUNTED = re.compile(r"^[件个只台份条人]$")
_ANY = re.compile(r"[\w+@#][\w+@.:/#&()-]{1,59}")
_EXACT = re.compile(r"[\d@/+]|\w\.\w|[路街区号市]")
_WORD = re.compile(r"[\w·+#.-]{1,12}")
_CAN = re.compile(
    r"(?P<np>.+?)(?:可以|能够|允许|(?<![认许智功可性万职效节])可(?![能爱靠用见口])|(?<![智功可性万职效节])能(?![力量源效耗]))(?:同时)?(?P<p>.+)"
)
_DOES = re.compile(r"(?P<np>.+?)(?P<verb>支持|提供|包含|包括|接受)(?P<p>.+)")
_STATE = re.compile(
    r"(?P<np>.+?)(?:的?状态)?(?:已经|处于|已|是|为)?(?P<p>"
    + "|".join(sorted(STATES, key=len, reverse=True))
    + r")(?:状态|了)?"
)
_FREE = re.compile(r"(?P<np>.+?)(?:是)?(?P<p>免费|收费|包邮|必填|可选|公开|保密|吃素)(?:的)?")
_FORCE = re.compile(
    r"(?P<np>.+?)(?:(?:现已|已经?|均已?|被)(?P<no>取消|废止|废除|作废|失效|过期|撤销|下线|终止|弃用)|(?:现已|已经?|仍然?)?(?P<yes>有效|生效|在有效期内))了?"
)
_SWITCH = re.compile(r"(?P<np>.+?)(?:现已|已经?|被)(?:(?P<on>启用|开启|开通)|(?P<off>停用|禁用))了?")
WHO = r"(?P<who>我|本人|(?:用户|客户)?[\w·]{1,10}?)"
_LIKES = re.compile(
    WHO
    + r"(?:很|非常|特别|最|更|一直|平时|都|现在)*(?P<verb>不喜欢|不爱吃|不爱喝|讨厌|喜欢|喜爱|偏爱|偏好|热爱|爱吃|爱喝)"
    r"(?P<what>[^了过，,]{1,20})"
)
_RATHER = re.compile(r"(?P<value>.+?)(?:胜过|多于|而非|超过).+")
_FAVOURITE = re.compile(r"(?P<who>我|[\w·]{1,10}?)最(?:喜欢|爱)的(?P<topic>\w{1,6})(?:是|为)(?P<value>\w{1,12})")
_VAGUE = re.compile(r"^(?:这|那|它|他|她|你|我)")
_ALLERGIC = re.compile(WHO + r"对(?P<what>[^，,]{1,20})(?:严重|会|有点)?过敏")
_HABIT = re.compile(WHO + r"(?:平时|一直|从来)?(?P<what>[吃喝抽][\u4e00-\u9fff]{1,4}|会?说[\u4e00-\u9fff]{1,3}语)")
_MEALS = re.compile(r"[饭餐过完点亏惊苦力光掉了]|东西|什么")
_AND = re.compile(r"[和、与及]")
_NAMES = re.compile(
    r"(?:(?P<i>我叫|我的名字(?:是|叫)|本人名叫)|(?P<nick>请?(?:叫我|称呼我(?:为)?)|我的昵称(?:是|叫))|(?P<who>[\w·]{1,10}?)(?:名叫|的名字(?:是|叫)))(?P<name>[\w·]{1,12})"
)
_BORN = re.compile(WHO + r"(?:出生于|出生在|生于)(?P<where>[^\d，,]{1,12})")


class Topic(NamedTuple):
    """Whose attribute a noun phrase names."""

    subject: Entity | None
    speaker: bool
    attribute: str


def topic_of(phrase: str) -> Topic | None:
    """Read X的Y, 我的Y, Y; None where it names no clear thing."""
    owner, of, attribute = phrase.strip(" ，,").rpartition("的")
    if not of:
        subject = named(attribute)
        if subject is None:
            return None
        return Topic(subject, False, english_name(attribute if subject.type == "thing" else subject.name))
    if not attribute or named(attribute) is None:
        return None
    if owner in ("我", "本人"):
        return Topic(None, True, english_name(attribute))
    subject = named(owner)
    return Topic(subject, False, english_name(attribute)) if subject else None


def read_value(text: str, attribute: str, sentence: Sentence) -> ReadValue | None:
    """The whole text as one value, with its type and the words that follow it (件, 人)."""
    text = text.strip(" ，,")
    if text.endswith("的"):
        return None
    if FREE_FORM.fullmatch(attribute) and _ANY.fullmatch(text) and _EXACT.search(text):
        return text, "text", ""
    if HELD.fullmatch(attribute) and _WORD.fullmatch(text):
        return text, "name", ""
    text = _MODIFIERS.sub("", text)
    found = find_typed(text, sentence.moment)
    if found:
        value, rest = found[0], text[found[0].end :]
        if len(found) != 1 or value.start or not _AFTER.fullmatch(rest):
            return None
        if attribute.endswith(("version", "版本", "版本号")):
            value = as_version(value)
        if attribute.endswith(("birthday", "生日", "纪念日")):
            value = yearless(value)
        return value.value, value.type, _COUNTED.sub("", rest.strip().casefold())
    if text in STATES and attribute == "status":
        return STATES[text], "enum", ""
    switch = boolean_of(text)
    if switch is not None:
        return switch, "boolean", ""
    if ENUMERATED.fullmatch(attribute) or english_name(attribute).isascii():
        return (text, "enum", "") if _WORD.fullmatch(text) else None
    return None


def slot(topic: Topic, value: ReadValue) -> Reading:
    """The reading that gives a topic a value; a thing itself is on or off by its attribute "enabled"."""
    attribute = f"{topic.attribute} {value[2]}".strip()
    if value[1] == "boolean" and topic.subject is not None and topic.subject.name.casefold() == topic.attribute:
        attribute = "enabled"
    return Reading(
        attribute=attribute, value=value[0], value_type=value[1], subject=topic.subject, speaker=topic.speaker
    )


def _read_slot(np: str, text: str, sentence: Sentence) -> Readings:
    topic = topic_of(np)
    value = read_value(text, topic.attribute, sentence) if topic else None
    return (slot(topic, value),) if topic and value else NOTHING


def change(sentence: Sentence) -> Readings:
    """X由A改为B, X从A改成B, X调整为B: supports B."""
    found = _CHANGE.fullmatch(sentence.text)
    if found is None or found["np"].startswith(("把", "将")):
        return NOTHING
    topic = topic_of(found["np"])
    text = found["value"]
    if topic and text in STATES and not ENUMERATED.fullmatch(found["np"]):
        subject = topic.subject
        return (
            Reading(attribute="status", value=STATES[text], value_type="enum", subject=subject, speaker=topic.speaker),
        )
    readings = _read_slot(found["np"], text, sentence)
    if readings or topic is None or not found["old"] or not _WORD.fullmatch(text) or find_typed(text, sentence.moment):
        return readings
    return (
        Reading(attribute=topic.attribute, value=text, value_type="enum", subject=topic.subject, speaker=topic.speaker),
    )


def is_value(sentence: Sentence) -> Readings:
    """X是V, X为V, X：V with a typed value, or with a word where the attribute is one of words."""
    if EVENT.search(sentence.text) and not sentence.text.startswith("我的"):
        return NOTHING
    found = _IS.fullmatch(sentence.text)
    return _read_slot(found["np"], found["value"], sentence) if found else NOTHING


def state(sentence: Sentence) -> Readings:
    """X已停用, X已取消, X宕机: states and what is in force or not."""
    if found := _SWITCH.fullmatch(sentence.text):
        return _state(found["np"], "enabled", found["on"] is not None)
    if found := _FORCE.fullmatch(sentence.text):
        return _state(found["np"], "in force", found["yes"] is not None)
    if found := _STATE.fullmatch(sentence.text):
        return _state(found["np"], "status", STATES[found["p"]])
    if (found := _FREE.fullmatch(sentence.text)) and not find_typed(sentence.text, sentence.moment):
        return _state(found["np"], found["p"], True)
    return NOTHING


def can(sentence: Sentence) -> Readings:
    """X可以P: so or not."""
    found = _CAN.fullmatch(sentence.text)
    if found is None or len(found["p"]) > 20 or EVENT.search(sentence.text) or find_typed(found["p"], sentence.moment):
        return NOTHING
    return _state(found["np"], "可以" + _canonical(found["p"]), True)


def does(sentence: Sentence) -> Readings:
    """X支持P, X包含P: so or not."""
    found = _DOES.fullmatch(sentence.text)
    if found is None or len(found["p"]) > 20 or EVENT.search(sentence.text) or find_typed(found["p"], sentence.moment):
        return NOTHING
    return _state(found["np"], found["verb"] + _canonical(found["p"]), True)


def likes(sentence: Sentence) -> Readings:
    """我喜欢X, 张三不喜欢X, 我最喜欢的T是X."""
    if found := _FAVOURITE.fullmatch(sentence.text):
        return about(found["who"], f"preference.{english_name(found['topic'])}", found["value"], "text")
    found = _LIKES.fullmatch(sentence.text)
    if found is None or _VAGUE.match(found["what"]):
        return NOTHING
    what = found["what"]
    if rather := _RATHER.fullmatch(what):
        what = rather["value"]
    whose = about(found["who"], "likes", what, "text")
    return preference(whose[0], not found["verb"].startswith(("不", "讨厌")), what) if whose else NOTHING


def allergic(sentence: Sentence) -> Readings:
    """我对X过敏."""
    found = _ALLERGIC.fullmatch(sentence.text)
    if found is None or _VAGUE.match(found["what"]):
        return NOTHING
    parts = [part for each in _AND.split(found["what"]) if (part := each.removeprefix("对"))]
    return tuple(reading for part in parts for reading in about(found["who"], "allergy", part, "text"))


def habit(sentence: Sentence) -> Readings:
    """我吃辣, 李梅吃素: so or not."""
    found = _HABIT.fullmatch(sentence.text)
    if found is None or _MEALS.search(found["what"]):
        return NOTHING
    return about(found["who"], found["what"], True, "boolean")


def names(sentence: Sentence) -> Readings:
    """我叫X, 叫我X."""
    found = _NAMES.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    return about(found["who"] or "我", "nickname" if found["nick"] else "name", found["name"], "name")


def born(sentence: Sentence) -> Readings:
    """我出生在P."""
    found = _BORN.fullmatch(sentence.text)
    return about(found["who"], "birthplace", found["where"], "name") if found else NOTHING


def about(who: str, attribute: str, value: str | bool, type: ValueType) -> Readings:
    """A reading about the speaker (我) or the one named."""
    if who in ("我", "本人"):
        network: Network | None = "experience" if attribute == "birthplace" else None
        return (Reading(attribute=attribute, value=value, value_type=type, speaker=True, network=network),)
    subject = named(who)
    return (Reading(attribute=attribute, value=value, value_type=type, subject=subject),) if subject else NOTHING


def _state(np: str, attribute: str, value: str | bool) -> Readings:
    subject = named(np)
    if subject is None:
        return NOTHING
    return (
        Reading(
            attribute=attribute,
            value=value,
            value_type="boolean" if isinstance(value, bool) else "enum",
            subject=subject,
        ),
    )


def _canonical(predicate: str) -> str:
    return re.sub(r"[\s的了]|一起", "", predicate.casefold())
