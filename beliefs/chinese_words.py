"""Chinese words that the rules turn on: subjects, attributes, states, and what makes a sentence unsure."""

import re

from beliefs.reading import thing
from schemas.claim import EVERYWHERE, Scope
from schemas.entity import Entity


def _pairs(text: str) -> dict[str, str]:
    """A dictionary written as one text: key=value, with "_" for a space in values."""
    return {key: value.replace("_", " ") for key, _, value in (pair.partition("=") for pair in text.split())}


_ENGLISH = _pairs(
    "模板=template 主题=theme 格式=format 字体=font 语言=language 颜色=color 货币=currency 时区=timezone "
    "编码=encoding 风格=style 语气=tone 模型=model 数据库=database 框架=framework 状态=status 优先级=priority "
    "负责人=owner 价格=price 库存=stock 版本=version 版本号=version 地址=address 邮箱=email 电话=phone "
    "年龄=age 生日=birthday 余额=balance 预算=budget 截止日期=deadline 端口=port 容量=capacity 角色=role "
    "名字=name 姓名=name 名称=name 级别=level 单位=unit 分支=branch 区域=region 编辑器=editor 经理=manager 职位=title "
    "套餐=plan"
)
SETTINGS = "模板|主题|格式|字体|语言|颜色|货币|时区|编码|风格|语气|模型|数据库|框架|单位|分支|区域|编辑器"
ENUMERATED = re.compile(
    "(?:.*的)?(?:默认|最新|当前|主要?|界面|输出|文件|日期|时间|报告|报表|导出|系统|消息|项目)?(?:"
    + "|".join(sorted(_ENGLISH, key=len, reverse=True))
    + ")"
)
ROLES = (
    "总经理|副总经理|经理|产品经理|项目经理|财务经理|技术总监|总监|财务主管|主管|主任|校长|院长|董事长|总裁|组长|队长|会长|秘书|班长|"
    "负责人|联系人|对接人|审核人|审批人|编辑|作者|教练|客服经理|代言人|创始人|首席执行官|首席技术官|首席财务官"
)
FREE_FORM = re.compile(
    r"(?:.*的)?.{0,4}(?:地址|邮箱|电话|手机号?|网址|链接|时区|主机名|用户名|邮编|address|email|phone|timezone)"
)
"""Attributes whose value may be any short text, digits included."""
HELD = re.compile(rf".{{0,6}}(?:{ROLES}|地点|位置|名称|供应商|医生|老师|房东|首都|雇主|场地|name)")
"""Attributes whose value is a name."""
HEADS = re.compile(
    r"(?P<narrower>.*?)(?P<head>报表|报告|文件|文档|邮件|发票|合同|订单|用户|客户|项目|服务|页面|图表|消息|通知|数据|备份|任务|工单|"
    r"请求|日志|接口|代码|表格|简历|幻灯片)"
)
STATES = _pairs(
    "打开=open 开放=open 已打开=open 关闭=closed 已关闭=closed 已解决=resolved 解决=resolved 待处理=pending "
    "处理中=in_progress 进行中=in_progress 已暂停=paused 暂停=paused 宕机=down 故障=failing 离线=offline "
    "在线=online 正常=healthy 异常=unhealthy 缺货=out_of_stock 有货=in_stock 不可用=unavailable "
    "可用=available 运行中=running 已停止=stopped 已恢复=up"
)
UNSURE = re.compile(
    r"如果|假如|假设|假定|万一|除非|比如|例如|试想|设想|要是|若|可能|也许|大概|或许|似乎|好像|应该会|据说|听说|说过|说[,，:：]|认为|觉得|以为|希望|想要|打算|计划|是否|吗|呢|吧$|什么|怎么|为什么|哪|谁|几(?!乎)|"
    r"因为|所以|但是|但(?!书)|不过(?![敏期滤户])|虽然|而是|差点|曾经|以前|上次|或者|还是|[?？…“”\"「」]"
)
EVENT = re.compile(r"了(?!解)|过(?!期|敏|程|滤|户)(?![了\d])|我们?|你|他|她|它|咱")
DROPPED = re.compile(r"只要|只需|即可|就可以|就能|便可|可以|可享受?|享受?|一律|统一|均|都|就|可|仅|才|[，,的为是在\s]")
_PRONOUN = re.compile(r"^(?:这|那|它|他|她|你|您|我们|咱|大家|有人|其|此|该|某|今|明|昨|每(?![日月天年周次单]))")
_TYPED = re.compile(r"(?P<type>用户|客户|工单|订单)(?P<name>[^的]+)")
_TYPES = {"用户": "user", "客户": "customer", "工单": "ticket", "订单": "order"}
_ALL = re.compile(r"^(?:每[人位名](?=.{2})|所有的?|全部的?|每个|每份|每张|各类?|一切|任何)")
_NOT_A_NAME = re.compile(
    r"[,，:：;；()（）!！]|是|(?<![例周年晚早开班工委协评审])会(?![员议计话场费馆])|(?<![纪摘概主重需必])要(?![求素闻])|把|将|被|从|(?<![自理事])由|对(?![话象账讲])|使用|喜欢"
)


def english_name(attribute: str) -> str:
    """The English name of an attribute that both languages know, else the attribute as it is."""
    return _ENGLISH.get(attribute, attribute.casefold())


def named(phrase: str) -> Entity | None:
    """The thing that a noun phrase names, or None where it is a pronoun, a clause, or too long to be a name."""
    plain = _ALL.sub("", phrase.strip(" ，,的"))
    if not 1 <= len(plain) <= 20 or _PRONOUN.match(plain) or plain.startswith("我") or _NOT_A_NAME.search(plain):
        return None
    found = _TYPED.fullmatch(plain)
    if found and not HEADS.fullmatch(found["name"]):
        return thing(found["name"], _TYPES[found["type"]])
    return thing(plain, "service" if plain.endswith("服务") and len(plain) > 2 else "thing")


def target(phrase: str) -> tuple[Entity, Scope] | None:
    """What a rule is for: the head noun, and the words before it as scope (财务报表)."""
    plain = _ALL.sub("", phrase.strip(" ，,"))
    found = HEADS.fullmatch(plain)
    if found is None:
        subject = named(plain)
        return (subject, EVERYWHERE) if subject else None
    narrower = found["narrower"].removesuffix("的")
    if found["head"] == "服务" and narrower:
        return (thing(plain, "service"), EVERYWHERE)
    if len(narrower) > 10 or _PRONOUN.match(narrower) or _NOT_A_NAME.search(narrower):
        return None
    return thing(found["head"]), ((found["head"], narrower),) if narrower else EVERYWHERE
