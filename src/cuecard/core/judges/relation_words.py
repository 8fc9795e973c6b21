"""The words by which relations are compared, English and Chinese.

`WEAK` words say little on their own; a concept lists stems of English words and Chinese words that
mean it; contrasts can never be one relation.
"""

from __future__ import annotations

import re

SUFFIX = re.compile(r"(?:ations?|ions?|ments?|ers?|ors?|ing|ed|es|e|s)$")
LATIN = re.compile(r"[a-z0-9']+")
HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "a", "an", "the"])
WEAK = BE | frozenset(
    [
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "its",
        "his",
        "her",
        "their",
        "it",
        "he",
        "she",
        "they",
        "that",
        "which",
        "who",
        "has",
        "have",
        "had",
        "year",
        "date",
        "time",
        "when",
        "day",
        "month",
        "name",
        "named",
        "called",
        "as",
        "called",
        "place",
        "where",
        "city",
        "town",
        "country",
        "located",
        "location",
        "number",
        "value",
    ]
)
WEAK_CJK = re.compile(
    "年份|年代|时间|日期|年月|名称|名字|地点|位置|城市|国家|所在地?|位于|数量|数值|年|月|日|的|是|为|在|于|由|被|有|之|其|者|人"
)
NEGATION = re.compile(r"\b(?:not|never|no|non|without)\b|n't\b|不是|没有|并非|未曾|不属于|不在")
PASSIVE = re.compile(r"\bby\b|被|由")
CONCEPTS: dict[str, tuple[str, str]] = {
    "birth": ("born birth", "出生 生于 诞生 生年"),
    "death": ("died death dead passed", "去世 逝世 死于 卒 卒于 卒年"),
    "start": (
        "found establish creat start begin began open launch",
        "成立 创立 创办 创建 建立 始于",
    ),
    "end": ("end clos dissolv abolish ceas stop", "结束 关闭 解散 废止 终止 止于"),
    "make": ("mak made produc manufactur build built construct", "制造 生产 建造 制成 制作"),
    "design": ("design draw drew drawn", "设计 绘制"),
    "invent": ("invent patent", "发明 专利"),
    "discover": ("discover", "发现"),
    "write": ("write wrote written auth book", "作者 著 著作 撰写 编制 编写 编成"),
    "parent": ("father mother parent", "父亲 母亲 父母"),
    "child": ("child son daughter children", "儿子 女儿 子女 孩子"),
    "spouse": ("spouse wif husband marri", "配偶 妻子 丈夫 结婚"),
    "origin": ("origin nativ hometown home", "籍贯 原产 故乡 祖籍"),
    "place": ("locat situat city town country place where", "所在 位于 地点 城市 位置"),
    "alias": ("alias aka synonym pseudonym", "别名 又名 又称 别称 也称 俗名 本名 原名 简称"),
    "part": ("part member belong", "属于 所属 组成"),
    "award": ("award priz medal won win", "获奖 奖项 获得 荣获"),
    "buy": ("buy bought acquir purchas", "收购 购买 买下"),
    "sell": ("sell sold sal", "出售 卖给 售出"),
    "height": ("height tall high elevat", "高度 海拔"),
    "length": ("length long", "长度"),
    "capital": ("capital", "首都 省会 首府"),
    "display": ("display exhibit shown show", "展出 展示"),
}
CONTRASTS = (
    ("birth", "death"),
    ("start", "end"),
    ("parent", "child"),
    ("buy", "sell"),
    ("height", "length"),
)
WORD_CONTRASTS = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, right in (
        ("first earliest", "last latest"),
        ("highest largest longest maximum most", "lowest smallest shortest minimum least"),
        ("predecessor before previous", "successor after next"),
        ("north northern", "south southern"),
        ("east eastern", "west western"),
        ("father", "mother"),
        ("son", "daughter"),
        ("scheduled planned", "actual real"),
    )
)
CJK_CONTRASTS = (
    ("最早", "最晚"),
    ("最大", "最小"),
    ("最高", "最低"),
    ("最长", "最短"),
    ("上层", "中层"),
    ("上层", "下层"),
    ("中层", "下层"),
    ("父", "母"),
    ("前任", "继任"),
    ("计划", "实际"),
    ("中国", "西方"),
)
SYMMETRIC = re.compile(
    r"spouse|married|sibling|brother|sister|twin|partner|neighbou?r|border|friend|colleague|cousin"
    r"|equal|same|alias|rival|collaborat|known as|together|adjacent"
    r"|配偶|夫妻|结婚|兄弟|姐妹|合作|相邻|接壤|朋友|同|别名|又名|搭档|对手"
)
IDENTITY = re.compile(
    r"(?:is |are |was )?(?:also |otherwise )?(?:known as|called|named)|a\.?k\.?a\.?|alias(?:es)?|same as"
    r"|(?:other|another|alternative|full|real) name|identical (?:to|with)|synonym(?: of)?"
    r"|别名|又名|又称|别称|也称|亦称|亦作|即|本名|原名|全名|全称|简称|俗称|等同于"
)
INCLUSION = re.compile(
    r"(?:is |are |was )?(?:located|situated|lies|lying) (?:in|within)|(?:is |are )?(?:a )?part of|in"
    r"|located|location|位于|所在地|所在|坐落于|属于|隶属于|在"
)
