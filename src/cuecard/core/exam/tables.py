"""The exam of a judge in table tasks: cells that its rule leaves to a judge, and how rows and columns are matched.

Cells whose rule needs no judge are probed too, as targets of their own (`Target.rule`): what is found there is a mistake of
the column's rule, whoever judges.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cuecard.core.exam import texts
from cuecard.core.exam.lists import Listed
from cuecard.core.exam.probes import (
    MOST_TARGETS,
    PADDING,
    Draw,
    ExamFamily,
    ExamInput,
    Target,
    window,
)
from cuecard.core.families.table.gold import Column, Metric, Table
from cuecard.core.families.table.score import (
    distinct_gold_rows,
    failing_metric,
    norm_column,
    row_key,
)
from cuecard.core.predictions import TablePrediction
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, ItemKind

Place = tuple[int, int]
"""Row and column of gold, by index."""
_NEVER = ("K02", "K06", "K07", "K08", "K22", "K23", "K25", "K26", "V08", "V11")


@dataclass(frozen=True)
class _Exam:
    task: Task
    table: Table
    draw: Draw
    others: Sequence[Task]

    @property
    def keys(self) -> tuple[int, ...]:
        return self.table.key_indices

    @property
    def rows(self) -> Sequence[int]:
        """Rows that are judged: a later one with the same key is not."""
        return distinct_gold_rows(self.table)

    def places(self, *, judged: bool) -> list[Place]:
        """Cells that are no keys and not empty: those left to the judge, or those that rules decide."""
        return [
            (row, column)
            for row in self.rows
            for column, kind in enumerate(self.table.columns)
            if column not in self.keys
            and is_judged(kind) == judged
            and self.table.rows[row][column].strip()
        ]

    def cell(self, place: Place) -> str:
        return self.table.rows[place[0]][place[1]]

    def changes(self) -> Mapping[str, Callable[[Place], str | None]]:
        right: dict[str, texts.Change] = {
            "K01": lambda text, _language, _turn: text,
            "K04": texts.number_otherwise,
            "K05": texts.date_otherwise,
        }
        return {
            **{id: self._by_text(id, change) for id, change in right.items()},
            "K03": lambda place: texts.name_otherwise(self.cell(place), self._about(place)),
            "K21": self.sibling,
            "K24": self._shifted,
            "K27": self._filler,
            "K28": self._hedged,
        }

    def _number(self, id: str, place: Place) -> int:
        return self.draw.number(id, place[0] * len(self.table.columns) + place[1])

    def _by_text(self, id: str, change: texts.Change) -> Callable[[Place], str | None]:
        def changed(place: Place) -> str | None:
            text = self.cell(place)
            made = change(text, self.task.language, self._number(id, place))
            return None if made == text and id != "K01" else made

        return changed

    def _about(self, place: Place) -> str:
        column = self.table.columns[place[1]]
        return f"{column.name} {column.criterion}"

    def sibling(self, place: Place) -> str | None:
        """The cell of the same column in another row, that is surely another thing."""
        own = self.cell(place)
        for row in self.draw.order(f"sibling/{place[0]}/{place[1]}", list(self.rows)):
            other = self.table.rows[row][place[1]]
            if row != place[0] and other.strip() and not texts.alike(other, [own]):
                return None if self._holds(place, other) else other
        return None

    def _holds(self, place: Place, text: str) -> bool:
        """Whether the column's rule accepts another text by itself, such as a number within its tolerance."""
        column = self.table.columns[place[1]]
        return (
            not is_judged(column)
            and failing_metric(
                column, text, self.cell(place), lambda _predicted, _gold, _criterion: False
            )
            is None
        )

    def _shifted(self, place: Place) -> str | None:
        made = texts.shifted(self.cell(place), self.task.language, self._number("K24", place))
        if made is None or texts.alike(made, [self.cell(place)]) or self._holds(place, made):
            return None
        return made

    def _filler(self, place: Place) -> str | None:
        made = texts.filler(self.cell(place), self.task.language, self._number("K27", place))
        return None if made is None or texts.same(made, [self.cell(place)]) else made

    def _hedged(self, place: Place) -> str | None:
        other = self.sibling(place)
        return other and texts.hedged(self.cell(place), other, self.task.language)

    # Inputs.

    def inputs(self) -> Iterator[ExamInput]:
        for id, change in sorted(self.changes().items()):
            chosen: dict[Place, str] = {}
            for judged in (True, False):
                found = 0
                for place in self.draw.order(id, self.places(judged=judged)):
                    if found < MOST_TARGETS and (made := change(place)) is not None:
                        chosen[place] = made
                        found += 1
            if chosen:
                rows = window(len(self.table.rows), [row for row, _column in chosen])
                targets = [
                    self._target(rows, p, id < "K20", text) for p, text in sorted(chosen.items())
                ]
                yield self._made(id, rows, self._handed_in(rows, chosen), targets)
        yield from self._of_rows()
        yield from self._of_columns()
        yield from self._unmoved()

    def _target(self, rows: Sequence[int], place: Place, right: bool, given: str) -> Target:
        row, column = place
        kind = self.table.columns[column]
        return Target(
            at=f"{row}/{column}",
            item=Item(kind=ItemKind.CELL, index=list(rows).index(row), column=kind.name),
            right=right,
            rule=column not in self.keys and not is_judged(kind),
            gold=self.cell(place),
            given=given,
        )

    def _handed_in(self, rows: Sequence[int], changed: Mapping[Place, str]) -> dict[int, list[str]]:
        return {
            row: [changed.get((row, at), text) for at, text in enumerate(self.table.rows[row])]
            for row in rows
        }

    def _made(
        self,
        key: str,
        rows: Sequence[int],
        handed_in: Mapping[int, Sequence[str]] | Sequence[Sequence[str]],
        targets: Sequence[Target],
        base: str = "",
        columns: Sequence[str] = (),
        task: Task | None = None,
    ) -> ExamInput:
        gold = self.table.model_copy(update={"rows": tuple(self.table.rows[row] for row in rows)})
        lines = handed_in.values() if isinstance(handed_in, Mapping) else handed_in
        prediction = TablePrediction(
            columns=tuple(columns or self.table.column_names), rows=tuple(map(tuple, lines))
        )
        changed = (task or self.task).model_copy(update={"gold": gold})
        return ExamInput(key, changed, prediction, tuple(targets), base)

    def _of_rows(self) -> Iterator[ExamInput]:
        """Rows left out, and rows with another key: whether a row has a partner is told by its key's cell."""
        key = self.keys[0]
        taken = {row_key(self.table, self.table.rows[row]) for row in self.rows}
        for id in ("K20", "K29"):
            chosen: dict[int, str] = {}
            for row in self.draw.order(id, list(self.rows)):
                if len(chosen) == MOST_TARGETS or len(self.rows) < 2:
                    break
                chosen_key = "" if id == "K20" else self._other_key(row, taken)
                if chosen_key is not None:
                    chosen[row] = chosen_key
            if not chosen:
                continue
            rows = window(len(self.table.rows), list(chosen))
            given = self._handed_in(
                rows, {} if id == "K20" else {(r, key): t for r, t in chosen.items()}
            )
            if id == "K20":
                given = {row: line for row, line in given.items() if row not in chosen}
            targets = [
                self._target(rows, (row, key), False, text) for row, text in sorted(chosen.items())
            ]
            yield self._made(id, rows, given, targets)

    def _other_key(self, row: int, taken: set[tuple[str, ...]]) -> str | None:
        """A key that no row has: a number or year shifted, else the same column's text of a row of another table."""
        key = self.keys[0]
        own = self.cell((row, key))
        shifted = texts.shifted(own, self.task.language, self.draw.number("K29", row))
        foreign = [
            line[0]
            for other in self.others
            if isinstance(other.gold, Table)
            for line in map(other.gold.key_of, other.gold.rows)
        ]
        keys = [self.cell((other, key)) for other in self.rows]
        for text in (shifted, *self.draw.order(f"K29/{row}", foreign)):
            if text is None or texts.alike(text, keys):
                continue
            line = list(self.table.rows[row])
            line[key] = text
            if row_key(self.table, tuple(line)) not in taken:
                return text
        return None

    def _of_columns(self) -> Iterator[ExamInput]:
        """Columns in another order and under names in another spelling, which hold the same, and two exchanged."""
        rows = window(len(self.table.rows), [])
        columns = list(range(len(self.table.columns)))
        places = [
            p for p in (*self.places(judged=True), *self.places(judged=False)) if p[0] in rows
        ]
        for id in ("K30", "K31"):
            order = self.draw.order("K30", columns) if id == "K30" else columns
            names = [self.table.column_names[at] for at in order]
            if id == "K31":
                names = [f" {name.swapcase()} " for name in names]
            given = [[self.table.rows[row][at] for at in order] for row in rows]
            chosen = self.draw.order(id, places)[:MOST_TARGETS]
            targets = [
                self._target(rows, place, True, self.cell(place)) for place in sorted(chosen)
            ]
            if targets and names != list(self.table.column_names):
                yield self._made(id, rows, given, targets, columns=names)
        for one, other in self._exchangeable(rows):
            swapped = {one: other, other: one}
            given = [[self.table.rows[row][swapped.get(at, at)] for at in columns] for row in rows]
            apart = [(row, one) for row in rows if self._apart(row, one, other)]
            chosen = self.draw.order("K32", apart)[:MOST_TARGETS]
            targets = [
                self._target(rows, p, False, self.cell((p[0], other))) for p in sorted(chosen)
            ]
            yield self._made("K32", rows, given, targets)
            return

    def _exchangeable(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs of columns that are no keys, the first one left to the judge if any is, and that differ in some row."""
        free = [at for at in range(len(self.table.columns)) if at not in self.keys]
        pairs = [(one, other) for one in free for other in free if one != other]
        order = sorted(
            self.draw.order("K32", pairs),
            key=lambda pair: not is_judged(self.table.columns[pair[0]]),
        )
        yield from (pair for pair in order if any(self._apart(row, *pair) for row in rows))

    def _apart(self, row: int, one: int, other: int) -> bool:
        own, its = self.cell((row, one)), self.cell((row, other))
        return bool(own.strip() and its.strip()) and not (
            texts.alike(its, [own]) or self._holds((row, one), its)
        )

    def _unmoved(self) -> Iterator[ExamInput]:
        """A column left to the judge in which every cell is another row's but one: those are the cells that are asked about."""
        for column in self.draw.order("V00", range(len(self.table.columns))):
            wrongs = {
                row: text
                for row, at in self.places(judged=True)
                if at == column and (text := self.sibling((row, at)))
            }
            rights = [row for row, at in self.places(judged=True) if at == column]
            if wrongs and len(rights) > 1:
                break
        else:
            return
        wrong = self.draw.order("V00/wrong", list(wrongs))[0]
        right = self.draw.order("V00/right", [row for row in rights if row != wrong])[0]
        rows = window(len(self.table.rows), [right, wrong])
        told = {(row, column): text for row, text in wrongs.items() if row in rows and row != right}

        def make(
            key: str,
            gold: Sequence[int],
            handed_in: Sequence[list[str]],
            only: Sequence[int],
            given: Mapping[int, list[str]],
            base: str,
            task: Task | None = None,
        ) -> ExamInput:
            targets = [
                self._target(gold, (row, column), row == right, given[row][column]) for row in only
            ]
            return self._made(key, gold, handed_in, targets, base, task=task)

        def changed(line: list[str], change: Callable[[str], str]) -> list[str]:
            return [change(text) if at == column else text for at, text in enumerate(line)]

        yield from Listed(
            self.task,
            self.draw,
            self._handed_in(rows, told),
            right,
            wrong,
            make,
            changed,
            respelled=lambda line, turn: changed(
                line, lambda text: texts.other_spelling(text, self.task.language, turn)
            ),
            padding=self._padding(),
            sentences=False,
        ).inputs()

    def _padding(self) -> list[list[str]]:
        """Rows of other tables, cut or filled to the columns of this one, with keys that no row of this one has."""
        width = len(self.table.columns)
        taken = {row_key(self.table, self.table.rows[row]) for row in self.rows}
        found = [
            [*line[:width], *([""] * (width - len(line)))]
            for other in self.others
            if isinstance(other.gold, Table)
            for line in other.gold.rows
        ]
        return [line for line in found if row_key(self.table, tuple(line)) not in taken][
            : PADDING["table"]
        ]


def is_judged(column: Column) -> bool:
    """Whether a judge decides on the column's cells, and no rule with it."""
    return set(column.metric) == {Metric.LLM_JUDGE}


def _inputs(task: Task, table: Table, draw: Draw, others: Sequence[Task]) -> Iterator[ExamInput]:
    return _Exam(task, table, draw, others).inputs()


def _calls(given: ExamInput, batch: int) -> int:
    """One for columns whose names differ, one for rows whose keys do, and those for the cells of each judged column that
    are not the same.
    """
    table = given.task.gold
    prediction = given.prediction
    if not isinstance(table, Table) or not isinstance(prediction, TablePrediction):
        return 0
    names = [norm_column(name) for name in prediction.columns]
    wanted = [norm_column(name) for name in table.column_names]
    if set(names) != set(wanted):
        return 1
    order = [names.index(name) for name in wanted]
    lines = {
        row_key(table, line): line
        for line in (tuple(row[at] for at in order) for row in reversed(prediction.rows))
    }
    keys = [row_key(table, row) for row in table.rows]
    open_rows = sum(key not in lines for key in keys)
    asked = -(-open_rows // batch) if open_rows and len(lines) > len(keys) - open_rows else 0
    for at, column in enumerate(table.columns):
        cells = (
            (lines[key][at], row[at])
            for key, row in zip(keys, table.rows, strict=True)
            if key in lines
        )
        apart = open_rows + sum(one != other for one, other in cells)
        asked += -(-apart // batch) if is_judged(column) and at not in table.key_indices else 0
    return asked


TABLE: Final[ExamFamily[Table]] = ExamFamily(_inputs, _calls, _NEVER)
