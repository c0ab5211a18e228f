"""Rules for Chinese instructions: what to use, how to set, what must always or never be done."""

import re

import msgspec

from beliefs.chinese_facts import read_value, slot, topic_of
from beliefs.chinese_words import HEADS, SETTINGS, english_name, named, target
from beliefs.reading import NOTHING, Reading, Readings, ReadValue, Sentence, order, thing
from beliefs.typed import find_typed
from schemas.claim import EVERYWHERE, Scope
from schemas.entity import Entity

_DUTY = r"(?:请|必须|应当?|需要?|要|一律|统一|全部|都|均|今后|以后|默认)*"
_USE = re.compile(
    rf"(?P<what>.*?){_DUTY}(?:使用|采用|改用|选用|套用|用)(?P<setting>{SETTINGS})?(?P<value>[A-Za-z0-9][\w.+#/-]*|[\u4e00-\u9fff]{{1,6}})(?P<setting2>{SETTINGS})?"
)
_SETTING_END = re.compile(rf".{{0,4}}(?:{SETTINGS})")
_ALL = re.compile(r"(?:所有|全部|一切|任何)(?:的|东西|地方|情况)?|一切|全部|所有")
_SET = re.compile(
    r"(?:把|将)(?P<np>.+?)(?:从.+?)?(?:都|统一)?(?:设置?为|设置?成|设定为|改为|改成|调整?为|调整?到|调成|换成|切换?为|切换到|提高到|降低到|降到)(?P<value>.+)"
)
_SET_IS = re.compile(r"(?P<np>.+?)(?:设置为|设置成|设为|设成|设定为|请用)(?P<value>.+)")
_TURN = re.compile(r"(?:(?P<on>开启|启用|打开)|(?P<off>关闭|停用|禁用))(?P<np>.{2,12})")
_SAVE = re.compile(
    r"(?P<what>.*?)(?P<how>另存为|保存为|保存成|(?<!库)存为|导出为|导出成|输出为)(?P<value>[A-Za-z0-9][\w.+-]*|\w{1,6}?)(?:格式|文件)?"
)
_ANSWER = re.compile(
    r"(?:请)?(?:用|使用|以)(?P<value>中文|英文|英语|法语|德语|日语|日文|韩语|简体中文|繁体中文)(?P<how>回答|回复|答复|写作|书写|撰写|输出|交流)(?:我|问题)?"
)
_MAKE = re.compile(
    r"(?:把|将)?(?P<np>[\u4e00-\u9fff]{1,8}?)(?P<value>(?:调|放|变|加|缩|改)(?P<word>大|小|亮|暗|粗|快|慢|宽|窄)(?:一号|一点|一些|一级|些|点)?)"
)
_DIMENSION = {
    **dict.fromkeys("大小", "大小"),
    **dict.fromkeys("亮暗", "亮度"),
    **dict.fromkeys("快慢", "速度"),
    **dict.fromkeys("宽窄", "宽度"),
    "粗": "粗细",
}
_MUST = re.compile(
    r"(?P<np>.+?)(?:都|均|一律)?(?:必须|务必|应当|(?<!必)须|(?P<need>需要?))(?P<p>(?!求).+)|(?P<np2>.+?)(?:一律)(?P<p2>.+)"
)
_ALLOWED = re.compile(r"(?:允许|(?P<may>可以))(?P<p>[\u4e00-\u9fffA-Za-z]{4,12})")
_SEND = re.compile(
    r"(?P<what>.{2,8}?)(?:统一|一律|都|均)?(?:通过|用|以)(?P<value>邮件|电子邮件|短信|微信|电话|传真|快递|钉钉|飞书|企业微信)(?P<how>发送|通知|寄送|联系|提醒)"
)
_ORDER = re.compile(
    r"(?:总是|始终|一律|永远)?(?P<p>(?:使用|加密|发送|回复|回答|检查|验证|运行|部署|确认|保存|删除|共享|分享|提交|推送|记录|通知|上报|审核|测试|调用|关闭|打开|备份|脱敏|引用|翻译|显示|隐藏|修改|公开|泄露|透露|打印|合并|提供|上传|下载).{1,16})"
)


