"""What authors, reviewers and evaluators know of table tasks."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from cuecard.annotate.authoring.session import shipped_guidelines
from cuecard.annotate.authoring.task_data import blank_column
from cuecard.annotate.families.common import no_strata
from cuecard.annotate.families.registry import (
    AnnotateFamily,
    Answers,
    Decided,
    Dimension,
    Errors,
    GoldAnswer,
    GoldElement,
)
from cuecard.annotate.families.table_cells import CellLinks, fields_of_tables
from cuecard.annotate.independent_gold import tables
from cuecard.annotate.labelling.effect_rescoring import By, or_none, replaced
from cuecard.annotate.lint.gold import lint_table
from cuecard.annotate.lint.rules import written_table
from cuecard.annotate.results import PaperTable
from cuecard.annotate.results import trial_against_gold as beside
from cuecard.annotate.results.errors.causes import cause_by_table
from cuecard.annotate.results.errors.error_tables import Columns
from cuecard.annotate.results.errors.predictions import table_errors
from cuecard.annotate.results.errors.rates import share
from cuecard.annotate.results.trial_record import HitLog
from cuecard.core.engine.events import Event
from cuecard.core.evaluation.decisions import rows_of
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.judge import same_columns
from cuecard.core.families.table.score import distinct_gold_rows, row_key
from cuecard.core.i18n import N_, _, listed
from cuecard.core.predictions import Prediction, TablePrediction
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.verdicts import Decision, Decisions, Item, ItemKind, Judgement, TableMatch


def _table_terms(table: Table, item: Item, _prediction: Prediction) -> tuple[str, ...]:
    row = table.rows[item.index]
    return *table.key_of(row), *row


def _gold_answers(table: Table) -> tuple[GoldAnswer, ...]:
    counted = set(distinct_gold_rows(table))
    return tuple(
        GoldAnswer(
            key=Item(kind=ItemKind.CELL, index=index, column=name).key,
            path=("gold", "rows", index, at),
            asked=f"{', '.join(table.key_of(row))} — {name}",
            values=(row[at],),
            beside=table.key_of(row),
            # Rows are joined by their keys: where a key differs, there is no telling which row was meant.
            single=at not in table.key_indices,
        )
        for index, row in enumerate(table.rows)
        if index in counted
        for at, name in enumerate(table.column_names)
    )


def _told(
    table: Table, predictions: Iterable[Prediction], _keys: Collection[str]
) -> Iterator[dict[str, list[str]]]:
    """Cells of predicted rows, by the gold row that has the same key."""
    rows = {row_key(table, row): index for index, row in reversed([*enumerate(table.rows)])}
    known: dict[tuple[str | None, ...], int | None] = {}
    for prediction in predictions:
        found: dict[str, list[str]] = {}
        for given in _in_gold_order(table, prediction):
            key = tuple(given[at] for at in table.key_indices)
            if key not in known:
                whole = tuple(cell or "" for cell in given)
                known[key] = None if None in key else rows.get(row_key(table, whole))
            if (index := known[key]) is not None:
                for name, cell in zip(table.column_names, given, strict=True):
                    if cell:
                        found[Item(kind=ItemKind.CELL, index=index, column=name).key] = [cell]
        yield found


def _against(
    table: Table, prediction: Prediction, judgement: Judgement | None, _hits: HitLog
) -> beside.TableAgainst:
    decisions = Decisions.of(judgement.verdicts if judgement else ())
    match = judgement.table if judgement else None
    joined = dict(match.joined) if match and match.usable else {}
    given = _in_gold_order(table, prediction)
    counted = set(distinct_gold_rows(table))
    rows: list[beside.RowAgainst] = []
    for index, row in enumerate(table.rows):
        partner = joined.get(index)
        mine = given[partner] if partner is not None and 0 <= partner < len(given) else None
        cells: list[beside.CellAgainst] = []
        for at, column in enumerate(table.column_names):
            verdict = decisions.verdict(ItemKind.CELL, index, column)
            cells.append(
                beside.CellAgainst(
                    gold=row[at],
                    given=mine[at] if mine else None,
                    decision=verdict.decision if verdict else Decision.UNJUDGED,
                    rationale=verdict.rationale if verdict else "",
                )
            )
        rows.append(
            beside.RowAgainst(
                index=index,
                key=listed(table.key_of(row)),
                partner=partner if mine else None,
                cells=tuple(cells),
                repeats=index not in counted,
            )
        )
    reason, raw = beside.unusable(prediction)
    if match and not match.usable:
        reason = reason or match.reason
    return beside.TableAgainst(
        columns=table.column_names,
        keys=table.key_indices,
        rows=tuple(rows),
        extra=_extra(table, given, set(joined.values())),
        predicted=len(given) if isinstance(prediction, TablePrediction) else None,
        usable=match.usable if match else None,
        reason=reason,
        raw=raw,
    )


def _in_gold_order(table: Table, prediction: Prediction) -> list[tuple[str | None, ...]]:
    """The predicted rows with their cells under the gold columns of the same name."""
    if not isinstance(prediction, TablePrediction):
        return []
    partner = same_columns(table, prediction.columns).partner
    order = [partner.get(at) for at in range(len(table.columns))]
    return [
        tuple(row[at] if at is not None and at < len(row) else None for at in order)
        for row in prediction.rows
    ]


def _extra(
    table: Table, given: list[tuple[str | None, ...]], joined: set[int]
) -> tuple[beside.ExtraRow, ...]:
    seen: set[tuple[str, ...]] = set()
    found: list[beside.ExtraRow] = []
    for index, row in enumerate(given):
        cells = tuple(cell or "" for cell in row)
        known = all(row[at] is not None for at in table.key_indices)
        key = row_key(table, cells) if known else None
        if index not in joined:
            found.append(beside.ExtraRow(index=index, cells=cells, repeats=key in seen))
        if key is not None:
            seen.add(key)
    return tuple(found)


def _element(table: Table, item: Item) -> GoldElement | None:
    path = ("gold", "rows", item.index)
    if item.index >= len(table.rows):
        return None
    if item.kind is ItemKind.CELL and item.column in table.column_names:
        return GoldElement((*path, table.column_names.index(item.column)))
    return GoldElement(path) if item.kind is ItemKind.ROW else None


def _decided(_table: Table, _events: Sequence[Event], judgement: Judgement) -> Decided:
    rows = rows_of(judgement)
    return {Item(kind=ItemKind.ROW, index=index).key: or_none(said) for index, said in rows}


def _corrected(table: Table, judgement: Judgement, said: By) -> Judgement:
    decided = {**_cells_of_rows(table, said), **said}
    made, match = replaced(judgement, decided), judgement.table
    if match is None or not match.usable:
        return made
    return made.model_copy(update={"table": _rejoined(table, match, decided)})


def _cells_of_rows(table: Table, said: By) -> dict[str, Decision]:
    found: dict[str, Decision] = {}
    for key, decision in said.items():
        item = Item.of_key(key)
        if item.kind is ItemKind.ROW and decision is Decision.YES:
            for name in table.column_names:
                cell = Item(kind=ItemKind.CELL, index=item.index, column=name)
                found[cell.key] = Decision.YES
    return found


def _rejoined(table: Table, match: TableMatch, decided: By) -> TableMatch:
    covered: set[int] = set()
    without_key: set[int] = set()
    for key, decision in decided.items():
        item = Item.of_key(key)
        if item.kind is not ItemKind.CELL:
            continue
        if decision is Decision.YES:
            covered.add(item.index)
        elif item.column in table.unique_columns:
            without_key.add(item.index)
    apart = without_key - covered
    joined = [pair for pair in match.joined if pair[0] not in apart]
    free = iter(sorted(set(range(match.predicted_rows)) - {partner for _row, partner in joined}))
    have = {row for row, _partner in joined}
    joined += list(zip(sorted(covered - have), free, strict=False))
    return match.model_copy(update={"joined": tuple(sorted(joined))})


def _columns() -> Columns:
    return (
        (_("Unusable tables"), lambda arm: share(arm.table and arm.table.unusable)),
        (_("Missing rows"), lambda arm: share(arm.table and arm.table.missing)),
        (_("Extra rows"), lambda arm: share(arm.table and arm.table.extra)),
        (_("Wrong cells"), lambda arm: share(arm.table and arm.table.wrong)),
    )


TABLE = AnnotateFamily(
    drafts=("persona", "translation"),
    persona=False,
    blank=lambda: {"columns": [blank_column()], "unique_columns": [""], "rows": [[""]]},
    independent=tables.TABLE,
    written=written_table,
    fields=fields_of_tables({}, ()),
    staged="",
    links=CellLinks,
    guidelines=shipped_guidelines("table"),
    lint=(lint_table,),
    dimensions=(
        Dimension(
            key="question",
            label=N_("Question is unambiguous"),
            help=N_("It says which rows belong to the table and what goes into each column."),
        ),
        Dimension(
            key="completeness",
            label=N_("Table is complete"),
            help=N_("Every row that belongs is there, and none that does not."),
        ),
        Dimension(
            key="gold",
            label=N_("Cells are correct"),
            help=N_("The values are true and supported by the sources."),
        ),
        Dimension(
            key="stability",
            label=N_("Table is stable over time"),
            help=N_("Nothing in it changes next year, or the question fixes the date."),
        ),
        Dimension(
            key="comparison",
            label=N_("Comparison is fair"),
            help=N_(
                "Keys tell rows apart; each column's metric accepts every right way to write it."
            ),
        ),
    ),
    terms=_table_terms,
    stratum=no_strata,
    element=_element,
    answers=Answers(_gold_answers, _told),
    decided=_decided,
    corrected=_corrected,
    cause=cause_by_table,
    against=_against,
    compared=("success", "row_f1", "item_f1"),
    # WideSearch: success, rows and items, average and best of N, single agents and teams, by language.
    paper=PaperTable(
        by=("scaffold", "agent"),
        figures=(
            ("success", Taken.AVG),
            ("success", Taken.PASS),
            *((name, taken) for name in ("row_f1", "item_f1") for taken in (Taken.AVG, Taken.MAX)),
        ),
        split="language",
    ),
    errors=Errors(lambda judged, _k: {"table": table_errors(judged)}, _columns),
)
