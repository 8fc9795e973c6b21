"""Whether two relations mean the same between two entities, judged by their words (English and Chinese)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from cuecard.core.judges.similarity import form
from cuecard.core.text import is_cjk

Pair = tuple[re.Pattern[str], re.Pattern[str]]
_LEAST_SIMILARITY = 75.0
_LEAST_CJK_SIMILARITY = 60.0

_SUFFIX = re.compile(r"(?:ations?|ions?|ments?|ers?|ors?|ing|ed|es|e|s)$")
_LATIN = re.compile(r"[a-z0-9']+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
_BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "a", "an", "the"])
_WEAK_WORDS = (
    "of in on at to for from by with its his her their it he she they that which who has have had year "
    "date time when day month name named called as place where city town country located location number "
    "value"
)
_WEAK = _BE.union(_WEAK_WORDS.split())
_WEAK_CJK = re.compile(
    "年份|年代|时间|日期|年月|名称|名字|地点|位置|城市|国家|所在地?|位于|数量|数值|年|月|日|的|是|为|在|于|由|被|有|之|其|者|人"
)
_NEGATION = re.compile(r"\b(?:not|never|no|non|without)\b|n't\b|不是|没有|并非|未曾|不属于|不在")
_PASSIVE = re.compile(r"\bby\b|被|由")
# Concepts with the stems of English words and the Chinese words that mean them. Events: if two relations tell of events,
# neither may tell of one that the other does not.
_EVENTS: dict[str, tuple[str, str]] = {
    "birth": ("born birth birthplace birthyear birthdate", "出生 生于 诞生 生年"),
    "death": ("died death dead passed", "去世 逝世 死于 卒 卒于 卒年"),
    "start": (
        "found founder foundation establish creat start open launch inaugurat",
        "成立 创立 创办 创建 建立 开馆 开办 开放 设立",
    ),
    "end": ("end clos dissolv abolish ceas stop", "结束 关闭 解散 废止 终止 止于"),
    "make": ("mak made produc manufactur construct", "制造 生产 建造 制成 制作"),
    "begin work": ("began begun commenc groundbreak", "始建 开工 动工 奠基"),
    "finish work": ("complet finish", "建成 竣工 落成"),
    "design": ("design draw drew drawn architect", "设计 绘制"),
    "invent": ("invent", "发明"),
    "discover": ("discover", "发现"),
    "describe": ("describ", "描述 命名者"),
    "write": ("write wrote written author compil", "作者 著 著作 撰写 编制 编写 编成"),
    "publish": ("publish issu promulgat", "出版 发表 颁行 颁布 发布"),
    "take effect": ("effect enforc", "施行 实施 生效 启用"),
    "release": ("cam releas introduc unveil debut", "推出 问世 面世 上市"),
    "announce": ("announc", "宣布 公布"),
    "show": ("display exhibit exhibition shown show present presentation", "展出 展示 亮相"),
    "apply": ("fil appli application submitt", "申请 提交"),
    "grant": ("grant approv", "授予 授权 获批 批准"),
    "nominate": ("nominat shortlist", "提名 入围"),
    "award": ("award priz medal won win winner", "获奖 奖项 获得 荣获"),
    "marry": ("spous wif husband marri", "配偶 妻子 丈夫 结婚"),
    "divorce": ("divorc separat", "离婚"),
    "buy": ("buy buyer bought acquir acquirer acquisition purchas takeover", "收购 购买 买下"),
    "sell": ("sell seller sold sal", "出售 卖给 售出"),
    "rent": ("rent leas hir", "租用 租借"),
    "own": ("own owner ownership", "拥有 所有者 业主"),
    "sponsor": ("sponsor", "赞助"),
    "sign": ("sign signatur", "签署"),
    "ratify": ("ratif", "批准"),
    "arrive": ("arriv arrival", "到达 抵达"),
    "depart": ("depart departur", "出发 离开"),
    "join": ("join enter", "加入"),
    "leave": ("leav left", "退出 离开"),
    "elect": ("elect", "当选"),
    "resign": ("resign", "辞职"),
    "replace": ("replac", "取代 代替"),
    "direct": ("direct", "导演 执导"),
    "improve": ("improv", "改进 改良"),
    "record": ("record", "记录 记载"),
}
_THINGS: dict[str, tuple[str, str]] = {
    "patent": ("patent", "专利"),
    "parent": ("father mother parent", "父亲 母亲 父母"),
    "child": ("child son daughter children", "儿子 女儿 子女 孩子"),
    "origin": ("origin nativ hometown home", "籍贯 原产 故乡 祖籍"),
    "place": ("locat situat city town country place where", "所在 位于 地点 城市 位置"),
    "alias": ("alias aka synonym pseudonym", "别名 又名 又称 别称 也称 俗名 本名 原名 简称"),
    "part": ("part member belong", "属于 所属 组成"),
    "height": ("height tall high elevat", "高度 海拔"),
    "length": ("length long", "长度"),
    "capital": ("capital", "首都 省会 首府"),
}
_CONCEPTS = {**_EVENTS, **_THINGS}
_CONTRASTS = (
    ("birth", "death"),
    ("start", "end"),
    ("parent", "child"),
    ("buy", "sell"),
    ("height", "length"),
)
_WORD_CONTRASTS = tuple(
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
_CJK_CONTRASTS = (
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
_SYMMETRIC = re.compile(
    r"spouse|married|sibling|brother|sister|twin|partner|neighbou?r|border|friend|colleague|cousin"
    r"|equal|same|alias|rival|collaborat|known as|together|adjacent"
    r"|配偶|夫妻|结婚|兄弟|姐妹|合作|相邻|接壤|朋友|同|别名|又名|搭档|对手"
)
_IDENTITY = re.compile(
    r"(?:is |are |was )?(?:also |otherwise )?(?:known as|called|named)|a\.?k\.?a\.?|alias(?:es)?|same as"
    r"|(?:other|another|alternative|full|real) name|identical (?:to|with)|synonym(?: of)?"
    r"|别名|又名|又称|别称|也称|亦称|亦作|即|本名|原名|全名|全称|简称|俗称|等同于"
)
_INCLUSION = re.compile(
    r"(?:is |are |was )?(?:located|situated|lies|lying) (?:in|within)|(?:is |are )?(?:a )?part of|in"
    r"|located|location|位于|所在地|所在|坐落于|属于|隶属于|在"
)
# Pairs of inverse words: one in one direction means the same as the other in the other direction.
_CONVERSES = tuple(
    (re.compile(left), re.compile(right))
    for left, right in (
        (
            r"\b(?:part|member|species|model|subsidiary) of\b|\bbelongs to\b|属于|所属|隶属"
            r"|\b(?:located|situated|lies|based|headquartered) (?:in|at)\b|位于|所在|坐落",
            r"\b(?:contain|includ|compris|consist|has (?:part|member))\w*|\bparts?$|\bmembers?$|包含|包括|组成"
            r"|\b(?:home to|location of|site of|seat of|hosts|houses)\b|所在地有|境内有|拥有",
        ),
        (
            r"\bnamed (?:after|for)\b|得名于|因.+得名|以.+命名",
            r"\b(?:namesake|gave (?:its|his|her) name|eponym)\w*|名称来源|命名了",
        ),
        (
            r"\b(?:native|endemic|indigenous) to\b|\borigin|原产",
            r"\b(?:home|origin|cradle) of\b|产地",
        ),
        (r"\b(?:beat|defeated(?! by))\b|击败|战胜", r"\blost to\b|输给|负于"),
    )
)
# What the tail is to the head, and what the head is to the tail; `of` after the word reverses the direction.
_NOUNS = tuple(
    (re.compile(left), re.compile(right))
    for left, right in (
        (
            r"\b(?:parent|father|mother)\b(?! company)|父亲|母亲|父母",
            r"\b(?:child|children|son|daughter)\b|儿子|女儿|子女",
        ),
        (r"\bparent company\b|母公司", r"\bsubsidiar(?:y|ies)\b|子公司"),
        (r"\bpredecessor\b|前任", r"\bsuccessor\b|继任"),
        (r"\b(?:teacher|mentor)\b|老师|师父", r"\b(?:student|pupil|disciple)\b|学生|弟子|徒弟"),
        (r"\bemployer\b|雇主", r"\b(?:employees?|employs)\b|雇员|员工"),
        (r"\bauthor\b|作者", r"\b(?:works?|books?)\b|著作|作品"),
    )
)
_DOER = (
    r"founder|co-?founder|inventor|designer|maker|manufacturer|producer|creator|author|writer|owner|buyer|acquirer|purchaser"
    r"|developer|architect|sponsor|discoverer|painter|composer|director|builder|engineer|illustrator|improver|describer"
    r"|publisher|editor|presenter|introducer|organi[sz]er|holder|seller|winner|translator|architects|designers|founders"
)
_DOER_OF = re.compile(rf"(?:^|\b)(?:{_DOER})s? (?:of|for)\b")
_BARE_DOER = re.compile(rf"\b(?:{_DOER})s?$")
_DOER_CJK = re.compile(r"(?:者|人|家|师|方|导演|编剧)$")
_DONE_BY_HIS = re.compile(r"\bby (?:his|her|its|their)\b")
_HE_DID = re.compile(r"\b(?:he|she|it|they)\b")
_BE_DONE = re.compile(r"\b(?:was|were|is|are|been|being)\b")
_COMPLEMENT = re.compile(
    r"\b(?:in|at|on|to|from|with|after|for|year|date|time|when|where|place|city|town|country|day|month)\b"
    r"|年份|年代|时间|日期|地点|地$|于$|年$|月$|日$"
)
_NOUN_OF = re.compile(
    r"^(?:(?:is|was|are|were|the|a|an) )*"
    r"(?:(?!(?:in|at|by|on|from|after|drew|wrote|made|built|gave|won|sold|bought|took)\b|\w+ed\b)[\w'-]+ )+(?:of|for|to)$"
    r"|^是.*的|的$"
)


class RelationRule(StrEnum):
    """The rule by which two relations match."""

    SAME = "same"
    WORD = "word"
    MEANING = "meaning"
    GENERAL = "general"
    UNREADABLE = "unreadable"


class ActiveSide(StrEnum):
    HEAD = "head"
    TAIL = "tail"
    EITHER = "either"
    UNTOLD = "untold"


@dataclass(frozen=True)
class Relation:
    """A relation with the forms by which it is compared."""

    text: str

    @cached_property
    def plain(self) -> str:
        return form(self.text).plain.replace("_", " ").replace("-", " ")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_LATIN.findall(self.plain))

    @cached_property
    def strong(self) -> frozenset[str]:
        """Stems of the content words; for Chinese, pairs of characters."""
        stems = {_stem(word) for word in self.words - _WEAK}
        for run in _HAN.findall(_WEAK_CJK.sub(" ", self.plain)):
            stems.update(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        return frozenset(stems)

    @cached_property
    def bare(self) -> tuple[str, ...]:
        """The words in order, without articles, forms of `be` and the passive's `by`."""
        without = _PASSIVE.sub(" ", self.plain)
        return tuple(word for word in re.findall(r"\w+", without) if word not in _BE)

    @cached_property
    def concepts(self) -> frozenset[str]:
        stems = {_stem(word) for word in self.words} | self.words
        found: set[str] = set()
        for concept, (latin, han) in _CONCEPTS.items():
            if stems & _stems(latin) or any(word in self.plain for word in han.split()):
                found.add(concept)
        return frozenset(found)

    @property
    def events(self) -> frozenset[str]:
        return self.concepts & _EVENTS.keys()

    @cached_property
    def doer(self) -> ActiveSide:
        """Whether the head or the tail does what the relation says, as far as its words show."""
        text = self.plain
        if _DONE_BY_HIS.search(text):
            return ActiveSide.HEAD
        if self.passive:
            return ActiveSide.TAIL
        if _DOER_OF.search(text) or (text.startswith("是") and _DOER_CJK.search(text)):
            return ActiveSide.HEAD
        if _BARE_DOER.search(text) or (is_cjk(text) and _DOER_CJK.search(text)):
            return ActiveSide.EITHER
        if self.noun_of or (not self.events and "patented" not in self.words):
            return ActiveSide.UNTOLD
        if _HE_DID.search(text):
            return ActiveSide.HEAD
        return (
            ActiveSide.UNTOLD
            if _COMPLEMENT.search(text) or _BE_DONE.search(text)
            else ActiveSide.HEAD
        )

    @property
    def noun_of(self) -> bool:
        """Whether the relation is a noun that says what the head is to the tail: `museum of`, `birthplace of`."""
        return _NOUN_OF.search(self.plain) is not None

    @cached_property
    def negated(self) -> bool:
        return _NEGATION.search(self.plain) is not None

    @cached_property
    def passive(self) -> bool:
        return _PASSIVE.search(self.plain) is not None

    @property
    def symmetric(self) -> bool:
        return _SYMMETRIC.search(self.plain) is not None

    @property
    def identity(self) -> bool:
        """Whether it says that head and tail are two names of one thing."""
        return _IDENTITY.fullmatch(self.plain) is not None

    @property
    def inclusion(self) -> bool:
        """Whether it says that the head lies in, or is part of, the tail."""
        return _INCLUSION.fullmatch(self.plain) is not None


