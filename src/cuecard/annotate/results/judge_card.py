"""The card of a judge: what its exam tells, as tables and sentences, for one judge and for two beside each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, with_intervals
from cuecard.annotate.labelling.workshop import ExamSummary
from cuecard.annotate.results.judge_exam import (
    FEWEST_ITEMS,
    ExamFigures,
    MarkedAnswer,
    ProbeFigures,
    exam_figures,
    not_examined,
)
from cuecard.annotate.results.report_formats import (
    Block,
    ParagraphBlock,
    TableBlock,
    Term,
    TermsBlock,
    player_word,
)
from cuecard.core.exam.probes import PROBES, Probe, never_for
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _, beside, headed, joined, listed, plural
from cuecard.core.tables.table import (
    Cell,
    Coefficient,
    Shown,
    Statistic,
    Table,
    cell,
    difference,
    in_percent,
    percent,
    percentage,
    quotient,
)

if TYPE_CHECKING:
    from cuecard.annotate.results.pool import Pool
    from cuecard.core.engine.messages import PlayerRef
    from cuecard.core.evaluation.exam import Exam, ExamSetting
    from cuecard.core.records import RunRecord
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Card:
    """An exam with its figures. `currency`: of its cost."""

    exam: Exam
    currency: str = ""

    @cached_property
    def figures(self) -> ExamFigures:
        return exam_figures(self.exam.answers)

    @property
    def name(self) -> str:
        return self.exam.setting.judge.name

    @property
    def title(self) -> str:
        return _exam_title(self.name)

    def facts(self) -> Iterator[str]:
        """What is said of it in sentences: who, on what, how often right, which faults."""
        exam, found = self.exam, self.figures
        yield _("{judge}, stamp {stamp}, run {run}").format(
            judge=player_word(exam.setting.judge), stamp=exam.setting.stamp, run=exam.run.id
        )
        parts = [
            plural("{n} task", "{n} tasks", len(exam.tasks)),
            plural("{n} input", "{n} inputs", len(exam.answers)),
            plural("{n} model call", "{n} model calls", exam.calls),
        ]
        if exam.cost is not None:
            parts.append(f"{exam.cost:.4f} {self.currency}".rstrip())
        yield listed(parts)
        yield from self.rates()
        if left := inputs_left(found):
            yield left
        if found.unusable:
            yield plural(
                "{n} verdict was unusable and counts as a mistake.",
                "{n} verdicts were unusable and count as mistakes.",
                found.unusable,
            )
        yield self.sentence()

    def rates(self) -> Iterator[str]:
        """How often it is right, and moved."""
        found = self.figures
        yield _("accepts {share} of what is right (sensitivity)").format(
            share=percentage(found.sensitivity)
        )
        yield _("refuses {share} of what is wrong (specificity)").format(
            share=percentage(found.specificity)
        )
        yield _("changes its mind on {share} where nothing changed that matters").format(
            share=percentage(found.flip)
        )

    def sentence(self) -> str:
        """The faults in one sentence."""
        faults = [fault_words(fault.told, fault.probes) for fault in self.figures.faults]
        if faults:
            return _("Faults: {faults}.").format(faults=listed(faults))
        if not any(probe.examined for probe in self.figures.probes.values()):
            return _("No probe has {n} items yet, so no fault can be told or ruled out.").format(
                n=FEWEST_ITEMS
            )
        return _("No fault is told by the probes that were examined.")

    @property
    def examined(self) -> ExamSummary:
        """What the workshop tells of it."""
        wrong = [each for each in self.figures.probes.values() if each.probe.right is False]
        return ExamSummary(
            run=self.exam.run.id,
            refused=sum(each.n - len(each.misses) for each in wrong),
            wrong=sum(each.n for each in wrong),
            faults=len(self.figures.faults),
            told=joined((self.sentence(), inputs_left(self.figures))),
        )

    def tables(self) -> Iterator[Table]:
        found = self.figures
        known = [p for p in found.probes.values() if p.probe.known]
        moved = [p for p in found.probes.values() if not p.probe.known]
        if known:
            yield probes_table(_("Known answers"), known)
        if moved:
            yield probes_table(_("Must not move"), moved)
        if found.rules:
            note = _(
                "Decided by the rules of columns, whoever judges; they enter no figure of the judge."
            )
            yield probes_table(_("Cells decided by rules"), list(found.rules.values()), (note,))
        if len(found.groups) > 2:
            yield parts_table(found)
        if missing := missing_table(found, [answer.family for answer in self.exam.answers]):
            yield missing


Shows = tuple[str, Callable[[ProbeFigures], Shown]]


def _moves() -> list[Shows]:
    return [
        (_("→yes"), lambda each: percent(each.to_yes)),
        (_("→no"), lambda each: percent(each.to_no)),
        (_("vs same input"), lambda each: _signed(each.beyond, 100)),
    ]


def probes_table(title: str, probes: Sequence[ProbeFigures], notes: Sequence[str] = ()) -> Table:
    """Probes of one kind, a line for each. Cells of the first two columns of figures lead to a probe's misses by its id."""
    known = all(each.probe.known for each in probes)
    columns: list[Shows] = [
        (_("probe"), lambda each: Cell(each.probe.label, each.probe.id)),
        *(
            [(_("right is"), lambda each: _("yes") if each.probe.right else _("no"))]
            if known
            else []
        ),
        (_("items"), lambda each: each.n),
        (_("wrong %") if known else _("moved %"), _share),
        *([] if known else _moves()),
    ]
    if any(each.points is not None for each in probes):
        columns.append((_("points"), lambda each: _signed(each.points)))
    if any(each.unusable for each in probes):
        columns.append((_("unusable"), lambda each: each.unusable))
    if not known:
        told = _(
            "vs same input: moved %, less the % that moves anyway when the same input is judged twice (V01)"
        )
        notes = (told, *notes)
    few = [each.probe.id for each in probes if not each.examined]
    told = _("Not examined, with fewer than {n} items: {probes}")
    if few:
        notes = (told.format(n=FEWEST_ITEMS, probes=listed(few)), *notes)
    lines = ((get(each) for _heading, get in columns) for each in probes)
    return Table.of(title, (heading for heading, _get in columns), lines, notes)


