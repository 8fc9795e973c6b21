"""Labels that were given outside, brought into the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.annotate.labels_io.entries import Entry, Format, LabelFile, refused
from cuecard.annotate.labels_io.matching import Matched, match_files
from cuecard.annotate.labels_io.reading import read_files
from cuecard.annotate.labels_io.trials import Trials
from cuecard.core.errors import CuecardError, FileProblem, NotFound
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.store.label_records import Phase
from cuecard.store.people import checked_name

if TYPE_CHECKING:
    from cuecard.store.labels_in import OutsideLabel
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class ImportedFile:
    """`labels` of its lines are labelled, `blank` are not. `shows_judge`: the judge's decision stands beside
    them, so that whoever labelled may have seen it.
    """

    path: str
    format: Format
    labels: int
    blank: int
    shows_judge: bool


@dataclass(frozen=True)
class LabelImport:
    """What an import did, or with `dry` would do: `added` labels are new, `known` are not."""

    dry: bool
    files: tuple[ImportedFile, ...]
    added: int
    known: int
    people: tuple[str, ...]
    trials: tuple[int, ...]


def import_labels(
    workspace: Workspace,
    paths: Sequence[Path],
    *,
    person: str,
    run_id: int | None = None,
    trial: str = "",
    phase: Phase | None = None,
    dry: bool = False,
) -> LabelImport:
    """Take the labels of these files, all of them or, if anything is wrong in any file, none.

    `person`: whose they are where a file does not say. `run_id`: only trials of this run are meant;
    `trial` names the one that meta-evaluation sheets are of. `phase`: how labels were given where a file
    does not say; None for `revealed` where the judge's decision stands beside them, else for blind unless this workspace
    knows better. Raises `FileProblems` with every
    problem and its line, `NotFound` for an unknown run or trial.
    """
    files = read_files(paths)
    trials = Trials(workspace, run_id)
    chosen = trials.named(trial) if trial else None
    if trial and chosen is None:
        raise NotFound(_("There is no such trial"), one_line(trial, 80))
    matched, problems = match_files(files, trials, chosen)
    labels: list[OutsideLabel] = []
    problems += _taken(matched, person, phase, labels)
    if problems:
        raise refused(problems)
    added = workspace.verdicts.enter(labels, dry=dry)
    return LabelImport(
        dry=dry,
        files=tuple(_counted(file) for file in files),
        added=added,
        known=len(labels) - added,
        people=tuple(sorted({label.person for label in labels})),
        trials=tuple(sorted({label.trial_id for label in labels})),
    )


def _taken(
    matched: Sequence[Matched], person: str, phase: Phase | None, labels: list[OutsideLabel]
) -> list[FileProblem]:
    """Fill `labels` with what is to be entered; what is wrong with it."""
    from cuecard.store.labels_in import OutsideLabel

    problems: list[FileProblem] = []
    first: dict[tuple[int, str, str], Matched] = {}
    for match in matched:
        entry = match.entry
        if entry.value is None:
            continue
        who = entry.person or person
        if reason := _name_problem(who):
            problems.append(_problem(match, reason))
            continue
        key = (match.trial.trial.id, match.item.key, who)
        before = first.setdefault(key, match)
        if before is not match and entry.at is None:
            if _said(before.entry) != _said(entry):
                problems.append(_problem(match, _twice(who, before, match)))
            continue
        labels.append(
            OutsideLabel(
                trial_id=match.trial.trial.id,
                item=match.item,
                person=who,
                value=entry.value,
                comment=entry.comment,
                seconds=entry.seconds,
                gold_wrong=entry.gold_wrong,
                phase=entry.phase or phase or ("revealed" if match.file.shows_judge else None),
                at=entry.at,
                source=match.file.name,
            )
        )
    return problems


def _said(entry: Entry) -> tuple[object, ...]:
    return entry.value, entry.comment, entry.gold_wrong


def _twice(who: str, before: Matched, match: Matched) -> str:
    where = _("line {line}").format(line=before.entry.line)
    if before.file is not match.file:
        where = f"{one_line(before.file.name, 60)}, {where}"
    return _("{person} has labelled it otherwise in {where}").format(
        person=one_line(who, 40), where=where
    )


def _name_problem(name: str) -> str:
    try:
        checked_name(name)
    except CuecardError as error:
        return error.message
    return ""


def _problem(match: Matched, reason: str) -> FileProblem:
    place = _("line {line}").format(line=match.entry.line)
    return FileProblem(match.file.path, place, reason, match.entry.line)


def _counted(file: LabelFile) -> ImportedFile:
    labels = sum(entry.value is not None for entry in file.entries)
    return ImportedFile(
        path=file.path,
        format=file.format,
        labels=labels,
        blank=len(file.entries) - labels,
        shows_judge=file.shows_judge,
    )
