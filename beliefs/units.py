"""What units and currencies are called, and how much of a common unit each is."""

from decimal import Decimal

CURRENCIES: dict[str, str] = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "美元": "USD", "美金": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "英镑": "GBP",
    "¥": "CNY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY", "元": "CNY", "块": "CNY", "块钱": "CNY", "人民币": "CNY",
    "jpy": "JPY", "yen": "JPY", "日元": "JPY",
}  # fmt: skip
"""Written currency, case-folded, to its ISO 4217 code. A bare yen sign is read as yuan."""

UNITS: dict[str, tuple[str, Decimal]] = {
    name: (unit, Decimal(factor))
    for unit, factor, names in (
        ("s", "0.001", "ms millisecond milliseconds 毫秒"),
        ("s", "1", "s sec secs second seconds 秒 秒钟"),
        ("s", "60", "min mins minute minutes 分钟"),
        ("s", "3600", "h hr hrs hour hours 小时 个小时"),
        ("s", "86400", "day days 天"),
        ("s", "604800", "week weeks 周 个星期"),
        ("month", "1", "month months 个月"),
        ("month", "12", "year years 年"),
        ("%", "1", "% percent"),
        ("B", "1", "byte bytes 字节"),
        ("B", "1000", "kb"),
        ("B", "1000000", "mb"),
        ("B", "1000000000", "gb"),
        ("B", "1000000000000", "tb"),
        ("kg", "0.001", "g gram grams 克"),
        ("kg", "1", "kg kilogram kilograms 公斤 千克"),
        ("m", "0.001", "mm 毫米"),
        ("m", "0.01", "cm 厘米"),
        ("m", "1", "metre metres meter meters 米"),
        ("m", "1000", "km kilometre kilometres kilometer kilometers 公里"),
        ("°C", "1", "°c"),
    )
    for name in names.split()
}
"""Written unit, case-folded, to the common unit and the factor that leads there."""

SCALES: dict[str, Decimal] = {
    "": Decimal(1),
    "k": Decimal(1000),
    "thousand": Decimal(1000),
    "million": Decimal(1_000_000),
    "billion": Decimal(1_000_000_000),
    "万": Decimal(10_000),
    "亿": Decimal(100_000_000),
}
"""Words that multiply the number before them."""