def use(sentence: Sentence) -> Readings:
    """所有报表使用模板A, 财务报表使用模板B, 使用模板A."""
    found = _USE.fullmatch(sentence.text)
    setting = (found["setting"] or found["setting2"]) if found else None
    if found is None or (setting is None and found["value"][0] > "\u2fff"):
        return NOTHING
    if setting is None and _SETTING_END.fullmatch(found["what"]):
        subject = named(found["what"])
        return (order(english_name(found["what"]), found["value"], (subject, EVERYWHERE)),) if subject else NOTHING
    attribute = english_name(setting) if setting else "use"
    whole = _scoped(found["what"], setting or "")
    if whole is None:
        return NOTHING
    general = not found["what"] or HEADS.fullmatch(found["what"]) or _ALL.match(found["what"])
    if setting is None and not (general and found["what"]):
        return NOTHING
    return (order(attribute, found["value"], whole),)


def set_to(sentence: Sentence) -> Readings:
    """把主题设为深色, 关闭通知."""
    if found := _TURN.fullmatch(sentence.text):
        subject = named(found["np"])
        return (order("enabled", found["on"] is not None, (subject, EVERYWHERE)),) if subject else NOTHING
    found = _SET.fullmatch(sentence.text) or _SET_IS.fullmatch(sentence.text)
    topic = topic_of(found["np"]) if found else None
    if found is None or topic is None:
        return NOTHING
    value = read_value(found["value"], topic.attribute, sentence) or _word(found["value"], sentence)
    return (msgspec.structs.replace(slot(topic, value), kind="instruction", tier="high"),) if value else NOTHING


def save_as(sentence: Sentence) -> Readings:
    """保存为PDF, 用中文回答."""
    if found := _ANSWER.fullmatch(sentence.text):
        return (order("answer in", found["value"], (None, EVERYWHERE)),)
    if found := _SEND.fullmatch(sentence.text):
        subject = target(found["what"])
        return (
            (order("send by" if found["how"] == "发送" else found["how"], found["value"], subject),)
            if subject
            else NOTHING
        )
    found = _SAVE.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    what = found["what"].removeprefix("把").removeprefix("将").removeprefix("请")
    whole = target(what) if what else (None, EVERYWHERE)
    how = "export as" if found["how"].startswith(("导出", "输出")) else "save as"
    return (order(how, found["value"], whole),) if whole else NOTHING


def make(sentence: Sentence) -> Readings:
    """字体调大一号."""
    found = _MAKE.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None:
        return NOTHING
    return (order(subject.name + _DIMENSION[found["word"]], found["value"], (subject, EVERYWHERE)),)


def must(sentence: Sentence) -> Readings:
    """X必须P: a duty, which is in force or not."""
    found = _MUST.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    subject, predicate = named(found["np"] or found["np2"]), found["p"] or found["p2"]
    if subject is None or len(predicate) > 20 or find_typed(predicate, sentence.moment):
        return NOTHING
    duty = order("必须" + re.sub(r"[\s的]", "", predicate.casefold()), True, (subject, EVERYWHERE))
    return (msgspec.structs.replace(duty, kind=None, tier=None) if found["need"] else duty,)


def allowed(sentence: Sentence) -> Readings:
    """允许优惠券叠加: what is allowed or not, where nobody is named who may."""
    found = _ALLOWED.fullmatch(sentence.text)
    if found is None or (found["may"] and sentence.negation != "not"):
        return NOTHING
    return (Reading(attribute="可以", value=True, value_type="boolean", subject=thing(found["p"])),)


def always(sentence: Sentence) -> Readings:
    """请加密备份, 不要泄露密码: what the listener must or must not do."""
    found = _ORDER.fullmatch(sentence.text)
    if (
        found is None
        or not (sentence.urged or sentence.negation == "not")
        or find_typed(sentence.text, sentence.moment)
    ):
        return NOTHING
    return (order(re.sub(r"[\s的]", "", found["p"].casefold()), True, (None, EVERYWHERE)),)


def _scoped(what: str, setting: str) -> tuple[Entity, Scope] | None:
    """For whom a choice holds; without a noun it is about the setting itself."""
    if not what or _ALL.fullmatch(what):
        return thing(setting or "一切"), EVERYWHERE
    return target(what)


def _word(text: str, sentence: Sentence) -> ReadValue | None:
    """A plain word as a value; an order may set what has no list of values."""
    return None if len(text) > 8 or find_typed(text, sentence.moment) else (text, "enum", "")