@lru_cache(maxsize=8192)
def relation(text: str) -> Relation:
    """The `Relation` of a text, cached."""
    return Relation(text)


@lru_cache(maxsize=65536)
def same_relation(gold: str, predicted: str, *, swapped: bool = False) -> RelationRule | None:
    """By which rule the relations of two triples over the same entities match, or None.

    `swapped`: the predicted triple has gold's tail as its head. Then its relation must be the inverse, since the same
    relation in the other direction is another claim unless it is symmetric.
    """
    left, right = relation(gold), relation(predicted)
    if left.negated != right.negated:
        return None
    if left.bare == right.bare:
        fits = left.symmetric or (left.passive == right.passive) != swapped or not left.strong
        return RelationRule.SAME if fits and (left.strong or not swapped) else None
    if _paired(_CONVERSES, left, right):
        return RelationRule.MEANING if swapped else None
    if _paired(_NOUNS, left, right):
        turned = left.plain.endswith(" of") != right.plain.endswith(" of")
        return RelationRule.MEANING if swapped != turned else None
    if not left.strong or not right.strong:
        return None if swapped else RelationRule.GENERAL
    if _contrast(left, right) or not _same_way(left, right, swapped=swapped):
        return None
    if left.strong & right.strong:
        return RelationRule.WORD
    if left.concepts & right.concepts:
        return RelationRule.MEANING
    if is_cjk(gold) != is_cjk(predicted):
        # Relations in two languages can only be told apart by known concepts.
        known = left.concepts and right.concepts
        return None if swapped or known else RelationRule.UNREADABLE
    return RelationRule.WORD if _alike(left, right) else None


