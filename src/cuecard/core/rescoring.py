"""What of a judgement holds after gold was corrected: two revisions compared by their gold items, whether a trial would
have been played differently, and a judgement carried over; unchanged gold items keep their verdicts, the others are asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import N_
from cuecard.core.predictions import Prediction, TablePrediction
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.gold import Gold, narrow
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict

if TYPE_CHECKING:
    from cuecard.core.families.table.judge import Columns


class GoldChange(StrEnum):
    """What happened to a gold item between two revisions. `changed`: a cell with the same key and another text, or a
    triple of which two of three parts stayed.
    """

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


class ItemChange(Frozen):
    """One change of the gold. `old` is None for an added item, `new` for a removed one."""

    fate: GoldChange
    old: Item | None
    new: Item | None


def item_changes(old: Task, new: Task) -> tuple[ItemChange, ...]:
    """Every gold item of either revision once: those of `new` in their order, then what was removed.

    Triples are the same with the same names of head and tail (aliases in any order) and the same relation; cells
    with the same row key and column, the same text and the same rules of comparison; answers with the same text
    and aliases. Raises `ValueError` for tasks of two families.
    """
    if old.family != new.family and not (old.gold.answers and new.gold.answers):
        raise ValueError("gold of two families")
    from cuecard.core.families.registry import family_of

    return family_of(new).changes(old.gold, new.gold)


def answer_changes(old: Gold, new: Gold) -> tuple[ItemChange, ...]:
    """`item_changes` for gold that is one final answer, which is compared with its aliases."""
    (one, *also), (other, *others) = old.answers, new.answers
    same = one == other and set(also) == set(others)
    item = Item(kind=ItemKind.ANSWER)
    return (ItemChange(fate=GoldChange.SAME if same else GoldChange.CHANGED, old=item, new=item),)


def changes_in_play(old: Task, new: Task) -> tuple[str, ...]:
    """The parts of the task that shape the user part or the world and that differ, in English. If there are none, only
    gold that judges read has changed, and a trial on one revision can be judged on the other.

    Checkpoints (used by the user part) and facts (used by the world) count; answers, triples, rows, aliases, sources and
    notes do not.
    """
    from cuecard.core.families.registry import family_of

    before, after = family_of(old).effective(old.gold), family_of(new).effective(new.gold)
    common = [name for name, part in _SHAPES.items() if part(old) != part(new)]
    own = (name for name in {**before, **after} if before.get(name) != after.get(name))
    return (*common, *own)


_SHAPES: Final[Mapping[str, Callable[[Task], object]]] = {
    N_("the language"): lambda task: task.language,
    N_("the query"): lambda task: task.query,
    N_("the sub-queries"): lambda task: task.sub_queries,
    N_("the persona"): lambda task: task.persona,
    N_("the family"): lambda task: task.family,
}


@dataclass(frozen=True)
class Asked:
    """A reduced question to a judge: `task` has only the open gold items. `place` translates a verdict on that task into
    one on the new revision, with the indices of the whole prediction; None for an item that is not asked about. `match`
    does the same for the alignment of tables.
    """

    task: Task
    prediction: Prediction
    place: Callable[[Verdict], Verdict | None]
    match: Callable[[TableMatch | None], TableMatch | None] = lambda match: match


@dataclass(frozen=True)
class Carry:
    """What can be carried over. `changes`: of the gold. `kept`: verdicts on the new revision's items that still hold.
    `open`: the items to be asked about; `asked`: the question about them, None if there are none.
    """

    changes: tuple[ItemChange, ...]
    kept: Mapping[str, Verdict]
    open: tuple[Item, ...]
    asked: Asked | None
    table: TableMatch | None = None

    def composed(
        self,
        old: Judgement | None,
        judged: Judgement | None,
        *,
        revision_hash: str,
        trial_hash: str,
    ) -> Judgement:
        """The judgement on the new revision: the verdicts kept from `old`, and those of `judged` on what was asked. Items
        without a verdict are unjudged. Raises `ValueError` if both are None.
        """
        made = judged or old
        if made is None or (self.asked is not None and judged is None):
            raise ValueError("nothing was judged")
        found = dict(self.kept)
        table = self.table
        if self.asked is not None and judged is not None:
            placed = (self.asked.place(verdict) for verdict in judged.verdicts)
            found.update({verdict.item.key: verdict for verdict in placed if verdict})
            table = self.asked.match(judged.table)
        items = [change.new for change in self.changes if change.new is not None]
        unjudged = Decision.UNJUDGED
        return Judgement(
            judge=made.judge,
            revision_hash=revision_hash,
            prompt_hash=made.prompt_hash,
            trial_hash=trial_hash,
            verdicts=tuple(
                found.get(item.key) or Verdict(item=item, decision=unjudged) for item in items
            ),
            table=table,
        )


def carry(old: Task, new: Task, prediction: Prediction, judgement: Judgement | None) -> Carry:
    """What of `judgement`, made on `old`, still holds for `prediction` on `new`. Unjudged items are open; without a
    judgement all items are.
    """
    from cuecard.core.families.registry import family_of

    return family_of(new).carry(old, new, prediction, judgement)


def whole(new: Task, prediction: Prediction, changes: tuple[ItemChange, ...]) -> Carry:
    """Nothing is carried over: the judge is asked about everything."""
    items = tuple(change.new for change in changes if change.new is not None)
    return Carry(changes, {}, items, Asked(new, prediction, lambda verdict: verdict))


def carry_items(
    old: Task,
    new: Task,
    prediction: Prediction,
    judgement: Judgement | None,
    ask: Callable[[Task, Prediction, tuple[Item, ...]], Asked],
) -> Carry:
    """`carry` for gold items that are judged one by one; `ask` makes the question about those that are open."""
    changes = item_changes(old, new)
    verdicts = {v.item.key: v for v in judgement.verdicts} if judgement else {}
    kept: dict[str, Verdict] = {}
    for change in changes:
        if change.fate is GoldChange.SAME and change.old and change.new:
            verdict = verdicts.get(change.old.key)
            if verdict and verdict.decision is not Decision.UNJUDGED:
                kept[change.new.key] = verdict.model_copy(update={"item": change.new})
    items = [change.new for change in changes if change.new is not None]
    left = tuple(item for item in items if item.key not in kept)
    asked = ask(new, prediction, left) if left else None
    return Carry(changes, kept, left, asked)


def carry_answer(
    old: Task, new: Task, prediction: Prediction, judgement: Judgement | None
) -> Carry:
    """`carry` for gold that can only be asked about as a whole."""
    return carry_items(old, new, prediction, judgement, _as_a_whole)


def _as_a_whole(new: Task, prediction: Prediction, _items: tuple[Item, ...]) -> Asked:
    return Asked(new, prediction, lambda verdict: verdict)


def carry_table(old: Task, new: Task, prediction: Prediction, judgement: Judgement | None) -> Carry:
    """`carry` for tables."""
    changes = item_changes(old, new)
    before, after = narrow(old.gold, Table), narrow(new.gold, Table)
    match = judgement.table if judgement else None
    if judgement is None or match is None or not _laid_out_alike(before, after):
        return whole(new, prediction, changes)
    if not match.usable:
        return _refused(changes, judgement, match)
    if not isinstance(prediction, TablePrediction):
        return whole(new, prediction, changes)
    from cuecard.core.families.table.judge import same_columns

    columns = same_columns(after, prediction.columns)
    if columns.left_over():
        return whole(new, prediction, changes)
    return _Carrying(new, after, prediction, columns, judgement, match, changes).carry()


def _laid_out_alike(old: Table, new: Table) -> bool:
    """Whether a predicted table is aligned with both gold tables in the same way."""
    if old.column_names != new.column_names or old.unique_columns != new.unique_columns:
        return False
    return all(old.columns[i] == new.columns[i] for i in new.key_indices)


def _refused(changes: tuple[ItemChange, ...], judgement: Judgement, match: TableMatch) -> Carry:
    """`carry` for an unusable table, which is wrong in every cell, whatever gold says."""
    said = {v.item.key: v for v in judgement.verdicts}
    kept: dict[str, Verdict] = {}
    for change in changes:
        if change.new is None:
            continue
        was = said.get(change.old.key) if change.old else None
        kept[change.new.key] = (
            was.model_copy(update={"item": change.new})
            if was
            else Verdict(item=change.new, decision=Decision.NO, rationale=match.reason)
        )
    return Carry(changes, kept, (), None, match)


@dataclass
class _Carrying:
    task: Task
    table: Table
    prediction: TablePrediction
    columns: Columns
    judgement: Judgement
    match: TableMatch
    changes: tuple[ItemChange, ...]
    kept: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    joined: dict[int, int] = field(default_factory=dict[int, int])

    def carry(self) -> Carry:
        said = {v.item.key: v for v in self.judgement.verdicts}
        partners = dict(self.match.joined)
        by_row: dict[int, list[ItemChange]] = {}
        for change in self.changes:
            if change.new is not None:
                by_row.setdefault(change.new.index, []).append(change)
        cells: dict[int, list[Item]] = {}
        rows: list[int] = []
        for row, its in by_row.items():
            was = [said.get(c.old.key) if c.old else None for c in its]
            old_row = its[0].old.index if its[0].old else None
            if old_row is not None and old_row in partners:
                self.joined[row] = partners[old_row]
                if asked := self._joined(its, was):
                    cells[row] = asked
            elif old_row is None or any(v is None or _open(v) for v in was):
                rows.append(row)
            else:
                # No predicted row has its key, so its cells are wrong whatever gold says.
                self._keep(its, was)
        asked = self._asked(cells, rows)
        opened = [item for its in cells.values() for item in its]
        opened += [change.new for row in rows for change in by_row[row] if change.new]
        return Carry(
            self.changes, self.kept, tuple(opened), asked, self._matched(dict(self.joined))
        )

    def _joined(self, its: list[ItemChange], was: list[Verdict | None]) -> list[Item]:
        """The cells of a joined row that are asked about."""
        asked: list[Item] = []
        for change, verdict in zip(its, was, strict=True):
            if change.new is None:
                continue
            key = change.new.column in self.table.unique_columns
            same = change.fate is GoldChange.SAME or key
            if same and verdict is not None and not _open(verdict):
                self._keep([change], [verdict])
            else:
                asked.append(change.new)
        return asked

    def _keep(self, its: list[ItemChange], was: list[Verdict | None]) -> None:
        for change, verdict in zip(its, was, strict=True):
            if change.new is not None and verdict is not None:
                self.kept[change.new.key] = verdict.model_copy(update={"item": change.new})

    def _asked(self, cells: dict[int, list[Item]], rows: list[int]) -> Asked | None:
        if not cells and not rows:
            return None
        from cuecard.core.families.table.judge import same_rows

        laid = same_rows(self.table, self.prediction, self.columns).rows
        taken = set(self.joined.values())
        free = [index for index in laid if index not in taken] if rows else []
        gold = [*cells, *rows]
        predicted = [self.joined[row] for row in cells] + free
        shown = [self._shown(row, [item.column for item in cells[row]]) for row in cells]
        shown += [self.prediction.rows[index] for index in free]
        wanted = {item.key for items in cells.values() for item in items}

        def place(verdict: Verdict) -> Verdict | None:
            row = gold[verdict.item.index]
            item = verdict.item.model_copy(update={"index": row})
            if row in cells and item.key not in wanted:
                return None
            supporting = tuple(predicted[i] for i in verdict.supporting if i < len(predicted))
            return verdict.model_copy(update={"item": item, "supporting": supporting})

        def matched(match: TableMatch | None) -> TableMatch | None:
            pairs = match.joined if match else ()
            more = {gold[g]: predicted[p] for g, p in pairs}
            return self._matched({**self.joined, **more})

        part = Table(
            columns=self.table.columns,
            unique_columns=self.table.unique_columns,
            rows=tuple(self.table.rows[row] for row in gold),
        )
        return Asked(
            self.task.model_copy(update={"gold": part}),
            TablePrediction(columns=self.prediction.columns, rows=tuple(shown)),
            place,
            matched,
        )

    def _shown(self, row: int, asked: list[str]) -> tuple[str, ...]:
        """The predicted row with gold's own text in the cells that are not asked about, which then need no model."""
        predicted = self.prediction.rows[self.joined[row]]
        width = len(self.prediction.columns)
        cells = [predicted[i] if i < len(predicted) else "" for i in range(width)]
        for place, name in enumerate(self.table.column_names):
            if name not in asked:
                cells[self.columns.partner[place]] = self.table.rows[row][place]
        return tuple(cells)

    def _matched(self, joined: dict[int, int]) -> TableMatch:
        return self.match.model_copy(update={"joined": tuple(sorted(joined.items()))})


def _open(verdict: Verdict) -> bool:
    return verdict.decision is Decision.UNJUDGED
