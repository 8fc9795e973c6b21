"""Entries laid over the trials of a workspace: by index and by what the item says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from cuecard.annotate.labels_io.entries import Entry, LabelFile, Problems
from cuecard.annotate.labels_io.trials import TrialItems, Trials
from cuecard.core.errors import FileProblem
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item


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
    """All entries with their items, and what fits nothing. `trial`: which one all sheets are of; otherwise
    their names tell, or else it is the only one whose triples they hold.
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
    candidates = [named] if named else list(trials.graphs())
    first = Problems(pair[0].path)
    if not candidates:
        first.add(None, _("there is no trial of a graph task here"))
        return [], first.found
    fitting = [c for c in candidates if all(_base(file, c) is not None for file in pair)]
    if len(fitting) > 1:
        first.add(
            None,
            _("fits {n} trials ({ids}): name the one that it is of with --trial").format(
                n=len(fitting), ids=", ".join(str(c.trial.id) for c in fitting[:5])
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
    """From where the sheet counts, 0 or 1, if all of its triples are those of the trial; else None."""
    for base in (0, 1):
        if all(_fits(entry, trial, base) for entry in file.entries):
            return base
    return None


def _fits(entry: Entry, trial: TrialItems, base: int) -> bool:
    item = _shifted(entry.item, base)
    return item.index >= 0 and trial.fits(item, entry.texts)


def _best(file: LabelFile, trial: TrialItems) -> tuple[int, int]:
    """How many of the sheet's lines fit at most, and from where it counts then."""
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
        here=one_line(", ".join(here), 120),
        there=one_line(", ".join(entry.texts), 120),
    )