def _paired(pairs: Iterable[Pair], left: Relation, right: Relation) -> bool:
    """Whether one relation has the first word of a pair of opposites, and the other only the second."""
    return any(
        (one.search(left.plain) and other.search(right.plain) and not one.search(right.plain))
        or (other.search(left.plain) and one.search(right.plain) and not one.search(left.plain))
        for one, other in pairs
    )


def _same_way(left: Relation, right: Relation, *, swapped: bool) -> bool:
    """Whether both relations have the same doer or, if `swapped`, opposite ones."""
    # In gold a bare `maker` says what the tail is; in a prediction it may be meant either way.
    gold = ActiveSide.TAIL if left.doer is ActiveSide.EITHER else left.doer
    doers = {gold, right.doer}
    if left.symmetric and right.symmetric:
        return True
    if ActiveSide.UNTOLD not in doers:
        return ActiveSide.EITHER in doers or (gold is not right.doer) == swapped
    if ActiveSide.TAIL in doers:
        return not swapped or not right.noun_of
    return not swapped or left.noun_of != right.noun_of


def _alike(left: Relation, right: Relation) -> bool:
    from rapidfuzz import fuzz

    if is_cjk(left.text):
        texts = (_WEAK_CJK.sub("", left.plain), _WEAK_CJK.sub("", right.plain))
        return fuzz.ratio(*texts) >= _LEAST_CJK_SIMILARITY
    joined = (" ".join(sorted(left.strong)), " ".join(sorted(right.strong)))
    return fuzz.ratio(*joined) >= _LEAST_SIMILARITY


def _contrast(left: Relation, right: Relation) -> bool:
    if left.events - right.events and right.events - left.events:
        return True
    for one, other in _CONTRASTS:
        if _opposed(left.concepts, right.concepts, {one}, {other}):
            return True
    for one, other in _WORD_CONTRASTS:
        if _opposed(left.words, right.words, one, other):
            return True
    for one, other in _CJK_CONTRASTS:
        sides = [
            {word for word in (one, other) if word in text} for text in (left.plain, right.plain)
        ]
        if all(len(side) == 1 for side in sides) and sides[0] != sides[1]:
            return True
    return False


def _opposed(
    left: frozenset[str],
    right: frozenset[str],
    one: set[str] | frozenset[str],
    other: set[str] | frozenset[str],
) -> bool:
    """Whether one side only has words of `one`, and the other side only words of `other`."""
    return bool(
        (left & one and right & other and not left & other and not right & one)
        or (left & other and right & one and not left & one and not right & other)
    )


@lru_cache(maxsize=256)
def _stems(words: str) -> frozenset[str]:
    return frozenset(stem for word in words.split() for stem in (word, _stem(word)))


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    shorter = _SUFFIX.sub("", word)
    return word if shorter == word or len(shorter) < 3 else _stem(shorter)
