"""Exports labels, or items to be labelled, from the workspace to files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuecard.annotate.labelling.files.entries import SHORT, Format, TrialItems, Trials
from cuecard.annotate.labelling.files.formats import (
    VERDICT_COLUMNS,
    interface,
    plain_csv,
    plain_lines,
    tasks_text,
)
from cuecard.annotate.labelling.files.vibesearch_sheets import (
    KIND_OF,
    Sheet,
    SheetKind,
    SheetRow,
    sheet_text,
)
from cuecard.annotate.labelling.views import EvidenceRoom, Target
from cuecard.annotate.labelling.wording import form_of
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import Conflict, CuecardError, NotFound, system_words
from cuecard.core.evaluation.decisions import JUDGED, decisions_of
from cuecard.core.evaluation.items import closest_items
from cuecard.core.i18n import _, headed
from cuecard.core.label_records import Label, LabelValue
from cuecard.core.predictions import triples_of
from cuecard.core.system import replace_file
from cuecard.core.text import one_line, slug
from cuecard.core.verdicts import Decision, Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Sight, Workspace


Decided = tuple[str, Decision | CheckpointStatus, tuple[int, ...]]
"""The judge, the decision, and the indices of supporting items."""


@dataclass(frozen=True)
class Scope:
    """Which items to export: of a set, or of a run (None: all runs). Those with labels; with `unlabelled` also those
    that judges decided on or, in graph tasks, the agent predicted. `history`: every label, also changed ones and those
    given after a reveal, instead of each person's newest blind one.
    """

    run_id: int | None = None
    set_id: int | None = None
    unlabelled: bool = False
    history: bool = False


@dataclass(frozen=True)
class ItemLabels:
    """An item with its labels by time. `judge` and `decision`: the first judge's, if asked for; `supporting` as in
    `Verdict`; for a predicted triple, the gold triples it supports.
    """

    trial: TrialItems
    item: Item
    texts: tuple[str, ...]
    labels: tuple[Label, ...] = ()
    judge: str = ""
    decision: Decision | CheckpointStatus | None = None
    supporting: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return " — ".join(self.texts)


def items_in(
    workspace: Workspace,
    scope: Scope,
    person: str = "",
    *,
    verdicts: bool = False,
    sight: Sight | None = None,
) -> Iterator[ItemLabels]:
    """The items by trial; those of sets in the order of the set. `person`: only their labels. `sight`: of the reader;
    of items that must stay blind they get only their own labels. Raises `NotFound`.
    """
    trials = Trials(workspace, scope.run_id)
    labels: dict[tuple[int, str], list[Label]] = defaultdict(list)
    phase = None if scope.history else "blind"
    for label in sorted(workspace.verdicts.item_labels(phase=phase), key=lambda x: x.created_at):
        if label.trial_id in trials.by_id and person in ("", label.person):
            labels[label.trial_id, label.item_key].append(label)
    items = list(_items(workspace, scope, trials, labels))
    here = {trial_id for trial_id, _item in items} & set(trials.by_id)
    decided = _decided(workspace, scope, sorted(here)) if verdicts else {}
    for trial_id, item in items:
        trial = trials.by_id.get(trial_id)
        texts = trial.texts(item) if trial else None
        if trial is None or texts is None:
            continue
        said = labels.get((trial_id, item.key), [])
        judge, decision, supporting = decided.get((trial_id, item.key), ("", None, ()))
        reader = sight.person if sight else ""
        tells = decision is not None or any(label.person != reader for label in said)
        if sight and tells and not sight.may_tell(trial_id, item):
            said = [label for label in said if label.person == reader]
            judge, decision, supporting = "", None, ()
        yield ItemLabels(
            trial=trial,
            item=item,
            texts=texts,
            labels=tuple(said),
            judge=judge,
            decision=decision,
            supporting=supporting,
        )


def _items(
    workspace: Workspace, scope: Scope, trials: Trials, labelled: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, Item]]:
    if scope.set_id is not None:
        known = set(labelled)
        for drawn in workspace.label_sets.items(scope.set_id):
            if scope.unlabelled or (drawn.trial_id, drawn.item.key) in known:
                yield drawn.trial_id, drawn.item
        return
    found = {(trial_id, Item.of_key(key)) for trial_id, key in labelled}
    if scope.unlabelled:
        for record in workspace.verdicts.records(scope.run_id):
            found.add((record.trial_id, record.item))
        for trial in trials.of_triples():
            found |= {
                (trial.trial.id, Item(kind=ItemKind.PREDICTED, index=index))
                for index in range(len(triples_of(trial.prediction) or ()))
            }
    kinds = list(ItemKind)
    yield from sorted(found, key=lambda x: (x[0], kinds.index(x[1].kind), x[1].index, x[1].column))


def _decided(
    workspace: Workspace, scope: Scope, trial_ids: Collection[int]
) -> dict[tuple[int, str], Decided]:
    """What machines decided on the items of these trials, and what supports that by the first judge."""
    decided = [
        (trial_id, decision)
        for trial_id in trial_ids
        for decision in decisions_of(workspace, trial_id, tuple(ItemKind))
    ]
    first = {trial: decision.by.name for trial, decision in decided if decision.item.kind in JUDGED}
    supporting: dict[tuple[int, str], tuple[int, ...]] = {}
    gold: dict[tuple[int, int], list[int]] = defaultdict(list)
    for record in workspace.verdicts.records(scope.run_id):
        if first.get(record.trial_id) != record.judge.name:
            continue
        supporting[record.trial_id, record.item.key] = record.supporting
        if record.decision is Decision.YES and record.item.kind is ItemKind.TRIPLE:
            for index in record.supporting:
                gold[record.trial_id, index].append(record.item.index)
    for (trial_id, index), found in gold.items():
        supporting[trial_id, Item(kind=ItemKind.PREDICTED, index=index).key] = tuple(found)
    return {
        (trial_id, key): (decision.by.name, decision.value, supporting.get((trial_id, key), ()))
        for trial_id, decision in decided
        for key in (decision.item.key,)
    }


_NEAR = 5
_CLOSEST: dict[SheetKind, str] = {
    "recall": "closest_pred_triples",
    "precision": "closest_gt_triples",
}


@dataclass(frozen=True)
class LabelExport:
    """What was written: `items` lines or tasks, `labels` of them labelled; `left_out`: items that the format cannot
    hold.
    """

    files: tuple[Path, ...]
    items: int
    labels: int
    left_out: int = 0


def export_labels(
    workspace: Workspace,
    output: Path,
    scope: Scope,
    *,
    format: Format,
    person: str = "",
    verdicts: bool = False,
    sight: Sight | None = None,
) -> LabelExport:
    """Write the items in `scope` with their labels. `output`: a folder for `vibesearch` (two sheets for each trial),
    else a file. `person`: whose labels, "" for everybody's, which sheets cannot hold. The judge's decisions are written
    only with `verdicts`, because labellers must not see them. `sight`: of the reader of the file.

    Raises `NotFound` if there is no such run or set, or nothing to write; `CuecardError` if a file cannot be written.
    """
    found = list(items_in(workspace, scope, person, verdicts=verdicts, sight=sight))
    writer: Callable[[Path, Sequence[ItemLabels], bool], LabelExport]
    writer = {"vibesearch": _sheets, "csv": _table, "jsonl": _lines}.get(
        format, partial(_tasks, EvidenceRoom(workspace))
    )
    if not found:
        raise NotFound(
            _("Nothing to export"),
            _("There is no label here, and no item that waits for one."),
            _("Judge the run (`cuecard judge`), or label items in the app."),
        )
    try:
        written = writer(output, found, verdicts)
    except OSError as error:
        raise CuecardError(
            _("The labels cannot be written"),
            headed(error.filename or output, system_words(error)),
            _("Choose another place with -o."),
        ) from error
    if sight is not None:
        try:
            sight.record()
        except CuecardError:
            for file in written.files:
                file.unlink(missing_ok=True)
            raise
    return written


def _sheets(folder: Path, items: Sequence[ItemLabels], verdicts: bool) -> LabelExport:
    by_trial: dict[int, list[ItemLabels]] = defaultdict(list)
    for item in items:
        by_trial[item.trial.trial.id].append(item)
    files: list[Path] = []
    written = labels = 0
    for found in by_trial.values():
        for kind in ("recall", "precision"):
            mine = sorted(
                (item for item in found if item.item.kind is KIND_OF[kind]),
                key=lambda item: item.item.index,
            )
            if not mine:
                continue
            sheet = Sheet(kind, tuple(_sheet_row(item, kind, verdicts) for item in mine))
            near = [] if verdicts else [[_closest(item)] for item in mine]
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{_name(found[0].trial)}_{kind}.csv"
            text = sheet_text(sheet, () if verdicts else (_CLOSEST[kind],), near)
            _write(path, text)
            files.append(path)
            written += len(mine)
            labels += sum(row.human is not None for row in sheet.rows)
    if not files:
        raise NotFound(
            _("Nothing to export"),
            _("Meta-evaluation sheets hold triples of graph tasks; there are none here."),
            _("Take another --format."),
        )
    return LabelExport(tuple(files), written, labels, len(items) - written)


def _sheet_row(item: ItemLabels, kind: SheetKind, verdicts: bool) -> SheetRow:
    head, relation, tail = item.texts
    label = item.labels[-1] if item.labels else None
    shown = item.decision if verdicts else None
    return SheetRow(
        index=item.item.index,
        triple=(head, relation, tail),
        model=_DECIDED.get(shown) if shown else None,
        supporting=_supporting(item, kind) if verdicts else (),
        human=LabelValue(label.value.value) if label else None,
        comment=label.comment if label else "",
    )


_DECIDED: dict[Decision | CheckpointStatus, LabelValue] = {
    Decision.YES: LabelValue.YES,
    Decision.NO: LabelValue.NO,
}


def _supporting(item: ItemLabels, kind: SheetKind) -> tuple[str, ...]:
    other = ItemKind.PREDICTED if kind == "recall" else ItemKind.TRIPLE
    texts = (
        item.trial.texts(item.item.model_copy(update={"kind": other, "index": index}))
        for index in item.supporting
        if index >= 0
    )
    return tuple(f"({', '.join(map(one_line, parts))})" for parts in texts if parts)


def _closest(item: ItemLabels) -> str:
    """The most similar items of the other side (by text, not by a judge), as a hint to labellers."""
    trial = item.trial
    near = closest_items(trial.task, item.item, trial.prediction, _NEAR)
    return "\n".join(one_line(found.text) for found in near)


def _name(trial: TrialItems) -> str:
    record = trial.trial
    return f"{slug(record.task_id)}-{slug(record.agent.name)}-{record.sample}-{record.uid[:SHORT]}"


def _table(path: Path, items: Sequence[ItemLabels], verdicts: bool) -> LabelExport:
    more = VERDICT_COLUMNS if verdicts else ()
    rows = list(_rows(items, verdicts))
    _write(path, plain_csv(rows, more))
    return LabelExport((path,), len(rows), sum("label" in row for row in rows))


def _lines(path: Path, items: Sequence[ItemLabels], verdicts: bool) -> LabelExport:
    rows = list(_rows(items, verdicts))
    _write(path, plain_lines({**row, "label": row.get("label", "")} for row in rows))
    return LabelExport((path,), len(rows), sum("label" in row for row in rows))


def _rows(items: Sequence[ItemLabels], verdicts: bool) -> Iterator[dict[str, Any]]:
    """A row for each label, and one for each item without any."""
    for item in items:
        for label in item.labels or (None,):
            row = {**_about(item), **(_of_label(label) if label else {})}
            yield {**row, **_judged(item)} if verdicts else row


def _about(item: ItemLabels) -> dict[str, Any]:
    record = item.trial.trial
    return {
        "id": f"{record.uid}:{item.item.key}",
        "run": record.run_id,
        "task": record.task_id,
        "revision": record.revision,
        "agent": record.agent.name,
        "sample": record.sample,
        "trial": record.uid,
        "item": item.item.key,
        "text": item.text,
    }


def _of_label(label: Label) -> dict[str, Any]:
    return {
        "person": label.person,
        "label": label.value.value,
        "comment": label.comment,
        "gold_wrong": label.gold_wrong,
        "phase": label.phase,
        "seconds": label.seconds,
        "at": label.created_at.isoformat().replace("+00:00", "Z"),
        "source": label.source,
    }


def _judged(item: ItemLabels) -> dict[str, Any]:
    if item.decision is None:
        return {}
    return dict(zip(VERDICT_COLUMNS, (item.judge, item.decision.value), strict=True))


def _tasks(
    room: EvidenceRoom, path: Path, items: Sequence[ItemLabels], verdicts: bool
) -> LabelExport:
    tasks = [
        (
            {
                **{name: text for name, text in _about(item).items() if name != "agent"},
                **form_of(room.view(Target(item.trial.trial.id, item.item))),
                **(_judged(item) if verdicts else {}),
            },
            [_of_label(label) for label in item.labels],
        )
        for item in items
    ]
    _write(path, tasks_text(tasks))
    beside = path.with_suffix(".xml")
    _write(beside, interface({item.item.kind for item in items}))
    return LabelExport((path, beside), len(items), sum(bool(item.labels) for item in items))


def _write(path: Path, text: str) -> None:
    """Write a new file; an existing one is refused, because it may hold somebody's labels."""
    try:
        replace_file(path, text, new=True)
    except FileExistsError as error:
        raise Conflict(
            _("There is such a file already"),
            str(path),
            _("It may hold labels and was left as it is; choose another place with -o."),
        ) from error
