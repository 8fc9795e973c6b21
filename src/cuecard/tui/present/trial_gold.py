"""The prediction beside the gold for the screen: triples by stage or relation, an answer, a table cell by cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.annotate.results.trial_against_gold import (
    AnswerAgainst,
    CellAgainst,
    ExtraRow,
    ExtraTriple,
    FactResult,
    GoldTriple,
    GraphAgainst,
    Grouping,
    RowAgainst,
    TableAgainst,
    TripleGroup,
)
from cuecard.core.i18n import N_, _, headed, listed, ngettext, plural
from cuecard.core.scoring.trial_score import Tally
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item, ItemKind
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.trial_panes import DECISION, PaneLine, PaneText, work_entry

Shown = Literal["all", "no", "yes", "extra", "unjudged"]
SHOWN: tuple[Shown, ...] = ("all", "no", "yes", "extra", "unjudged")
SHOWN_LABEL: Mapping[Shown, str] = {
    "all": N_("all"),
    "no": N_("only missed"),
    "yes": N_("only covered"),
    "extra": N_("only extra"),
    "unjudged": N_("only not judged"),
}
RAW = 2_000
"""Characters shown of what was handed in and could not be read."""


def tally_words(tally: Tally, extra: int = 0) -> str:
    """`✓ 12 covered · ✗ 3 missed · + 2 extra`."""
    said = [_("✓ {n} covered").format(n=tally.yes), _("✗ {n} missed").format(n=tally.no)]
    if extra:
        said.append(_("+ {n} extra").format(n=extra))
    if tally.unjudged:
        said.append(_("? {n} not judged").format(n=tally.unjudged))
    return " · ".join(said)


def graph_text(task: Task, against: GraphAgainst, by: Grouping, shown: Shown) -> PaneText:
    if against.predicted is None:
        note = _("{n} gold triples, nothing readable handed in").format(n=len(against.gold))
    else:
        note = _("{n} handed in, {gold} in the gold").format(
            n=against.predicted, gold=len(against.gold)
        )
        note += "\n" + tally_words(against.tally, len(against.extra))
    if shown != "all":
        note += " · " + _(SHOWN_LABEL[shown])
    lines = list(_unusable(against.reason, against.raw))
    names = {triple.index: triple for triple in against.extra}
    for group in against.grouped(by):
        lines += _group(task, group, by, shown, names)
    return PaneText(note, lines)


def _group(
    task: Task,
    group: TripleGroup,
    by: Grouping,
    shown: Shown,
    extra: Mapping[int, ExtraTriple],
) -> Iterator[PaneLine]:
    gold = [t for t in group.gold if shown in ("all", t.decision.value)]
    more = group.extra if shown in ("all", "extra") else ()
    if not gold and not more:
        return
    tally = group.tally
    counts = [f"✓{tally.yes}", f"✗{tally.no}"] if group.gold else []
    counts += [f"+{len(group.extra)}"] if group.extra else []
    counts += [f"?{tally.unjudged}"] if tally.unjudged else []
    # Without blanks, so that counts stay together where the words are wrapped.
    head = [Piece(_heading(task, group, by), "strong"), Piece("  " + "·".join(counts), "muted")]
    place = f"stage/{group.key}" if by == "stage" and group.key is not None else ""
    yield PaneLine(work_entry(head), place=place)
    for triple in gold:
        yield _triple(triple, extra)
    for triple in more:
        item = Item(kind=ItemKind.PREDICTED, index=triple.index)
        text = f"{triple.head} — {triple.relation} — {triple.tail}"
        line = [Piece("  + ", "stage"), Piece(f"{triple.index + 1}. {one_line(text, 400)}")]
        yield PaneLine(work_entry(line), item=item, place=f"verdict/{item.key}")


def _heading(task: Task, group: TripleGroup, by: Grouping) -> str:
    key = group.key
    if by == "relation":
        return one_line(str(key), 80)
    if isinstance(key, int):
        title = one_line(task.stages[key - 1].title, 60) if key <= len(task.stages) else ""
        return _("stage {n}").format(n=key) + (f" {title}" if title else "")
    return _("of no stage") if group.gold else _("not in the gold")


def _triple(triple: GoldTriple, extra: Mapping[int, ExtraTriple]) -> PaneLine:
    item = Item(kind=ItemKind.TRIPLE, index=triple.index)
    mark, tone = DECISION[triple.decision]
    text = f"{triple.head} — {triple.relation} — {triple.tail}"
    head = [Piece(f"  {mark} ", tone), Piece(f"{triple.index + 1}. {one_line(text, 400)}")]
    # Of a triple that is not covered, what the judge looked at; of a covered one numbers are enough.
    if triple.supporting:
        numbers = listed(str(index + 1) for index in triple.supporting)
        head.append(Piece(f" ← {numbers}", "muted"))
    fold = [
        Paragraph(f"← {i + 1}. {e.head} — {e.relation} — {e.tail}", "work", 6)
        for i in triple.supporting
        if (e := extra.get(i))
    ]
    return PaneLine(work_entry(head, *fold), item=item, place=f"verdict/{item.key}")


def answer_text(against: AnswerAgainst) -> PaneText:
    item = Item(kind=ItemKind.ANSWER)
    mark, tone = DECISION[against.decision]
    said = against.given is not None
    given = one_line(against.given or "", 400) if said else _("no answer was handed in")
    fold = [Paragraph(_("Also accepted: {names}").format(names=listed(against.also)), indent=4)]
    lines = [
        PaneLine(
            work_entry(
                [Piece(_("GOLD"), "agent"), Piece(f"   {one_line(against.gold, 400)}")],
                *(fold if against.also else ()),
            ),
            item=item,
            place=f"verdict/{item.key}",
        ),
        PaneLine(
            Entry(
                "work",
                -1,
                (Piece(_("GIVEN"), "agent"), Piece(f"  {mark} ", tone), Piece(given)),
                tuple(Paragraph(t, "muted", 4) for t in (against.rationale,) if t),
            ),
            item=item,
            place=f"verdict/{item.key}",
        ),
    ]
    lines += _unusable(against.reason, against.raw)
    note = ""
    if against.facts:
        found = sum(fact.call is not None for fact in against.facts)
        every = len(against.facts)
        note = plural("{found} of {n} fact found", "{found} of {n} facts found", every, found=found)
        lines += [_fact(index, fact) for index, fact in enumerate(against.facts)]
    return PaneText(note or _decided(against.decision), lines)


def _fact(index: int, fact: FactResult) -> PaneLine:
    found = fact.call is not None
    name = headed(one_line(fact.key, 80), one_line(fact.value, 120))
    head = [Piece("✓ " if found else "✗ ", "good" if found else "bad"), Piece(name)]
    if fact.rule:
        head.append(Piece(" · " + _("rule"), "stage"))
    told = _("found by call {n}").format(n=fact.call) if found else _("never found")
    head.append(Piece(f" · {told}", "muted"))
    return PaneLine(work_entry(head), seq=fact.seq, place=f"fact/{index}")


def _decided(decision: Decision) -> str:
    match decision:
        case Decision.YES:
            return _("The answer is right.")
        case Decision.NO:
            return _("The answer is not right.")
        case Decision.UNJUDGED:
            return _("The answer is not judged.")


def _unusable(reason: str, raw: str) -> Iterator[PaneLine]:
    """Why nothing could be read, with the raw text."""
    if reason:
        told = _("nothing usable: {reason}").format(reason=one_line(reason, 200))
        text = raw[:RAW] + ("…" if len(raw) > RAW else "")
        fold = (Paragraph(_("As it came:"), "muted", 4), Paragraph(text, indent=4)) if raw else ()
        yield PaneLine(Entry("work", -1, (Piece("✗ ", "bad"), Piece(told, "bad")), fold))


GridTone = Literal["plain", "muted", "good", "bad", "accent"]
_TONE: dict[Decision, GridTone] = {
    Decision.YES: "good",
    Decision.NO: "bad",
    Decision.UNJUDGED: "muted",
}


@dataclass(frozen=True)
class GoldCell:
    """`item`: the gold cell that it is about; None for what is not in the gold."""

    text: str
    tone: GridTone
    item: Item | None
    detail: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True)
class TableView:
    """`rows` of cells in the gold's column order. Missing rows stand in the gold's place, extra rows below."""

    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[GoldCell, ...], ...]


def table_view(against: TableAgainst, shown: Shown) -> TableView:
    rows = [_row(against, row) for row in against.rows if _is_shown(row, shown)]
    if shown in ("all", "extra"):
        rows += [_extra(against, row) for row in against.extra]
    return TableView(_note(against, shown), against.columns, tuple(rows))


def _note(against: TableAgainst, shown: Shown) -> str:
    gold = len(against.rows)
    if against.predicted is None or against.reason:
        reason = one_line(against.reason, 160) or _("no table was handed in")
        return _("nothing usable: {reason}").format(reason=reason)
    said = [
        plural(
            "{n} row handed in, {gold} in the gold",
            "{n} rows handed in, {gold} in the gold",
            against.predicted,
            gold=gold,
        ),
        ngettext("{n} row missed", "{n} rows missed", against.missed).format(n=against.missed),
        plural("{n} row extra", "{n} rows extra", len(against.extra)),
    ]
    cells = _("cells: {counts}").format(counts=tally_words(against.tally))
    if shown != "all":
        cells += " · " + _(SHOWN_LABEL[shown])
    return " · ".join(said) + "\n" + cells


def _is_shown(row: RowAgainst, shown: Shown) -> bool:
    states = [cell.decision for cell in row.cells]
    match shown:
        case "all":
            return True
        case "no":
            return Decision.NO in states
        case "yes":
            return all(state is Decision.YES for state in states)
        case "unjudged":
            return Decision.UNJUDGED in states
        case "extra":
            return False


def _row(against: TableAgainst, row: RowAgainst) -> tuple[GoldCell, ...]:
    return tuple(
        _cell(row, cell, column, key=at in against.keys)
        for at, (cell, column) in enumerate(zip(row.cells, against.columns, strict=True))
    )


def _cell(row: RowAgainst, cell: CellAgainst, column: str, *, key: bool) -> GoldCell:
    mark, tone = DECISION[cell.decision]
    missed = row.partner is None
    text = cell.gold if key else "–" if missed else cell.given if cell.given is not None else "?"
    if row.repeats:
        mark = "="
    where = f"{one_line(row.key, 60)} · {one_line(column, 40)}"
    given = _("row missed") if missed else cell.given if cell.given is not None else "?"
    detail: list[tuple[Piece, ...]] = [
        (Piece(where, "strong"), Piece(f"  {mark}", tone)),
        (Piece(_("GOLD"), "agent"), Piece(f"   {one_line(cell.gold, 300)}")),
        (Piece(_("GIVEN"), "agent"), Piece(f"  {one_line(given, 300)}")),
    ]
    said = _("repeats the key of an earlier row, and graders drop it") if row.repeats else ""
    if said or cell.rationale:
        detail.append((Piece(one_line(said or cell.rationale, 300), "muted"),))
    item = Item(kind=ItemKind.CELL, index=row.index, column=column)
    tone_ = "muted" if row.repeats else _TONE[cell.decision]
    return GoldCell(f"{mark} {one_line(text, 200)}", tone_, item, tuple(detail))


def _extra(against: TableAgainst, row: ExtraRow) -> tuple[GoldCell, ...]:
    told = _("row {n} of what was handed in is joined with no gold row").format(n=row.index + 1)
    if row.repeats:
        told = _(
            "row {n} of what was handed in repeats an earlier key, and graders drop it"
        ).format(n=row.index + 1)
    mark = "=" if row.repeats else "+"
    cells: Sequence[str] = row.cells
    return tuple(
        GoldCell(
            f"{mark} {one_line(text, 200)}",
            "muted" if row.repeats else "accent",
            None,
            (
                (Piece(one_line(column, 40), "strong"), Piece(f"  {mark}", "stage")),
                (Piece(_("GIVEN"), "agent"), Piece(f"  {one_line(text, 300)}")),
                (Piece(told, "muted"),),
            ),
        )
        for text, column in zip(cells, against.columns, strict=True)
    )
