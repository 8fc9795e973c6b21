"""Labels, and items to be labelled, out of the workspace into files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuecard.annotate.labels_io.entries import Format
from cuecard.annotate.labels_io.label_studio import interface, tasks_text
from cuecard.annotate.labels_io.plain import VERDICT_COLUMNS, plain_csv, plain_lines
from cuecard.annotate.labels_io.scope import ItemLabels, Scope, items_in
from cuecard.annotate.labels_io.sheets import KIND_OF, Sheet, SheetKind, SheetRow, sheet_text
from cuecard.annotate.labels_io.trials import SHORT, TrialItems
from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.i18n import _
from cuecard.core.parts import CheckpointStatus
from cuecard.core.text import one_line, slug
from cuecard.core.verdicts import Decision, ItemKind
from cuecard.lab.items import closest_items
from cuecard.store.label_records import Label, LabelValue

if TYPE_CHECKING:
    from cuecard.store.sight import Sight
    from cuecard.store.workspace import Workspace

_NEAR = 5
_CLOSEST: dict[SheetKind, str] = {
    "recall": "closest_pred_triples",
    "precision": "closest_gt_triples",
}


@dataclass(frozen=True)
class LabelExport:
    """What was written: `items` lines or tasks, `labels` of them labelled, `left_out` items that the format
    has no place for.
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
    """Write the items in `scope` with their labels: `output` is a folder for `vibesearch` (two sheets for
    each trial), else a file. `person`: whose labels, "" for everybody's, which sheets cannot hold. What the
    judge decided is written only with `verdicts`: whoever labels in the file must not see it. `sight`: of whoever is
    given the file.

    Raises `NotFound` when there is no such run or set, or nothing to write; `CuecardError` when a file
    cannot be written.
    """
    found = list(items_in(workspace, scope, person, verdicts=verdicts, sight=sight))
    writer: Callable[[Path, Sequence[ItemLabels], bool], LabelExport]
    writer = {
        "vibesearch": _sheets,
        "csv": _table,
        "jsonl": _lines,
        "labelstudio": _tasks,
    }[format]
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
            f"{error.filename or output}: {error.strerror or error}",
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
    """What looks most like it on the other side, by no judge: for whoever has nothing else at hand."""
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


def _tasks(path: Path, items: Sequence[ItemLabels], verdicts: bool) -> LabelExport:
    tasks = [
        (
            {**_about(item), "evidence": _closest(item), **(_judged(item) if verdicts else {})},
            [_of_label(label) for label in item.labels],
        )
        for item in items
    ]
    _write(path, tasks_text(tasks))
    statuses = any(item.item.kind is ItemKind.STATUS for item in items)
    beside = path.with_suffix(".xml")
    _write(beside, interface(statuses))
    return LabelExport((path, beside), len(items), sum(bool(item.labels) for item in items))


def _write(path: Path, text: str) -> None:
    """Only where nothing is: somebody's labels may stand in a file of that name."""
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError as error:
        raise Conflict(
            _("There is such a file already"),
            str(path),
            _("It may hold labels and was left as it is; choose another place with -o."),
        ) from error
