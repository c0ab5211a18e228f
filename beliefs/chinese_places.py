"""Rules for Chinese statements of where and who: 住在, 在X工作, X位于P, X负责S, X是O的总经理."""

import re

from beliefs.chinese_facts import WHO, about
from beliefs.chinese_words import EVENT, ROLES, named
from beliefs.reading import NOTHING, Reading, Readings, Sentence

_WHERE = r"(?P<where>[\w·&-]{2,16})"
_LIVES = re.compile(WHO + rf"(?:一直|长期)?(?:住在|居住在|定居在?|搬到了?|搬去了?|迁居到?了?){_WHERE}")
_WORKS = re.compile(
    WHO + r"(?:(?:一直|目前)?在(?P<where>[\w·&-]{2,16}?)(?:工作|上班|任职|就职)|"
    r"(?:就职于|任职于|供职于|入职了?|加入了?)(?P<where2>[\w·&-]{2,16}))"
)
_PLACES = (
    r"(?:部|部门|公司|总部|办公室|中心|仓|仓库|店|馆|处|厂|会|会议|评审|活动|分店|门店|学校|团队|小组|前台|服务器|机房|"
    r"展台|讲座|课程)"
)
_IS_IN = re.compile(
    rf"(?P<np>[\w·]{{0,10}}?{_PLACES})(?:(?P<fixed>位于|设在|设于|搬到了?|迁至|安排在)|改?在){_WHERE}(?:举行|召开|举办|进行)?"
)
_DOING = re.compile(
    r"进行|举行|举办|召开|睡|工作|准备|继续|增长|下降|开会|讨论|等|考虑|\d(?!\d*[号楼层室座栋])|周|星期|[上下]午|[今明后昨]天|月|之[前后内间]|期间"
)
_PLACE = re.compile(
    r"[室楼层座市省区县路街厅馆园城镇村港岛州库架号仓站店部院]$|广场|中心|酒店|大厦|机场|大学|学校|公司|线[上下]|Zoom|"
    r"北京|上海|广州|深圳|杭州|南京|成都|重庆|武汉|西安|苏州|天津|长沙|郑州|青岛|大连|厦门|宁波|无锡|福州|济南|合肥|昆明|沈阳|哈尔滨|"
    r"香港|澳门|台北|东京|大阪|首尔|新加坡|曼谷|伦敦|巴黎|柏林|纽约|旧金山|西雅图|硅谷|悉尼"
)
_PERSON = r"(?P<who>[\u4e00-\u9fff·]{2,4}|[A-Z][\w.]*(?:\s[A-Z][\w.]*)?)"
_LOOKS_AFTER = re.compile(rf"{_PERSON}(?:全权|主要)?(?:负责|主管|分管)(?P<what>[\w·-]{{2,14}}?)(?:的?工作)?")
_BY = re.compile(rf"(?P<what>[\w·-]{{2,14}}?)(?:改)?由{_PERSON}(?:来|全权|主要)?(?P<how>负责|主管|管理|审核|审批|维护)")
_ASSIGNED = re.compile(rf"(?P<what>[\w·-]{{2,14}}?)(?:已经?)?(?:分配|指派|转交|移交|交)给了?{_PERSON}(?:处理|负责)?")
_ROLE_OF = re.compile(
    rf"{_PERSON}(?:是|担任|出任|成为)(?P<what>[\w·]{{2,12}}的|[\w·]{{1,10}}?(?:公司|集团|部|团队|小组|学校|医院|银行|项目))(?P<role>{ROLES})"
)
_OFFICES = {"审核": "审核人", "审批": "审批人"}
_NO_PERSON = re.compile(r"[部司组队处会门店们]$|^(?:我|你|他|她|它|这|那|其|系统|工单|用户|客户)")


def lives(sentence: Sentence) -> Readings:
    """我住在P, 张三搬到了P."""
    found = _LIVES.fullmatch(sentence.text)
    if found is None or found["where"].endswith(("家", "里", "家里", "那边", "这边")):
        return NOTHING
    return about(found["who"], "residence", found["where"], "name")


def works(sentence: Sentence) -> Readings:
    """张三在O工作, 张三就职于O."""
    found = _WORKS.fullmatch(sentence.text)
    where = (found["where"] or found["where2"]) if found else ""
    if found is None or where.startswith(("家", "哪", "这", "那")):
        return NOTHING
    return about(found["who"], "employer", where, "name")


def is_in(sentence: Sentence) -> Readings:
    """总部在P, 会议在3号会议室; where people happen to be, and what goes on, is no rule's."""
    found = _IS_IN.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None or _DOING.search(found["where"]):
        return NOTHING
    if not (found["fixed"] or _PLACE.search(found["where"])):
        return NOTHING
    return (Reading(attribute="location", value=found["where"], value_type="name", subject=subject),)


def looks_after(sentence: Sentence) -> Readings:
    """王芳负责支付服务, 备份由王芳负责, 工单ABC-1分配给李雷."""
    found = _LOOKS_AFTER.fullmatch(sentence.text) or _BY.fullmatch(sentence.text)
    if found:
        return _held_by(found["what"], _OFFICES.get(found.groupdict().get("how") or "", "owner"), found["who"])
    found = _ASSIGNED.fullmatch(sentence.text)
    return _held_by(found["what"], "assignee", found["who"]) if found else NOTHING


def role_of(sentence: Sentence) -> Readings:
    """周洁是星辰公司的总经理."""
    found = _ROLE_OF.fullmatch(sentence.text)
    if found is None or EVENT.search(sentence.text):
        return NOTHING
    return _held_by(found["what"], found["role"], found["who"])


def _held_by(what: str, office: str, who: str) -> Readings:
    subject = None if _NO_PERSON.search(who) else named(what.removesuffix("的"))
    return (Reading(attribute=office, value=who, value_type="name", subject=subject),) if subject else NOTHING
