"""The list of verdicts, read page by page, and the form for drawing a labelling set."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cuecard.annotate.labelling.labelling_sets import Preview, n_by_variance, preview_of, remark_on
from cuecard.annotate.labelling.sampling import SamplingPlan, StratumKey, Unit
from cuecard.annotate.labelling.wording import stratum_words
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.items import gold_item
from cuecard.core.i18n import N_, _, ngettext, plural
from cuecard.core.label_records import VerdictLine
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.verdict_pages import Pages
from cuecard.tui.grid.cells import GridCell, Tone
from cuecard.tui.present.entries import Entry, Piece
from cuecard.tui.present.labels import DECISION

if TYPE_CHECKING:
    from cuecard.store.verdict_pages import VerdictFilter
    from cuecard.store.workspace import Workspace


KIND: dict[ItemKind, str] = {
    ItemKind.TRIPLE: N_("triple"),
    ItemKind.CELL: N_("cell"),
    ItemKind.ANSWER: N_("answer"),
    ItemKind.ROW: N_("row"),
    ItemKind.PREDICTED: N_("predicted triple"),
    ItemKind.STATUS: N_("status"),
    ItemKind.CUE: N_("cue"),
    ItemKind.LEAK: N_("leak"),
}
MINE: dict[str, str] = {
    "": N_("all"),
    "open": N_("not labelled by me"),
    "labelled": N_("labelled by me"),
}
_KEPT = 40
_TONE: dict[str, Tone] = {"yes": "good", "no": "bad", "unsure": "warn", "unjudged": "warn"}


class ListedVerdict(NamedTuple):
    """`gold`: what the item says, "" where its revision has no such item; why there is no verdict, where there is none.
    `title`: of the task.
    """

    line: VerdictLine | None
    gold: str
    title: str = ""


class VerdictReader:
    """Pages with the words of their items. For threads, one call at a time."""

    def __init__(self, workspace: Workspace, person: str, filter: VerdictFilter) -> None:
        self._workspace, self._person, self._filter = workspace, person, filter
        self._task = lru_cache(maxsize=64)(self._load_task)

    def page(self, start: int) -> list[ListedVerdict]:
        lines = self._workspace.verdict_pages.page(self._person, self._filter, start)
        return [
            ListedVerdict(line, self._gold(line, task), task.title)
            for line in lines
            for task in (self._task(line.task_id, line.revision),)
        ]

    def pages(self) -> Pages:
        return self._workspace.verdict_pages.pages(self._person, self._filter)

    def _load_task(self, task_id: str, revision: int) -> Task:
        return self._workspace.tasks.revision(task_id, revision).task

    def _gold(self, line: VerdictLine, task: Task) -> str:
        try:
            return gold_item(task, line.item).text
        except (IndexError, ValueError):  # a judgement from elsewhere
            return ""


class VerdictLines(Sequence[ListedVerdict]):
    """All verdicts of a list, those of pages that were not read yet as rows without a verdict."""

    def __init__(self, size: int, first: Sequence[ListedVerdict]) -> None:
        """`size` verdicts a page; the `first` page, of a list whose length is not known yet."""
        self._size = size
        self._pages: OrderedDict[int, Sequence[ListedVerdict]] = OrderedDict({0: first})
        self._starts: tuple[int, ...] = ()
        self._count = len(first)
        self.whole = len(first) < size

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: Any) -> Any:
        """The row of this number; none is counted from the end."""
        if not 0 <= row < self._count:
            raise IndexError(row)
        page, place = divmod(int(row), self._size)
        lines = self._pages.get(page)
        if lines is None:
            return ListedVerdict(None, "…")
        return (
            lines[place] if place < len(lines) else ListedVerdict(None, _("no longer in this list"))
        )

    def cut(self, pages: Pages) -> None:
        """It is known now where each page begins."""
        self._starts, self._count, self.whole = pages.starts, pages.count, True

    def start_of(self, page: int) -> int:
        return self._starts[page]

    def missing(self, top: int, rows: int) -> int | None:
        """The page to be read next while so many rows from `top` on are in view: one of them, or the one after."""
        for page in range(
            top // self._size, min((top + rows) // self._size + 2, len(self._starts))
        ):
            if page not in self._pages:
                return page
            self._pages.move_to_end(page)
        return None

    def load(self, page: int, lines: Sequence[ListedVerdict]) -> None:
        """Keep a page, and drop what was not looked at for longest."""
        following = self._starts[page + 1] if page + 1 < len(self._starts) else None
        # Where verdicts have left the list since it was cut, later ones have moved up into this page.
        kept = [
            v for v in lines if following is None or not v.line or v.line.verdict_id < following
        ]
        self._pages[page] = kept[: self._size]
        self._pages.move_to_end(page)
        while len(self._pages) > _KEPT:
            self._pages.popitem(last=False)

    def show(self, row: int, verdict: ListedVerdict) -> None:
        """Another state of the verdict in this row."""
        page, place = divmod(row, self._size)
        lines = list(self._pages.get(page, ()))
        if place < len(lines):
            lines[place] = verdict
            self._pages[page] = lines


def item_label(item: Item) -> str:
    """`triple 18`, `cell 4, Year`: numbers as people count them."""
    if item.kind is ItemKind.ANSWER:
        return _(KIND[item.kind])
    text = f"{_(KIND[item.kind])} {item.index + 1}"
    return _(", ").join(filter(None, (text, item.column)))


def said_cell(value: str | None) -> GridCell:
    """A decision with its glyph; nothing for none."""
    if value not in DECISION:
        return GridCell(value or "")
    glyph, _colour, label = DECISION[value]
    return GridCell(f"{glyph} {_(label)}", _TONE[value])


STRATUM_LABEL: dict[StratumKey, str] = {
    "decision": N_("the judge's decision"),
    "judges": N_("whether judges agree"),
    "outcome": N_("how the trial went"),
    "family": N_("family"),
    "language": N_("language"),
    "agent": N_("agent"),
    "relation": N_("relation"),
    "task": N_("task"),
}


@dataclass(frozen=True)
class SampleSnapshot:
    """A form evaluated: the plan, what it would draw, and remarks on it."""

    plan: SamplingPlan
    preview: Preview
    said: tuple[str, ...]

    @property
    def entries(self) -> list[Entry]:
        """The remarks, and of each stratum how much is drawn."""
        tone = "strong" if self.preview.items else "bad"
        heads: list[tuple[Piece, ...]] = [(Piece(text, tone),) for text in self.said]
        for stratum in self.preview.strata:
            named = stratum_words(stratum.name, self.plan.strata) or _("all")
            label = Piece(f"{named}{_(': ')}")
            counts = _("{n:,} of {all:,}").format(n=stratum.drawn, all=stratum.size)
            heads.append((label, Piece(counts, "plain" if stratum.drawn else "bad")))
        return [Entry("work", 0, head) for head in heads]


def worked_out(
    plan: SamplingPlan, units: Collection[Unit], width: float | None, share: float, alike: float
) -> SampleSnapshot:
    """What a plan would draw from `units`; with a `width` of the interval, `n` follows from it. `share`: of the items,
    expected to agree; `alike`: how much those of a task are. Raises `CuecardError`.
    """
    preview = preview_of(units, plan)
    if width is not None:
        plan = plan.model_copy(update={"n": _n_for(plan, units, preview, width, share, alike)})
        preview = preview_of(units, plan)
    said = (*_said(plan, preview, share, alike), *filter(None, [remark_on(units, plan)]))
    return SampleSnapshot(plan, preview, said)


def _said(plan: SamplingPlan, preview: Preview, share: float, alike: float) -> list[str]:
    if not preview.population:
        return [_("Nothing to draw: no judge has decided on such items of these runs.")]
    items = round(preview.items)
    said = [
        plural("{n:,} item of {all:,}", "{n:,} items of {all:,}", items, all=preview.population)
        + " · "
        + _("{n:,.0f} labels").format(n=preview.labels)
    ]
    width = preview.width(share, alike)
    if width is not None:
        said.append(
            _("If {share:.0%} agree: 95% interval about {width:.3f} wide").format(
                share=share, width=width
            )
        )
    if preview.left_out:
        said.append(
            ngettext(
                "{n} stratum gets nothing: the set will not speak for it.",
                "{n} strata get nothing: the set will not speak for them.",
                preview.left_out,
            ).format(n=preview.left_out)
        )
    elif plan.n > sum(stratum.drawn for stratum in preview.strata):
        said.append(_("There is no more than that: everything is drawn."))
    return said


def _n_for(
    plan: SamplingPlan,
    units: Collection[Unit],
    preview: Preview,
    width: float,
    share: float,
    alike: float,
) -> int:
    if plan.by == "trials":
        raise CuecardError(_("Width"), _("A width counts items: draw items, or give a number."))
    n = preview.n_for(width, share, alike) if preview.population else 1
    if plan.allocation == "variance" and preview.population:
        n = n_by_variance(units, plan, width, alike).n
    if n is None:
        raise CuecardError(
            _("Width"), _("All these items say less than that: a wider one, or more tasks.")
        )
    return n
