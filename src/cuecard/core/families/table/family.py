"""What the engine knows of table tasks: a table with required columns (WideSearch).

The offline agent finds the names of the rows, then fills column by column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, model_validator

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.agents.offline_search import Notes, Searcher, markdown_table, say
from cuecard.core.engine.messages import AgentReply, Dialogue
from cuecard.core.engine.step_context import CallContext
from cuecard.core.families import common
from cuecard.core.families.registry import CoreFamily
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.judge import fill
from cuecard.core.families.table.judge import judge_table as judge_table_lexically
from cuecard.core.families.table.score import (
    TABLE_MEASURES,
    distinct_gold_rows,
    row_key,
    score_table,
)
from cuecard.core.formats.extraction import find_table
from cuecard.core.i18n import N_, _, listed
from cuecard.core.predictions import Prediction, TablePrediction
from cuecard.core.rescoring import GoldChange, ItemChange
from cuecard.core.scoring.trial_score import TableFigures, tallies
from cuecard.core.tasks.models import Task
from cuecard.core.text import clauses, contains_term, content_words, coverage, normalise, one_line
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    GoldItem,
    Item,
    ItemKind,
    Judged,
    Judgement,
    TableMatch,
)
from cuecard.core.worlds.background import Secrets
from cuecard.core.worlds.finding import Index
from cuecard.core.worlds.indexes import RecordIndex
from cuecard.core.worlds.statements import SUBJECT_JOIN, Statement

if TYPE_CHECKING:
    from cuecard.core.judges.model_asking import ModelAsks
    from cuecard.core.rescoring import Carry


_NAMED = 0.6
_MAX_LEADS = 6


class Sheet:
    """The table as far as it is known. `keys`: the key columns; `rows`: the names of the rows, from their keys;
    `columns`: the other columns.
    """

    def __init__(self, public: PublicTask, notes: Notes) -> None:
        self._notes = notes
        self._values = {(found.subject, found.attribute): found.value for found in notes.facts}
        directory = max(notes.directories, key=lambda d: len(notes.directories[d]), default="")
        self.keys = tuple(directory.split(SUBJECT_JOIN)) if directory else ()
        names = dict(notes.directories.get(directory, {}))
        names.update(dict.fromkeys(notes.headings))
        names.update(dict.fromkeys(found.subject for found in notes.facts))
        self.rows = tuple(names)
        if not self.keys:
            self.keys = public.columns[:1]
        known = public.columns or tuple(dict.fromkeys(f.attribute for f in notes.facts))
        self.columns = tuple(column for column in known if column not in self.keys)

    def value(self, row: str, column: str) -> str:
        return self._values.get((row, column), "")

    def cells(self, row: str, columns: Sequence[str]) -> tuple[str, ...]:
        """A row's cells: parts of its name for key columns, what was found for the others."""
        parts = row.split(SUBJECT_JOIN) if len(self.keys) > 1 else [row]
        key = dict(zip(self.keys, parts, strict=False))
        return tuple(key.get(column) or self.value(row, column) for column in columns)

    def missing(self, columns: Sequence[str]) -> list[tuple[str, str]]:
        """The cells not found yet, column by column."""
        return [(row, c) for c in columns for row in self.rows if not self.value(row, c)]


