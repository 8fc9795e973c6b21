"""Imports files of labels: recognises their format, matches entries to items of trials, and adds them to the workspace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.files.entries import (
    Entry,
    Format,
    LabelFile,
    Problems,
    TrialItems,
    Trials,
    parse_rows,
    read_text,
    refused,
)
from cuecard.annotate.labelling.files.formats import label_lines, label_rows, label_tasks
from cuecard.annotate.labelling.files.vibesearch_sheets import label_file, sheet_kind
from cuecard.core.errors import CuecardError, FileProblem, FileProblems
from cuecard.core.formats.files import files_among
from cuecard.core.i18n import _, listed, plural
from cuecard.core.label_records import Phase
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item
from cuecard.store.roles import checked_name
from cuecard.store.rows import trial_missing

if TYPE_CHECKING:
    from cuecard.store.labels import OutsideLabel
    from cuecard.store.workspace import Workspace


_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl")


def read_files(paths: Sequence[Path]) -> list[LabelFile]:
    """These files, and those in folders among `paths`. Raises `FileProblems` with what is wrong in each."""
    files, problems = _files(paths, _SUFFIXES)
    read: list[LabelFile] = []
    for path in files:
        try:
            read.append(read_file(path))
        except FileProblems as error:
            problems += error.problems
    if problems:
        raise refused(problems)
    return read


def read_file(path: Path) -> LabelFile:
    """A file of labels: meta-evaluation sheet, CSV, JSON lines, or Label Studio's export. Raises `FileProblems`."""
    text = read_text(path)
    problems = Problems(str(path))
    begin = text.lstrip()[:1]
    if begin == "[":
        found = label_tasks(path, text, problems)
    elif begin == "{":
        found = label_lines(path, text, problems)
    else:
        rows = parse_rows(text, problems)
        kind = sheet_kind(rows.columns)
        if kind:
            found = label_file(path, rows, kind, problems)
        else:
            found = label_rows(path, rows, problems)
    problems.raise_any()
    return found


def sheet_files(paths: Sequence[Path]) -> list[Path]:
    """These files, and the CSV files in folders among them. Raises `FileProblems`."""
    files, problems = _files(paths, _SUFFIXES[:2])
    if problems:
        raise refused(problems)
    return files


def is_sheet(path: Path) -> bool:
    """Whether a file begins as a meta-evaluation sheet, or is a folder with such files; False for what cannot
    be read.
    """
    files, _problems = _files([path], _SUFFIXES[:2])
    for file in files[:1]:
        try:
            with file.open(encoding="utf-8-sig") as lines:
                head = lines.readline(10_000)
        except (OSError, UnicodeDecodeError):
            return False
        return sheet_kind(parse_rows(head, Problems(str(file))).columns) is not None
    return False


def _files(paths: Sequence[Path], suffixes: Sequence[str]) -> tuple[list[Path], list[FileProblem]]:
    nothing = _("is a folder without files of labels ({suffixes})")
    return files_among(paths, suffixes, nothing.format(suffixes=listed(suffixes)))


@dataclass(frozen=True)
class Matched:
    """An entry and the item of a trial that it is about."""

    file: LabelFile
    entry: Entry
    trial: TrialItems
    item: Item


def match_files(
    files: Sequence[LabelFile], trials: Trials, trial: TrialItems | None = None
) -> tuple[list[Matched], list[FileProblem]]:
    """Each entry with its item, and problems with entries that match none. `trial`: the one all sheets are of;
    otherwise their names tell, or else it is the only trial with their triples.
    """
    matched: list[Matched] = []
    problems: list[FileProblem] = []
    for pair in _pairs([file for file in files if file.sheet]):
        found, wrong = _match_sheets(pair, trials, trial)
        matched += found
        problems += wrong
    for file in files:
        if not file.sheet:
            found, wrong = _match_named(file, trials)
            matched += found
            problems += wrong
    return matched, problems


def _match_named(file: LabelFile, trials: Trials) -> tuple[list[Matched], list[FileProblem]]:
    problems = Problems(file.path)
    matched: list[Matched] = []
    for entry in file.entries:
        trial = trials.named(entry.trial)
        if trial is None:
            text = _("there is no trial {id} here").format(id=one_line(entry.trial, 40))
            problems.add(entry.line, text, "trial")
        elif reason := _misfit(trial, entry.item, entry):
            problems.add(entry.line, reason)
        else:
            matched.append(Matched(file, entry, trial, entry.item))
    return matched, problems.found


def _pairs(sheets: Sequence[LabelFile]) -> Iterator[list[LabelFile]]:
    """A recall and a precision sheet of one trial belong together: by their names, or being the only two."""
    if sorted(file.sheet for file in sheets) == ["precision", "recall"]:
        yield list(sheets)
        return
    groups: dict[str, list[LabelFile]] = defaultdict(list)
    for file in sheets:
        groups[sheet_group(file)].append(file)
    for group in groups.values():
        kinds = [file.sheet for file in group]
        if len(set(kinds)) == len(kinds):
            yield group
        else:
            yield from ([file] for file in group)


def sheet_group(file: LabelFile) -> str:
    """The file's folder and name without the word that tells which sheet it is."""
    path = PurePath(file.path)
    return str(path.with_name(path.stem.casefold().replace(file.sheet, "").strip("-_. ") or "-"))