def _share(each: ProbeFigures) -> Cell:
    if each.examined:
        return Cell(in_percent(each.error), each.probe.id, each.error)
    return Cell(percent(each.error.value), each.probe.id, value=each.error.value)


def _signed(value: float | None, times: float = 1.0) -> Cell | None:
    return None if value is None else Cell(f"{times * value:+.1f}" if value else "0", value=value)


def parts_table(figures: ExamFigures) -> Table:
    """Sensitivity and specificity by family and language."""
    languages = {"en": _("English"), "zh": _("Chinese")}

    def word(name: str) -> str:
        kind, _slash, value = name.partition("/")
        return languages.get(value, value) if kind == "language" else _(CORE[value].label)

    return Table.of(
        _("By family and language"),
        (_("part"), _("sensitivity %"), _("specificity %")),
        (
            (
                word(name),
                Cell(in_percent(one), statistic=one),
                Cell(in_percent(other), statistic=other),
            )
            for name, (one, other) in figures.groups.items()
        ),
    )


def missing_table(figures: ExamFigures, families: Sequence[str]) -> Table | None:
    """Probes that had no item, and why."""
    never = [set(never_for(family)) for family in dict.fromkeys(families)]

    def why(probe: Probe) -> str:
        if all(probe.id in each for each in never):
            return _("does not apply to these families")
        if probe.id in figures.rules:
            return _("rules decide on all its items")
        if probe.id == "V07":
            return _("the judge has one prompt, or none")
        return _("no item that it applies to")

    missing = (probe for probe in not_examined(figures) if probe.id not in figures.probes)
    lines = [(probe.label, why(probe)) for probe in missing]
    return Table.of(_("Not examined"), (_("probe"), _("why")), lines) if lines else None


def fault_words(told: str, probes: Sequence[str]) -> str:
    return beside(_(told), listed(probes))


def inputs_left(figures: ExamFigures) -> str:
    """What an exam that is not over lacks; "" for one that is."""
    n = figures.open
    return plural("{n} input is not judged yet.", "{n} inputs are not judged yet.", n) if n else ""


# Two exams.


def compared_table(one: Card, other: Card) -> Table:
    """Two exams on the items that both had: the shares of mistakes, and their difference with its interval over tasks."""
    first, second = _by_target(one), _by_target(other)
    lines: list[tuple[str | Cell, ...]] = []
    for id, probe in PROBES.items():
        keys = [key for key in first if key[0] == id and key in second]
        if not keys:
            continue
        pairs = [(float(first[key][1].missed), float(second[key][1].missed)) for key in keys]
        apart = _difference(pairs, [key[1] for key in keys])
        shares = [sum(side) / len(keys) for side in zip(*pairs, strict=True)]
        lines.append(
            (
                probe.label,
                cell(len(keys)),
                *(Cell(percent(value), value=value) for value in shares),
                difference(apart, percent=True)
                if len(keys) >= FEWEST_ITEMS
                else cell(_("not examined")),
            )
        )
    names = [
        card.name if one.name != other.name else f"{card.name} ({card.exam.setting.stamp})"
        for card in (one, other)
    ]
    return Table.of(
        _("Mistakes of two judges on the same items, in percent"),
        (_("probe"), _("items"), *names, _("difference")),
        lines,
    )


