"""A meta-evaluation from its sheets alone, without a workspace: a model's decisions compared with people's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs, Subject
from cuecard.annotate.labelling.files.importing import sheet_files
from cuecard.annotate.labelling.files.vibesearch_sheets import KIND_OF, Sheet, SheetKind, read_sheet
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item

MODEL, HUMAN = "model", "human"
SUBJECT: dict[SheetKind, Subject] = {"recall": "gold", "precision": "predicted"}


def inputs_of_sheets(paths: Sequence[Path]) -> tuple[ComparisonInputs, ...]:
    """The recall sheets and the precision sheets as two comparisons, if there are such. A recall and a precision sheet
    of one name are one trial; trials with the same gold are of one task. Sheets of one name that differ only in
    people's labels are several people's, each named after the folder of the sheet.

    Raises `FileProblems` for sheets that cannot be read.
    """
    read: list[tuple[Path, Sheet]] = []
    problems: list[FileProblem] = []
    for path in sheet_files(paths):
        try:
            read.append((path, read_sheet(path)))
        except FileProblems as error:
            problems += error.problems
    tasks = _tasks(read)
    inputs: list[ComparisonInputs] = []
    for kind in ("recall", "precision"):
        mine = [(path, sheet) for path, sheet in read if sheet.kind == kind]
        if mine:
            inputs.append(_material(kind, mine, tasks, problems))
    if problems:
        raise FileProblems(_("These sheets cannot be compared"), problems)
    return tuple(inputs)


@dataclass
class _Trial:
    """Sheets of one kind that say the same of one trial, one for each person."""

    task: str
    sheets: list[tuple[Path, Sheet]] = field(default_factory=list[tuple[Path, Sheet]])


def _material(
    kind: SheetKind,
    sheets: Sequence[tuple[Path, Sheet]],
    tasks: Mapping[str, str],
    problems: list[FileProblem],
) -> ComparisonInputs:
    trials: dict[tuple[object, ...], _Trial] = {}
    for path, sheet in sheets:
        said = tuple((row.index, row.triple, row.model, row.supporting) for row in sheet.rows)
        trial = _Trial(tasks.get(_place(path, kind), _place(path, kind)))
        trials.setdefault((_stem(path, kind), said), trial).sheets.append((path, sheet))
    several = any(len(trial.sheets) > 1 for trial in trials.values())
    cases: list[Case] = []
    for number, trial in enumerate(trials.values(), start=1):
        cases += _cases(kind, number, trial, _raters(trial, several, problems))
    said = [value for case in cases for value in case.people if value not in case.labels]
    return ComparisonInputs(
        subject=SUBJECT[kind],
        cases=tuple(cases),
        judges=(MODEL,),
        people=tuple(sorted({name for case in cases for name in case.people})),
        population=sum(len(trial.sheets[0][1].rows) for trial in trials.values()),
        unsure=len(said),
        unjudged=sum(not case.decisions for case in cases),
    )


def _cases(
    kind: SheetKind, number: int, trial: _Trial, raters: Mapping[str, Sheet]
) -> Iterator[Case]:
    """The lines that somebody labelled."""
    for at, row in enumerate(trial.sheets[0][1].rows):
        given = {rater: sheet.rows[at].human for rater, sheet in raters.items()}
        said = {rater: value for rater, value in given.items() if value is not None}
        if said:
            judged = row.model if row.model is not LabelValue.UNSURE else None
            yield Case(
                trial_id=number,
                item=Item(kind=KIND_OF[kind], index=row.index),
                task=trial.task,
                family="graph",
                relation=row.triple[1],
                decisions={MODEL: judged.value} if judged else {},
                labels={w: v.value for w, v in said.items() if v is not LabelValue.UNSURE},
                people=frozenset(said),
            )


def _tasks(sheets: Sequence[tuple[Path, Sheet]]) -> dict[str, str]:
    """By the place of each recall sheet, the name of its task: the first place with the same gold."""
    first: dict[tuple[object, ...], str] = {}
    found: dict[str, str] = {}
    for path, sheet in sheets:
        if sheet.kind == "recall":
            place = _place(path, "recall")
            gold = tuple((row.index, row.triple) for row in sheet.rows)
            found[place] = first.setdefault(gold, place)
    return found


def _place(path: Path, kind: SheetKind) -> str:
    return f"{path.parent}/{_stem(path, kind)}"


def _stem(path: Path, kind: SheetKind) -> str:
    return path.stem.casefold().replace(kind, "").strip("-_. ")


def _raters(trial: _Trial, several: bool, problems: list[FileProblem]) -> Mapping[str, Sheet]:
    """Who filled in which sheet."""
    found: dict[str, Sheet] = {}
    for path, sheet in trial.sheets:
        name = (path.resolve().parent.name or HUMAN) if several else HUMAN
        name = HUMAN if name == MODEL else name
        if name in found:
            text = _(
                "stands twice; sheets of several people go into a folder each, which is called like"
                " the person"
            )
            problems.append(FileProblem(str(path), "", text))
        found[name] = sheet
    return found
