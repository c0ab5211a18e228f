"""Chinese sentences and what the rules make of them."""

import pytest

from beliefs.extract import extract
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.instant import parse_instant
from schemas.observation import Observation, Source

MOMENT = parse_instant("2024-05-10T12:00:00Z", "observed_at")


def told(text: str) -> tuple[Claim, ...]:
    return extract(Observation(id="o1", bank="b", source=Source("手册"), agent="小林", observed_at=MOMENT, text=text))


def only(text: str) -> Claim:
    (claim,) = told(text)
    return claim


def slots(text: str) -> set[tuple[str, str, str]]:
    return {(c.entity.type, c.entity.name, c.attribute) for c in told(text) if c.attribute is not None}


VALUES = [
    ("满100元免运费", "免运费", "满 {money} 免运费", "100 CNY", "money"),
    ("订单满200元包邮。", "订单", "订单满 {money} 包邮", "200 CNY", "money"),
    ("库存为10", "库存", "stock", 10, "number"),
    ("SKU-9的库存是10件", "SKU-9", "stock", 10, "number"),
    ("工单ABC-1的状态由打开改为关闭", "ABC-1", "status", "closed", "enum"),
    ("价格由100元调整为120元", "价格", "price", "120 CNY", "money"),
    ("网关的超时为30秒", "网关", "超时", "30 秒", "number"),
    ("会议改为11点半", "会议", "会议", "11:30", "time"),
    ("会议是早上10点", "会议", "会议", "10:00", "time"),
    ("版本是2.1.0", "版本", "version", "2.1.0", "version"),
    ("截止日期是明天", "截止日期", "deadline", "2024-05-11", "date"),
    ("我的生日是5月5日", "小林", "birthday", "05-05", "text"),
    ("密码长度至少12位", "密码长度", "密码长度至少 {number} 位", 12, "number"),
    ("退款在7天内到账", "退款", "退款 {number} 内到账", "7 天", "number"),
    ("支付服务宕机", "支付服务", "status", "down", "enum"),
    ("旧接口已停用", "旧接口", "enabled", False, "boolean"),
    ("会员日活动已取消", "会员日活动", "in force", False, "boolean"),
    ("优惠券可以叠加", "优惠券", "可以叠加", True, "boolean"),
    ("用户张三对海鲜过敏", "张三", "allergy", "海鲜", "text"),
    ("我叫李雷", "小林", "name", "李雷", "name"),
    ("叫我小李", "小林", "nickname", "小李", "name"),
    ("我出生在北京", "小林", "birthplace", "北京", "name"),
    ("张伟住在北京", "张伟", "residence", "北京", "name"),
    ("张伟在百川公司工作", "张伟", "employer", "百川公司", "name"),
    ("总部在深圳", "总部", "location", "深圳", "name"),
    ("会议在3号会议室", "会议", "location", "3号会议室", "name"),
    ("备份由王芳负责", "备份", "owner", "王芳", "name"),
    ("王芳负责支付服务", "支付服务", "owner", "王芳", "name"),
    ("工单ABC-7分配给李雷", "ABC-7", "assignee", "李雷", "name"),
    ("星辰公司的总经理是周洁", "星辰公司", "总经理", "周洁", "name"),
    ("周洁是星辰公司的总经理", "星辰公司", "总经理", "周洁", "name"),
    ("我的邮箱是ann@example.com", "小林", "email", "ann@example.com", "text"),
    ("停车不免费", "停车", "免费", False, "boolean"),
    ("访客需要预约", "访客", "必须预约", True, "boolean"),
    ("访客不需要预约", "访客", "必须预约", False, "boolean"),
    ("我不吃辣", "小林", "吃辣", False, "boolean"),
    ("不允许优惠券叠加", "优惠券叠加", "可以", False, "boolean"),
    ("单个文件不超过25MB", "单个文件", "单个文件最多 {number}", "25 mb", "number"),
    ("专业版每月20元", "专业版", "专业版每月 {money}", "20 CNY", "money"),
    ("抱歉，我是说限额是150", "限额", "限额", 150, "number"),
    ("日期格式使用YYYY-MM-DD", "日期格式", "日期格式", "YYYY-MM-DD", "enum"),
    ("报表通过邮件发送", "报表", "send by", "邮件", "enum"),
    ("所有报表使用模板A", "报表", "template", "A", "enum"),
    ("把主题设为深色", "主题", "theme", "深色", "enum"),
    ("字体调大一号", "字体", "字体大小", "调大一号", "enum"),
    ("请用中文回答", "小林", "answer in", "中文", "enum"),
    ("备份必须加密", "备份", "必须加密", True, "boolean"),
    ("不要泄露密码", "小林", "泄露密码", False, "boolean"),
]


@pytest.mark.parametrize(("text", "entity", "attribute", "value", "type"), VALUES)
def test_a_sentence_gives_its_value(text: str, entity: str, attribute: str, value: object, type: str) -> None:
    claim = only(text)

    assert (claim.entity.name, claim.attribute, claim.value, claim.value_type) == (entity, attribute, value, type)
    assert claim.stance == "supports"
    assert claim.statement == text
    assert claim.extractor.startswith("rule:zh.")