def _by_target(card: Card) -> dict[tuple[str, str, str, str], MarkedAnswer]:
    """By probe, task, input and item."""
    return {
        (each.probe.id, each.task_id, each.given.key, mark.target.at): (each, mark)
        for each in card.exam.answers
        for mark in each.marks
        if each.probe is not None and not mark.target.rule
    }


def _difference(pairs: Sequence[tuple[float, float]], tasks: Sequence[str]) -> Statistic:
    import numpy as np

    terms = np.array([[second - first, 1.0] for first, second in pairs])
    coefficient = Coefficient("difference", terms, quotient, len(pairs), _("no item of both"))
    if len(set(tasks)) < FEWEST_GROUPS:
        return coefficient.statistic
    return with_intervals([coefficient], tasks)[0]


# Cards of the judges behind scores, and of those in the workshop.


def exams_of(workspace: Workspace, pool: Pool) -> Iterator[tuple[PlayerRef, Card | None, str]]:
    """Of each judge behind a pool's scores the newest exam by the same model, prompts and settings; without one, or where it is
    not known whether the settings are the same, that in a sentence. Blocks for the database.
    """
    from cuecard.core.evaluation.exam import exams, read_exam

    sat = exams(workspace)
    refs = dict.fromkeys(row.judge for row in pool.rows if row.judge is not None)
    for ref in sorted(refs, key=lambda ref: ref.name):
        run, sure = _newest_exam(sat, ref, pool.runs)
        why = ""
        if run and ref.model and not sure:
            why = _("With which settings of its model it judged here is not recorded.")
        elif not run and any(its.judge.name == ref.name for _run, its in sat):
            why = _(
                "those it sat were of another model, prompt or settings than it judged by here."
            )
        yield ref, Card(read_exam(workspace, run.id)) if run else None, why


def _newest_exam(
    sat: Sequence[tuple[RunRecord, ExamSetting]], ref: PlayerRef, runs: Sequence[RunRecord]
) -> tuple[RunRecord | None, bool]:
    """The newest exam of a judge of these runs, and whether its settings are known to be the same: a run that was entered
    without the judge does not tell those of its model.
    """
    from cuecard.core.evaluation.exam import exam_stamp
    from cuecard.core.evaluation.plans import settings_of

    rosters = [
        roster for run in runs if f"judges/{ref.name}" in (roster := settings_of(run).roster)
    ]
    stamps = {exam_stamp(ref, roster) for roster in rosters}
    same = (
        run
        for run, its in sat
        if (
            its.stamp in stamps
            if stamps
            else its.judge.model_copy(update={"name": ref.name}) == ref
        )
    )
    return next(same, None), bool(stamps)


def exam_notes(workspace: Workspace, pool: Pool) -> tuple[str, ...]:
    """A sentence on each judge that sat an exam, for tables that rest on it."""
    found: list[str] = []
    for ref, card, why in exams_of(workspace, pool):
        parts = (_("; ").join(card.rates()) + ".", card.sentence(), why) if card else (why,)
        if told := joined(parts):
            found.append(headed(_exam_title(ref.name), told))
    return tuple(found)


def _exam_title(name: str) -> str:
    return _("Exam of the judge {judge}").format(judge=name)


def examined(workspace: Workspace, runs: Sequence[int]) -> Mapping[str, ExamSummary | None]:
    """By name, what the newest exam of each judge of these runs told: of the model, prompts and settings with which it judged
    them. None where it judged them in several versions. Blocks for the database.
    """
    from cuecard.core.evaluation.exam import exams, read_exam

    records, sat = [workspace.runs.get(id_) for id_ in runs], exams(workspace)
    refs: dict[str, set[PlayerRef]] = defaultdict(set)
    for head in (head for id_ in runs for head in workspace.verdicts.heads(id_)):
        refs[head.judge.name].add(head.judge)
    found: dict[str, ExamSummary | None] = {
        name: None for name, its in refs.items() if len(its) > 1
    }
    for name in refs.keys() - found.keys():
        (ref,) = refs[name]
        run, _sure = _newest_exam(sat, ref, records)
        if run is not None:
            found[name] = Card(read_exam(workspace, run.id)).examined
    return found


def blocks(workspace: Workspace, pool: Pool) -> Iterator[Block]:
    """The cards of a report's judges, and which of them sat no exam as they judged here."""
    for ref, card, why in exams_of(workspace, pool):
        if card is None:
            none = _("it sat none; one tells what it gets wrong without a label.")
            yield ParagraphBlock(headed(_exam_title(ref.name), why or none))
            continue
        who, *facts = (*card.facts(), *filter(None, (why,)))
        yield TermsBlock(card.title, (Term(who, tuple(facts)),))
        for table in card.tables():
            yield TableBlock(replace(table, title=headed(card.name, table.title)), folded=True)