def _wanted(dialogue: Dialogue, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that the user has named so far, in the table's order."""
    told = [content_words(message.text) for message in dialogue.of("user")]
    return tuple(
        column
        for column in columns
        if any(coverage(content_words(column), words) >= _NAMED for words in told)
    )


async def _find_rows(searcher: Searcher, public: PublicTask, dialogue: Dialogue) -> None:
    text = "\n".join(message.text for message in dialogue.of("user")[-1:])
    leads = (*public.columns[:1], *clauses(text)[:_MAX_LEADS], *public.columns[1:])
    for lead in leads:
        if searcher.notes.directories:
            break
        await searcher.search(lead)


async def answer(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> str:
    """One turn of the agent: find the rows, then fill the columns that the user has named; then the next column."""
    notes, language = searcher.notes, public.language
    if not notes.directories:
        await _find_rows(searcher, public, dialogue)
    sheet = Sheet(public, notes)
    wanted = _wanted(dialogue, sheet.columns)
    tried = {cell for cell in sheet.missing(sheet.columns) if _was_asked(notes, *cell)}
    open_cells = [cell for cell in sheet.missing(wanted) if cell not in tried]
    if not open_cells and dialogue.turn:
        rest = [c for c in sheet.columns if c not in wanted and not _is_known(sheet, c)]
        wanted = tuple(c for c in sheet.columns if c in wanted or c in rest[:1])
        open_cells = [cell for cell in sheet.missing(wanted) if cell not in tried]
    for row, column in open_cells:
        await searcher.search(_query(row, column))
    sheet = Sheet(public, notes)
    if not sheet.rows:
        return f"{say(language, 'nothing')}\n\n{say(language, 'name_one')}"
    shown = (*sheet.keys, *(c for c in sheet.columns if c in wanted or _is_known(sheet, c)))
    total = len(sheet.rows) * (len(shown) - len(sheet.keys))
    parts = [markdown_table(shown, [sheet.cells(row, shown) for row in sheet.rows])]
    if total:
        found = total - len(sheet.missing(shown[len(sheet.keys) :]))
        parts.append(say(language, "cells", found=found, all=total))
    parts.append(_closing(public, sheet, notes, shown))
    return "\n\n".join(parts)


def _closing(public: PublicTask, sheet: Sheet, notes: Notes, shown: Sequence[str]) -> str:
    missing = sheet.missing([c for c in shown if c not in sheet.keys])
    if any(not _was_asked(notes, *cell) for cell in missing):
        return say(public.language, "more_cells")
    left = [column for column in sheet.columns if column not in shown]
    if left:
        return say(public.language, "column", column=left[0])
    return say(public.language, "that_is_all")


def _is_known(sheet: Sheet, column: str) -> bool:
    return any(sheet.value(row, column) for row in sheet.rows)


def _query(row: str, column: str) -> str:
    return f"{row.replace(SUBJECT_JOIN, ' ')} {column}"


def _was_asked(notes: Notes, row: str, column: str) -> bool:
    return normalise(_query(row, column)) in notes.asked


def _statements(_task: Task, table: Table) -> Iterator[Statement]:
    keys = table.key_indices
    for number, row in enumerate(table.rows):
        subject = tuple((one_line(cell),) for cell in table.key_of(row) if cell.strip())
        for column, cell in enumerate(row):
            if column in keys or not cell.strip():
                continue
            name = table.columns[column].name
            yield Statement(
                key=f"cell/{number}/{name}", subject=subject, attribute=name, value=one_line(cell)
            )


def _counts(table: Table, judgement: Judgement) -> TableFigures:
    decisions = Decisions.of(judgement.verdicts)
    rows, match = distinct_gold_rows(table), judgement.table
    usable = match is not None and match.usable
    pairs = match.joined if match and usable else ()
    joined = sorted({gold for gold, _row in pairs} & set(rows))
    columns: dict[str, Counter[Decision]] = {}
    for column in table.columns:
        if column.name not in table.unique_columns:
            columns[column.name] = Counter(
                decisions.decision(ItemKind.CELL, row, column.name) for row in joined
            )
    return TableFigures(
        usable=match.usable if match else None,
        reason=match.reason if match else "",
        gold_rows=len(rows),
        predicted_rows=match.predicted_rows if match and usable else 0,
        joined=len(joined),
        columns=tallies(columns),
    )


def _read(said: str, raw: str) -> Prediction | str:
    table = find_table(said)
    if table is None:
        return common.NO_TABLE
    return TablePrediction(columns=table.columns, rows=table.rows, raw=raw)


class _Table(BaseModel):
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @model_validator(mode="after")
    def _even(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a row is longer or shorter than the columns")
        return self


def _read_json(text: str) -> Prediction:
    table = _Table.model_validate_json(text)
    return TablePrediction(columns=table.columns, rows=table.rows, raw=text)


def _judge(_task: Task, table: Table, prediction: Prediction) -> Judged | None:
    if not isinstance(prediction, TablePrediction):
        return None
    return judge_table_lexically(table, prediction)


async def _ask(
    judge: ModelAsks, task: Task, table: Table, prediction: Prediction, context: CallContext
) -> Judged | None:
    if not isinstance(prediction, TablePrediction):
        return None
    from cuecard.core.families.table.model_judge import TableAsking
    from cuecard.core.families.table.model_judge import judge_table as judge_table_by_model

    asking = TableAsking(
        columns=judge.asking("judge_columns", task),
        keys=judge.asking("judge_keys", task),
        cells=judge.asking("judge_cells", task),
    )
    return await judge_table_by_model(asking, task.query, table, prediction, context)


def _cell(table: Table, item: Item) -> GoldItem:
    row = table.rows[item.index]
    column = table.columns[table.column_names.index(item.column)]
    context = [_row_of(table, item), _("column {column}").format(column=column.name)]
    if column.criterion:
        context.append(_("criterion: {criterion}").format(criterion=column.criterion))
    value = row[table.column_names.index(item.column)]
    return GoldItem(item=item, text=value, context=tuple(context))


def _row(table: Table, item: Item) -> GoldItem:
    row = table.rows[item.index]
    columns = _("columns: {names}").format(names=" | ".join(table.column_names))
    context = [_row_of(table, item), columns]
    context += [
        f"{column.name}: {column.criterion}" for column in table.columns if column.criterion
    ]
    return GoldItem(item=item, text=" | ".join(row), context=tuple(context))


def _row_of(table: Table, item: Item) -> str:
    key = listed(table.key_of(table.rows[item.index]))
    return _("row {n}, key: {key}").format(n=item.index + 1, key=key)


def _item(_task: Task, table: Table, item: Item) -> GoldItem:
    return _row(table, item) if item.kind is ItemKind.ROW else _cell(table, item)


def _item_text(table: Table, item: Item) -> str:
    if item.kind is not ItemKind.CELL:
        return item.key
    row = table.rows[item.index]
    value = row[table.column_names.index(item.column)]
    return f"{', '.join(table.key_of(row))} | {item.column}: {value}"


def _target(table: Table) -> str:
    return "\n".join(" | ".join(row) for row in (table.column_names, *table.rows))


def _columns(task: Task, table: Table) -> tuple[str, ...]:
    told = f"{task.opening}\n{task.query}"
    return tuple(name for name in table.column_names if contains_term(told, name))


async def _offline(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> AgentReply:
    return AgentReply(text=await answer(public, dialogue, searcher))


def _conclude(public: PublicTask, _dialogue: Dialogue, notes: Notes) -> Prediction:
    sheet = Sheet(public, notes)
    columns = public.columns or (*sheet.keys, *sheet.columns)
    rows = tuple(sheet.cells(row, columns) for row in sheet.rows)
    return (
        TablePrediction(columns=columns, rows=rows) if columns and rows else common.nothing_found()
    )


def _index(table: Table, secrets: Secrets) -> Index:
    """An index that may list the rows' keys, since agents could not begin without them."""
    keys, columns = table.unique_columns, table.column_names
    return RecordIndex(secrets.statements, secrets.guard, secrets.public, keys, columns)


def _changes(old: Table, new: Table) -> tuple[ItemChange, ...]:
    keys = {row_key(old, old.rows[index]): index for index in distinct_gold_rows(old)}
    columns = {column.name: (place, column) for place, column in enumerate(old.columns)}
    found: list[ItemChange] = []
    met: set[tuple[int, str]] = set()
    for index in distinct_gold_rows(new):
        row = keys.get(row_key(new, new.rows[index]))
        for place, column in enumerate(new.columns):
            item = Item(kind=ItemKind.CELL, index=index, column=column.name)
            if row is None or column.name not in columns:
                found.append(ItemChange(fate=GoldChange.ADDED, old=None, new=item))
                continue
            met.add((row, column.name))
            was, rules = columns[column.name]
            same = rules == column and old.rows[row][was] == new.rows[index][place]
            before = Item(kind=ItemKind.CELL, index=row, column=column.name)
            found.append(
                ItemChange(
                    fate=GoldChange.SAME if same else GoldChange.CHANGED, old=before, new=item
                )
            )
    return (*found, *_removed(old, met))


def _removed(old: Table, met: Iterable[tuple[int, str]]) -> list[ItemChange]:
    known = set(met)
    return [
        ItemChange(
            fate=GoldChange.REMOVED,
            old=Item(kind=ItemKind.CELL, index=index, column=column.name),
            new=None,
        )
        for index in distinct_gold_rows(old)
        for column in old.columns
        if (index, column.name) not in known
    ]


def _carry(old: Task, new: Task, prediction: Prediction, judgement: Judgement | None) -> Carry:
    from cuecard.core.rescoring import carry_table

    return carry_table(old, new, prediction, judgement)


TABLE = CoreFamily(
    name="table",
    gold=Table,
    label=N_("Table tasks"),
    measures=("item_f1", *(name for name in TABLE_MEASURES if name != "item_f1")),
    headlines=("success", "row_f1", "item_f1"),
    main="row_f1",
    known_by="item_f1",
    bar=("success", 1.0),
    judged=TABLE_MEASURES,
    of_log=(),
    of_end=True,
    score=lambda _task, table, _prediction, _events, judgement: score_table(table, judgement),
    figures=lambda table, _prediction, _events, judgement: {"table": _counts(table, judgement)},
    handed_in="table",
    read=_read,
    read_json=_read_json,
    conclusion="conclude_table",
    from_memory="probe_hand_in_table",
    judge=_judge,
    ask=_ask,
    judge_prompts=("judge_columns", "judge_keys", "judge_cells"),
    refuse=lambda table, reason: (
        fill(table, Decision.NO, reason),
        TableMatch(usable=False, reason=reason),
    ),
    item=_item,
    item_text=_item_text,
    target=_target,
    approach=common.plain_approach,
    columns=_columns,
    offline=_offline,
    calls=200,
    conclude=_conclude,
    statements=lambda task, table: tuple(_statements(task, table)),
    index=_index,
    entities=False,
    topics=True,
    chain=common.no_chain,
    facts=common.no_facts,
    changes=_changes,
    effective=common.nothing_of_play,
    carry=_carry,
)
