"""Hand-written pairs of entities that are one, or only look like it: half to build on, half only to score.

A line: half, language, + (one) or - (two), then both entities as `name : type : attribute=value, …`; `alias` gives a
further name, `met` says that one observation names both.
"""

_PAIRS = """
building en + | Robert Miller : person : employer=Globex | Bob Miller : person :
building en + | Elizabeth Warrick : person : | Liz Warrick : person :
building en + | J. Ferreira : person : | Joana Ferreira : person : team=billing
building en + | checkout-service : service : | Checkout Service : service :
building en + | International Rail Company : company : | IRC : company : city=Zurich
building en + | Acme Inc. : company : | ACME : company :
building en + | Katarina Novak : person : | Katarina Nowak : person : city=Brno
building en + | Hiroshi Tanaka : person : | Tanaka, Hiroshi : person :
building en + | Omar : person : email=omar@ex.org | Omar Haddad : person : email=omar@ex.org
building en + | Falcon : person : alias=Greta Lind | Greta Lind : person :
building en + | payments_db : database : | Payments DB : database : host=pg-2
building en + | Big Blue Widgets Ltd : company : | Big Blue Widgets : company :
building en + | nightly-report : job : | Nightly Report : job :
building en + | mwong : account : email=mei@ex.org | Mei Wong : person : email=mei@ex.org
building en - | server-1 : host : | server-2 : host :
building en - | Apple : fruit : | Apple : company :
building en - | Anna Berg : person : | Hanna Berg : person :
building en - | PAY-114 : ticket : | PAY-115 : ticket :
building en - | David Stone : person : birth date=1980-01-02 | David Stone : author : birth date=1951-07-30
building en - | Peter Lang : person : | Paul Lang : person :
building en - | staging cluster : cluster : | production cluster : cluster :
building en - | Marta Silva : person : met | Marco Silva : person : met
building en - | Boston : city : | Austin : city :
building en - | North Region Sales : team : | South Region Sales : team :
building en - | eu-west-1 : region : | eu-west-2 : region :
building en - | Carla Ruiz : person : email=carla@ex.org | Carlo Ruiz : person : email=carlo@ex.org
building en - | search api : service : | search ui : service :
building en - | Jo Park : person : met | John Parker : person : met
building zh + | 王小明 : person : 部门=财务 | 小明 : person : 部门=财务
building zh + | 北京星河科技有限公司 : company : | 星河科技 : company : 城市=北京
building zh + | 上海蓝海物流有限公司 : company : | 上海蓝海物流 : company :
building zh + | 张伟 : person : 手机=13800000001 | 小张 : person : 手机=13800000001
building zh + | 李静老师 : person : | 李静 : person :
building zh + | 订单服务 : service : | 订单 服务 : service :
building zh + | 欧阳雪 : person : | 阿雪 : person : alias=欧阳雪
building zh + | 陈建国 : person : 邮箱=chen@ex.cn | 老陈 : person : 邮箱=chen@ex.cn
building zh + | 清华大学 : school : | 清大 : school : alias=清华大学
building zh + | 刘洋先生 : person : | 刘洋 : person :
building zh + | 周晓彤 : person : 项目=凤凰 | 晓彤 : person : 项目=凤凰
building zh - | 王小明 : pet : | 王小明 : school :
building zh - | 李强 : person : | 李刚 : person :
building zh - | 一号仓库 : warehouse : | 二号仓库 : warehouse :
building zh - | 张敏 : person : met | 张敏敏 : person : met
building zh - | 北京 : city : | 南京 : city :
building zh - | 赵磊 : person : 生日=1990-02-01 | 赵磊 : agent : 生日=1976-08-15
building zh - | 订单数据库 : database : | 用户数据库 : database :
building zh - | 东区销售部 : team : | 西区销售部 : team :
building zh - | 工单1024 : ticket : | 工单1025 : ticket :
building zh - | 孙悦 : person : | 孙越 : person :
building zh - | 华东 : region : | 华南 : region :
building zh - | 马丽 : person : 手机=13900000002 | 马莉 : person : 手机=13900000003
scoring en + | Michael O'Brien : person : | Mike O'Brien : person : team=search
scoring en + | Thomas Keller : person : | T. Keller : person :
scoring en + | inventory-api : service : | Inventory API : service : state=up
scoring en + | Northwind Traders GmbH : company : | Northwind Traders : company :
scoring en + | Central Data Office : department : | CDO : department : floor=3
scoring en + | Alexandra Petrova : person : | Alexandra Petrowa : person :
scoring en + | Grace Okafor : person : phone=555-0101 | Grace : person : phone=555-0101
scoring en + | Nguyen Thi Lan : person : | Lan Nguyen Thi : person :
scoring en + | Ace : person : alias=Ingrid Moe | Ingrid Moe : person :
scoring en + | reporting db : database : | Reporting Database : database :
scoring en + | William Chen : person : employer=Initech, city=Oslo | Bill Chen : person : employer=Initech
scoring en + | weekly_digest : job : | Weekly Digest : job :
scoring en + | The Harbor Group : company : | Harbor Group : company :
scoring en + | tkato : account : email=kato@ex.org | Taro Kato : person : email=kato@ex.org
scoring en + | Samantha Reyes : person : city=Lima, team=growth | Sam Reyes : person : city=Lima, team=growth
scoring en - | worker-07 : host : | worker-08 : host :
scoring en - | Mercury : planet : | Mercury : service :
scoring en - | Julian Frost : person : | Julia Frost : person :
scoring en - | OPS-9 : ticket : | OPS-90 : ticket :
scoring en - | Laura Pinto : person : birth date=1991-04-04 | Laura Pinto : author : birth date=1966-10-12
scoring en - | Eric Holm : person : | Erin Holm : person :
scoring en - | staging database : database : | analytics database : database :
scoring en - | Nadia Karim : person : met | Nadir Karim : person : met
scoring en - | Lyon : city : | London : city :
scoring en - | Claims Team West : team : | Claims Team East : team :
scoring en - | us-east-1 : region : | us-east-2 : region :
scoring en - | Ben Adler : person : email=ben@ex.org | Benno Adler : person : email=benno@ex.org
scoring en - | mail gateway : service : | mail archive : service :
scoring en - | Kim Lee : person : met | Kimberly Leeds : person : met
scoring zh + | 林志远 : person : 部门=研发 | 志远 : person : 部门=研发
scoring zh + | 深圳云帆软件有限公司 : company : | 云帆软件 : company :
scoring zh + | 广州白云食品集团 : company : | 广州白云食品 : company :
scoring zh + | 何娜 : person : 手机=13700000007 | 小何 : person : 手机=13700000007
scoring zh + | 吴敏女士 : person : | 吴敏 : person :
scoring zh + | 支付网关 : service : | 支付-网关 : service :
scoring zh + | 司马云 : person : | 阿云 : person : alias=司马云
scoring zh + | 郑海波 : person : 邮箱=zheng@ex.cn | 老郑 : person : 邮箱=zheng@ex.cn
scoring zh + | 复旦大学 : school : | 复大 : school : alias=复旦大学
scoring zh + | 徐慧经理 : person : | 徐慧 : person :
scoring zh + | 谢雨桐 : person : 项目=天马 | 雨桐 : person : 项目=天马
scoring zh - | 金星 : planet : | 金星 : person :
scoring zh - | 高峰 : person : | 高飞 : person :
scoring zh - | 三号机房 : room : | 四号机房 : room :
scoring zh - | 许莹 : person : met | 许莹莹 : person : met
scoring zh - | 河南 : region : | 河北 : region :
scoring zh - | 冯涛 : person : 生日=1988-12-01 | 冯涛 : agent : 生日=1970-03-09
scoring zh - | 库存数据库 : database : | 日志数据库 : database :
scoring zh - | 南区客服部 : team : | 北区客服部 : team :
scoring zh - | 合同20240 : contract : | 合同20241 : contract :
scoring zh - | 江月 : person : | 江岳 : person :
scoring zh - | 华中 : region : | 华北 : region :
scoring zh - | 石磊 : person : 手机=13600000004 | 石蕾 : person : 手机=13600000005
"""


def lines() -> list[str]:
    """Every pair as it is written, without the empty lines."""
    return [line for line in _PAIRS.splitlines() if line.strip()]