def _match_sheets(
    pair: Sequence[LabelFile], trials: Trials, trial: TrialItems | None
) -> tuple[list[Matched], list[FileProblem]]:
    named = trial or next(filter(None, (trials.in_name(file.name) for file in pair)), None)
    candidates = [named] if named else list(trials.of_triples())
    first = Problems(pair[0].path)
    if not candidates:
        first.add(None, _("there is no trial of a graph task here"))
        return [], first.found
    fitting = [c for c in candidates if all(_base(file, c) is not None for file in pair)]
    if len(fitting) > 1:
        first.add(
            None,
            _("fits {n} trials ({ids}): name the one that it is of with --trial").format(
                n=len(fitting), ids=listed((str(c.trial.id) for c in fitting), 5)
            ),
        )
        return [], first.found
    if not fitting:
        nearest = max(candidates, key=lambda c: sum(_best(file, c)[0] for file in pair))
        return [], [p for file in pair for p in _differences(file, nearest, named is not None)]
    matched: list[Matched] = []
    for file in pair:
        base = _base(file, fitting[0]) or 0
        matched += (Matched(file, e, fitting[0], _shifted(e.item, base)) for e in file.entries)
    return matched, []


def _base(file: LabelFile, trial: TrialItems) -> int | None:
    """The number that a sheet counts from, 0 or 1, if all of its triples are the trial's; else None."""
    for base in (0, 1):
        if all(_fits(entry, trial, base) for entry in file.entries):
            return base
    return None


def _fits(entry: Entry, trial: TrialItems, base: int) -> bool:
    item = _shifted(entry.item, base)
    return item.index >= 0 and trial.fits(item, entry.texts)


def _best(file: LabelFile, trial: TrialItems) -> tuple[int, int]:
    """The largest number of lines of the sheet that match, and the number that it counts from then."""
    hits = [sum(_fits(entry, trial, base) for entry in file.entries) for base in (0, 1)]
    return max(hits), hits.index(max(hits))


def _shifted(item: Item, base: int) -> Item:
    return item.model_copy(update={"index": item.index - base}) if base else item


def _differences(file: LabelFile, trial: TrialItems, named: bool) -> list[FileProblem]:
    """Every line that differs from the trial, if the sheet can be meant to be its."""
    problems = Problems(file.path)
    hits, base = _best(file, trial)
    if not named and hits * 2 < len(file.entries):
        problems.add(None, _("holds the triples of no trial here"))
        return problems.found
    for entry in file.entries:
        item = _shifted(entry.item, base)
        reason = _misfit(trial, item, entry) if item.index >= 0 else _("there is no such item")
        if reason:
            problems.add(entry.line, reason)
    return problems.found


def _misfit(trial: TrialItems, item: Item, entry: Entry) -> str:
    """Why the entry cannot be about this item, translated; "" if it can."""
    here = trial.texts(item)
    if here is None:
        return _("trial {n} has no item {item}").format(n=trial.trial.id, item=item.key[:60])
    if trial.fits(item, entry.texts):
        return ""
    return _("{item} of trial {n} says “{here}”, not “{there}”").format(
        item=item.key[:60],
        n=trial.trial.id,
        here=one_line(listed(here), 120),
        there=one_line(listed(entry.texts), 120),
    )


@dataclass(frozen=True)
class ImportedFile:
    """A file that was imported: `labels` of its lines have a label, `blank` have none. `shows_judge`: the judge's
    decision stands beside them, so that labellers may have seen it.
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

    @property
    def summary(self) -> str:
        text = _("New labels: {new}, known: {known}; by {people}, on {trials}.")
        people = listed(one_line(name) for name in self.people) or _("nobody")
        trials = plural("{n} trial", "{n} trials", len(self.trials))
        return text.format(new=self.added, known=self.known, people=people, trials=trials)


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
    """Import the labels of these files; if anything is wrong in any file, none.

    `person`: whose they are if the file does not say; where it has numbers of accounts, also `1=Ana,2=Ben`. `run_id`: only trials of this run; `trial`: the one that
    meta-evaluation sheets are of. `phase`: how labels were given if the file does not say; None: `revealed` if the
    judge's decision stands beside them, else blind unless reveals recorded here say otherwise. Raises `FileProblems`
    with every problem and its line, `NotFound` for an unknown run or trial.
    """
    files = read_files(paths)
    trials = Trials(workspace, run_id)
    chosen = trials.named(trial) if trial else None
    if trial and chosen is None:
        raise trial_missing(one_line(trial, 80))
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
    from cuecard.store.labels import OutsideLabel

    problems: list[FileProblem] = []
    first: dict[tuple[int, str, str], Matched] = {}
    accounts = {match.entry.account for match in matched if not match.entry.person} - {""}
    pairs = [pair.partition("=") for pair in person.split(",") if "=" in pair]
    named = {account.strip(): name.strip() for account, _equals, name in pairs}
    for match in matched:
        entry = match.entry
        if entry.value is None:
            continue
        otherwise = "" if named or (entry.account and len(accounts) > 1) else person
        who = entry.person or named.get(entry.account, otherwise)
        unknown = _("say who account {n} is, as in --person {n}=Ana").format(n=entry.account)
        if reason := unknown if entry.account and not who else _name_problem(who):
            problems.append(_problem(match, reason))
            continue
        key = (match.trial.trial.id, match.item.key, who)
        before = first.setdefault(key, match)
        if before is not match and entry.at is None:
            if _said(before.entry) != _said(entry):
                problems.append(_problem(match, _twice(who, before, match)))
            continue
        labels.append(
            OutsideLabel.from_fields(
                entry,
                trial_id=match.trial.trial.id,
                item=match.item,
                person=who,
                phase=entry.phase or phase or ("revealed" if match.file.shows_judge else None),
                source=match.file.name,
            )
        )
    return problems


def _said(entry: Entry) -> tuple[object, ...]:
    return entry.value, entry.comment, entry.gold_wrong


def _twice(who: str, before: Matched, match: Matched) -> str:
    where = _("line {line}").format(line=before.entry.line)
    if before.file is not match.file:
        where = _(", ").join((one_line(before.file.name, 60), where))
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