SAME_SLOT = [
    ("满100元免运费", "自5月20日起，满200元免运费。"),
    ("优惠券可以叠加", "优惠券不再可以叠加"),
    ("优惠券可以叠加。", "优惠券不能叠加"),
    ("优惠券可以叠加", "优惠券不得叠加"),
    ("所有报表使用模板A", "报表一律使用模板C"),
    ("保存为PDF", "另存为DOCX"),
    ("将主题改为浅色", "把主题设为深色"),
    ("限额是100", "昨天限额改为200"),
    ("旧接口已启用", "旧接口已停用"),
    ("会议是早上10点", "会议改为11点半"),
    ("平台支持退款", "平台不支持退款"),
    ("满100元减20元", "满100元减30元"),
    ("王强对海鲜过敏", "王强对海鲜不过敏"),
    ("包裹重量不超过20公斤", "包裹重量不得超过25公斤"),
    ("张伟在百川公司工作", "张伟加入了千帆公司"),
]


@pytest.mark.parametrize(("first", "second"), SAME_SLOT)
def test_sentences_that_differ_only_in_what_they_state_share_a_slot(first: str, second: str) -> None:
    assert slots(first) & slots(second)


OTHER_SLOT = [
    ("满100元免运费", "满100元减20元"),
    ("把主题设为深色", "字体调大一号"),
    ("上海的库存是10", "北京的库存是12"),
    ("所有报表使用模板A", "所有发票使用模板D"),
    ("优惠券可以叠加", "积分可以叠加"),
    ("我叫李雷", "张三名叫张小三"),
]


@pytest.mark.parametrize(("first", "second"), OTHER_SLOT)
def test_sentences_about_different_things_share_no_slot(first: str, second: str) -> None:
    assert not slots(first) & slots(second)


@pytest.mark.parametrize(
    "text",
    [
        "我跑了5公里",
        "他说限额是100",
        "限额是100吗？",
        "可能是100元",
        "我们去了北京",
        "智能客服功能上线了",
        "如果满100元就免运费",
        "这是第3次会议",
        "张三是经理的朋友",
        "张伟在睡觉",
        "总部在扩建",
        "我住在朋友家",
        "邮箱是满的",
        "我吃早饭",
        "假设价格是10元",
        "用户42于10:00:03登录",
        "小王是个经理",
    ],
)
def test_a_sentence_that_no_rule_is_sure_of_stays_one_free_claim(text: str) -> None:
    claim = only(text)

    assert (claim.attribute, claim.value, claim.statement, claim.extractor) == (None, None, text, "free")


def test_a_cancelled_threshold_is_retracted() -> None:
    for text in ("取消满100元免运费", "满100元免运费已取消"):
        ended, free = told(text)

        assert (ended.attribute, ended.value, ended.stance) == ("满 {money} 免运费", "100 CNY", "retracts")
        assert free.statement == text


def test_a_narrower_order_carries_its_scope_and_an_exception_none() -> None:
    narrow, wide = only("财务报表使用模板B。"), only("除财务报表外，所有报表使用模板A")

    assert (narrow.entity, narrow.scope, narrow.kind) == (Entity("报表"), (("报表", "财务"),), "instruction")
    assert (wide.entity, wide.value, wide.scope) == (Entity("报表"), "A", ())


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("对于企业用户，每日限额为500", (("for", "企业用户"),)),
        ("华东地区运费为10元", (("region", "华东"),)),
        ("博物馆周日下午4点闭馆", (("on", "周日"),)),
    ],
)
def test_a_phrase_of_scope_becomes_a_qualifier(text: str, scope: tuple[tuple[str, str], ...]) -> None:
    assert only(text).scope == scope


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("自5月20日起，满200元免运费。", "2024-05-20"),
        ("昨天限额改为200", "2024-05-09"),
        ("从明天开始，限额为300", "2024-05-11"),
        ("2024年6月1日起限额为300", "2024-06-01"),
    ],
)
def test_dates_of_validity_are_relative_to_the_observation(text: str, start: str) -> None:
    assert only(text).effective_at == parse_instant(start, "start")


def test_a_dislike_ends_the_liking_of_the_same_thing() -> None:
    disliked, ended = told("我不喜欢香菜")

    assert (disliked.attribute, disliked.value, disliked.stance) == ("dislikes", "香菜", "supports")
    assert (ended.attribute, ended.value, ended.stance) == ("likes", "香菜", "retracts")


@pytest.mark.parametrize(
    ("text", "extractor"), [("恢复原来的设置", "rule:revert"), ("恢复之前的模板", "rule:revert:template")]
)
def test_going_back_is_marked_and_not_guessed(text: str, extractor: str) -> None:
    claim = only(text)

    assert (claim.attribute, claim.extractor, claim.kind) == (None, extractor, "instruction")


def test_further_names_in_passing_leave_the_rest_of_the_sentence_to_be_read() -> None:
    assert [(c.entity.name, c.attribute, c.value) for c in told("王小明（又名小明、阿明）住在上海。")] == [
        ("王小明", "alias", "小明"),
        ("王小明", "alias", "阿明"),
        ("王小明", "residence", "上海"),
    ]
    assert (only("我也叫小明。").entity.name, only("我也叫小明。").value) == ("小林", "小明")
    assert (only("中国人民银行简称央行。").attribute, only("王小明的别名是小明。").value) == ("alias", "小明")


@pytest.mark.parametrize("text", ["他又名小明。", "这个项目又叫停了。", "他也叫我来。", "王小明又名小明吗？"])
def test_what_gives_nobody_a_name_is_no_alias(text: str) -> None:
    assert [claim.attribute for claim in told(text)] == [None]


def test_several_allergies_are_several_values() -> None:
    assert [claim.value for claim in told("王强对花生和对海鲜过敏。")] == ["花生", "海鲜"]
