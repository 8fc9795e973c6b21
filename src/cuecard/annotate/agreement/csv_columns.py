"""Which columns of a CSV file of ratings hold items, raters and labels, inferred from their names and contents."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Literal

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, listed

MISSING_WORDS = ("NA", "N/A", "#N/A", "NaN", "null", "-", "–", "—", "缺失")
CANNOT_TELL_WORDS = ("unsure", "cannot tell", "can't tell", "?", "不确定", "无法判断")

_ITEM = frozenset([
    "item", "id", "case", "no", "nr", "#", "index", "idx", "key", "uid", "qid", "条目", "条目编号",
    "项目", "编号", "序号", "题号", "样本", "案例",
])  # fmt: skip
_ID_ENDS = ("_id", "-id", " id", "_index", "_idx", "编号", "序号")
_RATER = frozenset([
    "rater", "annotator", "coder", "judge", "labeller", "labeler", "reviewer", "person", "who",
    "标注人", "标注员", "标注者", "评分人", "评分员", "评分者", "评审", "评审人", "评审员",
])  # fmt: skip
_LABEL = frozenset([
    "label", "rating", "decision", "verdict", "score", "value", "标签", "标注", "标注结果", "判断", "判定",
    "评分", "评级", "得分",
])  # fmt: skip
_NO_RATING = frozenset([
    "comment", "comments", "note", "notes", "remark", "remarks", "reason", "reasons",
    "rationale", "explanation", "text", "seconds", "time", "timestamp", "date", "duration",
    "task", "group", "备注", "评论", "说明", "理由", "注释", "意见", "批注", "文本", "时间", "日期", "用时", "耗时",
    "任务", "组", "组别",
])  # fmt: skip
_COMMENT_ENDS = ("_comment", "_note", " comment", " note", "备注", "说明", "理由")

_NEARLY_ALL = 0.9
_HARDLY_ANY = 0.1
_COUNTED = 5
"""Lines from which a first column that counts 1, 2, 3… is taken for a number of the line, not for ratings."""
_TRAILING = re.compile(r"([+-]?\d+)\.0+")


class LeftOutReason(StrEnum):
    """Why a column of a wide file was left out."""

    NAME = "name"
    BLANK = "blank"
    NAMELESS = "nameless"
    ALL_DIFFERENT = "all_different"
    OWN_LABELS = "own_labels"
    NOT_NAMED = "not_named"

    @property
    def word(self) -> str:
        return _(_WHY[self])


_WHY = {
    LeftOutReason.NAME: N_("by its name"),
    LeftOutReason.BLANK: N_("blank"),
    LeftOutReason.NAMELESS: N_("has no name"),
    LeftOutReason.ALL_DIFFERENT: N_("all or nearly all values differ"),
    LeftOutReason.OWN_LABELS: N_("no label in common with the others"),
    LeftOutReason.NOT_NAMED: N_("not named as a rater"),
}


class UnclearColumns(CuecardError):
    """Raised when the file does not show which columns hold items and ratings; the user has to name them."""


@dataclass(frozen=True)
class CsvColumns:
    """What the user says about a file; what is left empty is inferred. `raters`: the columns of a wide file; `domain`:
    the possible labels, in order; `missing`: words for a missing label, instead of `MISSING_WORDS` and
    `CANNOT_TELL_WORDS` (a blank is always missing).
    """

    item: str = ""
    rater: str = ""
    label: str = ""
    group: str = ""
    raters: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    missing: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Roles:
    """The role of each column. `item` "": each line is an item. A long file (a line for each rating) has `rater` and
    `label`; a wide one (a line for each item) has `raters`, and `left_out` columns with the reason.
    """

    shape: Literal["long", "wide"]
    item: str
    rater: str = ""
    label: str = ""
    raters: tuple[str, ...] = ()
    left_out: Mapping[str, LeftOutReason] = field(default_factory=dict[str, LeftOutReason])


def label_key(text: str) -> str:
    """The same for all spellings of a label: lower case, one width, single blanks, `2.0` as `2`."""
    key = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    found = _TRAILING.fullmatch(key)
    return found[1] if found else key


class NoLabels:
    """Which words stand for a missing rating or for "cannot tell"; a declared label is neither."""

    def __init__(self, columns: CsvColumns) -> None:
        declared = {label_key(label) for label in columns.domain}
        words = MISSING_WORDS if columns.missing is None else columns.missing
        doubts = CANNOT_TELL_WORDS if columns.missing is None else ()
        self.missing = {"", *map(label_key, words)} - declared
        self.cannot_tell = {label_key(word) for word in doubts} - declared

    def __contains__(self, label: str) -> bool:
        key = label_key(label)
        return not key or key in self.missing or key in self.cannot_tell


@dataclass(frozen=True)
class _Column:
    """A column of a file: its stripped cells, and the ratings that they would be (None: no label)."""

    name: str
    cells: tuple[str, ...]
    ratings: tuple[str | None, ...]

    @cached_property
    def given(self) -> tuple[str, ...]:
        return tuple(rating for rating in self.ratings if rating is not None)

    @cached_property
    def labels(self) -> frozenset[str]:
        return frozenset(self.given)

    @cached_property
    def unique(self) -> bool:
        """Whether it could name the lines: no blank, nothing twice."""
        return "" not in self.cells and len(set(self.cells)) == len(self.cells)

    @property
    def nearly_unique(self) -> bool:
        return len(self.labels) >= max(2, _NEARLY_ALL * len(self.given))

    @cached_property
    def counts(self) -> bool:
        """Whether it counts the lines: each number one more than that before."""
        if not all(cell.isdecimal() for cell in self.cells):
            return False
        numbers = [int(cell) for cell in self.cells]
        return len(numbers) > 2 and all(b == a + 1 for a, b in pairwise(numbers))

    @cached_property
    def scale(self) -> tuple[float, float] | None:
        """Lowest and highest value of a numeric column with many different values; None for other columns."""
        try:
            numbers = [float(label) for label in self.labels]
        except ValueError:
            return None
        many = len(numbers) > min(10, len(self.given) / 2)
        return (min(numbers), max(numbers)) if many and all(map(isfinite, numbers)) else None


def roles_of(
    header: Sequence[str], rows: Sequence[Sequence[str]], wishes: CsvColumns, none: NoLabels
) -> Roles:
    """The role of each column. `header` and `rows` are stripped, each row as long as the header; columns named in
    `wishes` must exist once. Raises `UnclearColumns`.
    """
    columns = [
        _Column(
            name,
            cells := tuple(row[at] for row in rows),
            tuple(None if cell in none else label_key(cell) for cell in cells),
        )
        for at, name in enumerate(header)
        if name and header.count(name) == 1
    ]
    if not wishes.raters and (long := _long(columns, wishes)):
        return long
    nameless = {
        _("column {n}").format(n=at + 1): LeftOutReason.NAMELESS
        for at, name in enumerate(header)
        if not name and any(row[at] for row in rows)
    }
    return _wide([c for c in columns if c.name != wishes.group], wishes, nameless)


def _long(columns: Sequence[_Column], wishes: CsvColumns) -> Roles | None:
    """The roles in a long file, None for a wide one. Columns called `rater` and `label` make a file long; others do so
    only if items are rated more than once.
    """
    names = {_plain(column.name): column.name for column in columns}
    rater = wishes.rater or names.get("rater") or _named(columns, _RATER)
    label = wishes.label or names.get("label") or _named(columns, _LABEL)
    said = wishes.rater or wishes.label or ("rater" in names and "label" in names)
    if not said and not (rater and label):
        return None
    roles = Roles("long", wishes.item, rater=rater or "rater", label=label or "label")
    by_name = {column.name: column for column in columns}
    rest = [c for c in columns if c.name not in (roles.rater, roles.label, wishes.group)]
    rest.sort(key=lambda c: (_plain(c.name) != "item", not _is_item(c.name), _apart(c)))
    if not roles.item and roles.rater in by_name:
        fits = [c.name for c in rest if _names_items(c, by_name[roles.rater])]
        known = [c.name for c in rest if _is_item(c.name)]
        roles = replace(roles, item=next(iter((*fits, *known)), ""))
    elif not roles.item:
        roles = replace(roles, item="item")
    if not said and (roles.item not in by_name or by_name[roles.item].unique):
        return None
    if not roles.item:
        raise _unclear(_("no column names the items, which have a line for each rater"), columns)
    return roles


def _names_items(column: _Column, raters: _Column) -> bool:
    """Whether no rater has a line about the same twice, while some of them share one."""
    places = set(zip(column.cells, raters.cells, strict=True))
    once = "" not in column.cells and len(places) == len(raters.cells)
    return once and (_is_item(column.name) or not column.unique)


def _wide(
    columns: Sequence[_Column], wishes: CsvColumns, nameless: Mapping[str, LeftOutReason]
) -> Roles:
    if wishes.raters:
        rest = [c for c in columns if c.name not in wishes.raters]
        first = [c.name for c in rest[:1] if c.unique]
        item = wishes.item or _item_named(rest) or (first[0] if first else "")
        left = {c.name: LeftOutReason.NOT_NAMED for c in rest if c.name != item}
        return Roles("wide", item, raters=wishes.raters, left_out={**left, **nameless})
    item = wishes.item or _item_named(columns) or _first_as_item(columns)
    candidates = [c for c in columns if c.name != item]
    left_out: dict[str, LeftOutReason] = {}
    for column in candidates:
        if not column.given:
            left_out[column.name] = LeftOutReason.BLANK
        elif _apart(column) or _is_item(column.name):
            left_out[column.name] = LeftOutReason.NAME
    candidates = [c for c in candidates if c.name not in left_out]
    fitting = _fitting(candidates)
    for column in fitting:
        if column.counts:
            raise _unclear(
                _("{column} counts 1, 2, 3… and could number the lines or hold ratings").format(
                    column=column.name
                ),
                columns,
            )
    for column in candidates:
        if column in fitting:
            continue
        known = {label for other in candidates if other is not column for label in other.labels}
        shared = sum(label in known for label in column.given)
        if column.nearly_unique:
            left_out[column.name] = LeftOutReason.ALL_DIFFERENT
        elif shared <= _HARDLY_ANY * len(column.given):
            left_out[column.name] = LeftOutReason.OWN_LABELS
        else:
            raise _unclear(
                _("{column} shares only some of its values with other columns").format(
                    column=column.name
                ),
                columns,
            )
    if len(fitting) < 2:
        raise _unclear(_too_few(candidates, left_out, item), columns)
    if len(parts := _parts(fitting)) > 1:
        told = _("; ").join(listed(column.name for column in part) for part in parts)
        raise _unclear(
            _("columns go together by their labels in more than one way: {groups}").format(
                groups=told
            ),
            columns,
        )
    ordered = {c.name: left_out[c.name] for c in columns if c.name in left_out}
    return Roles(
        "wide", item, raters=tuple(c.name for c in fitting), left_out={**ordered, **nameless}
    )


def _item_named(columns: Sequence[_Column]) -> str:
    """The column that its name calls the item's; `item` and `id` even where it names an item twice, which is an
    error to be told.
    """
    known = [c for c in columns if _is_item(c.name)]
    known.sort(key=lambda c: (_plain(c.name) != "item", not c.unique))
    return next((c.name for c in known if c.unique or _plain(c.name) in _ITEM), "")


def _first_as_item(columns: Sequence[_Column]) -> str:
    """The first column under any name, if it names the lines and cannot be ratings. Raises `UnclearColumns`."""
    if len(columns) < 2:
        return ""
    if _apart(first := columns[0]):
        return first.name if first.unique else ""
    others = [c for c in columns[1:] if not _apart(c) and not _is_item(c.name)]
    fits = first in _fitting([first, *others])
    if not first.unique:
        # Nearly all different is an identifier with an error in it, which reading the items will tell.
        return first.name if first.nearly_unique and not fits and len(first.cells) > 2 else ""
    if not fits or (first.counts and len(first.cells) >= _COUNTED):
        return first.name
    if first.counts or len(others) > 1:
        raise _unclear(
            _("{column} could name the items or hold ratings").format(column=first.name), columns
        )
    return ""


def _fitting(candidates: Sequence[_Column]) -> list[_Column]:
    """Candidates that fit another candidate: at least half of their labels, or of their ratings, occur in it too, or
    they share a label with it and at least half of their ratings lie within its numeric scale.
    """
    found = list(candidates)
    while True:
        kept = [c for c in found if _fits(c, [other for other in found if other is not c])]
        if len(kept) == len(found):
            return found
        found = kept


def _fits(column: _Column, others: Sequence[_Column]) -> bool:
    known = {label for other in others for label in other.labels}
    shared = column.labels & known
    if not shared:
        return False
    if 2 * len(shared) >= len(column.labels):
        return True
    if 2 * sum(label in shared for label in column.given) >= len(column.given):
        return True
    for other in others:
        if column.scale and other.scale and column.labels & other.labels:
            low, high = other.scale
            within = sum(low <= float(label) <= high for label in column.given)
            if 2 * within >= len(column.given):
                return True
    return False


def _parts(columns: Sequence[_Column]) -> list[list[_Column]]:
    """Columns that share a label, directly or through others, together."""
    parts: list[list[_Column]] = []
    for column in columns:
        touched = [part for part in parts if any(c.labels & column.labels for c in part)]
        joined = [c for part in touched for c in part]
        parts = [part for part in parts if part not in touched] + [[*joined, column]]
    return parts


def _too_few(
    candidates: Sequence[_Column], left_out: Mapping[str, LeftOutReason], item: str
) -> str:
    ratings = [
        c.name for c in candidates if left_out.get(c.name) is not LeftOutReason.ALL_DIFFERENT
    ]
    ratings = [candidates[0].name] if len(candidates) == 1 else ratings
    if len(ratings) == 1:
        told = _("only {column} looks like a column of ratings, and two are needed")
        told = told.format(column=ratings[0])
    else:
        told = _("no two columns have labels in common")
    if not item:
        return told
    return _("; ").join((told, _("the items would be {column}").format(column=item)))


def _unclear(reason: str, columns: Sequence[_Column]) -> UnclearColumns:
    return UnclearColumns(
        _("It is not clear which columns hold the items and the ratings"),
        reason,
        _(
            "the columns are {columns}; name them with --item and --raters, or with --item, --rater and --label where"
            " each rating has a line"
        ).format(columns=listed(column.name for column in columns)),
    )


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _named(columns: Sequence[_Column], names: frozenset[str]) -> str:
    return next((c.name for c in columns if _plain(c.name) in names), "")


def _is_item(name: str) -> bool:
    plain = _plain(name)
    return plain in _ITEM or plain.endswith(_ID_ENDS)


def _apart(column: _Column) -> bool:
    """Whether its name says that it holds no ratings."""
    plain = _plain(column.name)
    return plain in _NO_RATING or plain.endswith(_COMMENT_ENDS)


def spellings(labels: Sequence[str], domain: Sequence[str]) -> dict[str, str]:
    """For each key of `labels` the spelling to use: the declared one, else the most frequent (of equals the first);
    whole numbers without `.0`.
    """
    chosen = {label_key(label): label for label in domain}
    counted = Counter(labels).most_common()
    for label, _n in sorted(counted, key=lambda one: bool(_TRAILING.fullmatch(one[0]))):
        chosen.setdefault(label_key(label), label)
    return chosen
