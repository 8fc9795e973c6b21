"""Versions of a judge held against people on labels that none of them was made with; juries of several, and drift."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import cohen_coefficient, percent_coefficient
from cuecard.annotate.agreement.linearisation import linearised
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import against_reference
from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs
from cuecard.core.config_players import JuryConfig
from cuecard.core.i18n import _, headed, listed, plural
from cuecard.core.judges.jury import Rule, Weights, by_majority
from cuecard.core.tables.table import Cell, Shown, Statistic, Table, cell
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.label_records import JudgementHead
    from cuecard.core.records import UsageRecord
    from cuecard.store.workspace import Workspace


YES, NO = Decision.YES.value, Decision.NO.value
HELD_OUT = 0.6
"""The share of tasks whose labels only ever measure; those of the others may be used to write or tune a judge."""
_LEAST_TEXT = 12
"""Characters of gold below which its standing in a prompt says nothing."""
DecisionOf = Callable[[Case], str]
"""What a judge, or several together, say of an item: `yes`, `no`, or "" for nothing."""


def is_held_out(task: str) -> bool:
    """Whether labels of a task only measure. It follows from the task's id alone, so it is the same for everybody and
    for ever, and all labels of a task fall on one side.
    """
    digest = hashlib.sha256(f"held out {task}".encode()).digest()
    return int.from_bytes(digest[:8]) < HELD_OUT * 2**64


def truth_of(case: Case) -> str:
    """What people say: the adjudicated label, else the most frequent one; "" for neither."""
    return case.adjudicated or case.majority


@dataclass(frozen=True)
class Leak:
    """A judge's prompt that holds the gold of labelled items of held-out tasks."""

    judge: str
    cases: frozenset[str]


@dataclass(frozen=True)
class ExamSummary:
    """What a judge's exam told (docs/exam.md): of `wrong` items made from gold by rule it refused `refused`; `told`: its faults
    in one sentence, and what is not judged yet. `run`: that of the exam.
    """

    run: int
    refused: int
    wrong: int
    faults: int
    told: str


def leaks_of(
    prompts: Mapping[str, Sequence[str]], cases: Sequence[Case], texts: Mapping[str, str]
) -> tuple[Leak, ...]:
    """Which judges' prompts (texts by judge) hold gold of these held-out cases (`texts`: gold by the case's name)."""
    found: list[Leak] = []
    for judge, told in prompts.items():
        page = normalise("\n".join(told))
        known = frozenset(
            case.name
            for case in cases
            if len(text := normalise(texts.get(case.name, ""))) >= _LEAST_TEXT and text in page
        )
        if known:
            found.append(Leak(judge, known))
    return tuple(found)


def by_judge(name: str) -> DecisionOf:
    return lambda case: case.decisions.get(name, "")


def by_jury(names: Sequence[str], rule: Rule) -> DecisionOf:
    """What several judges say together; nothing where the rule leaves it open."""

    def said(case: Case) -> str:
        votes = {name: Decision(case.decisions.get(name) or Decision.UNJUDGED) for name in names}
        decision = rule(votes)
        return "" if decision is Decision.UNJUDGED else decision.value

    return said


def weights_of(names: Sequence[str], tuning: Sequence[Case]) -> Weights:
    """Each judge counts by how often it is right, as `tuning` tells: the sum of the logarithms of likelihood ratios (each
    count one larger), and of the odds of a yes. They are taken to err independently.
    """
    known = [(case, truth) for case in tuning if (truth := truth_of(case)) in (YES, NO)]
    yes = sum(truth == YES for _case, truth in known)
    weights: dict[str, tuple[float, float]] = {}
    for name in names:
        given = [(case.decisions.get(name, ""), truth) for case, truth in known]
        hits = (given.count((YES, YES)) + 1) / (
            given.count((YES, YES)) + given.count((NO, YES)) + 2
        )
        slips = (given.count((YES, NO)) + 1) / (given.count((YES, NO)) + given.count((NO, NO)) + 2)
        weights[name] = log(hits / slips), log((1 - hits) / (1 - slips))
    return Weights(weights, log((yes + 1) / (len(known) - yes + 1)))


def figures_of(said: DecisionOf, cases: Sequence[Case]) -> dict[str, Statistic]:
    """Percent, kappa, sensitivity and specificity against people, with intervals by tasks; on the cases that both know."""
    known = [(case, said(case), truth_of(case)) for case in cases]
    known = [each for each in known if each[1] in (YES, NO) and each[2] in (YES, NO)]
    rows = [(case.name, "judge", value) for case, value, _truth in known]
    rows += [(case.name, "people", truth) for case, _value, truth in known]
    ratings = Ratings.from_rows(rows, domain=(YES, NO))
    if not known:
        ratings = Ratings((), ("judge", "people"), (YES, NO), ())
    tasks = [case.task for case, _value, _truth in known]
    shares = {each.name: each for each in against_reference(ratings)} if known else {}
    figures = {
        "percent": linearised(percent_coefficient(ratings), tasks),
        "kappa": linearised(cohen_coefficient(ratings), tasks),
    }
    for name, label in (("sensitivity", YES), ("specificity", NO)):
        coefficient = shares.get(f"recall:{label}")
        figures[name] = (
            linearised(coefficient, tasks)
            if coefficient
            else Statistic(name=name, value=None, n=0, reason=_("no item is labelled"))
        )
    return figures


def workshop_tables(
    inputs: ComparisonInputs,
    leaks: Collection[Leak] = (),
    costs: Mapping[str, Statistic] | None = None,
    exams: Mapping[str, ExamSummary | None] | None = None,
    juries: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[Table, ...]:
    """Versions side by side, where they differ, and juries. `costs`: by judge, of one trial. `exams`: by judge, None for one
    that is there in several versions. `juries`: judges that are, and so are no members, with theirs as far as they are known.
    Nothing without labels of what judges decide.
    """
    if inputs.subject != "gold" or not inputs.judges or not inputs.cases:
        return ()
    held = [case for case in inputs.cases if is_held_out(case.task)]
    tuning = [case for case in inputs.cases if not is_held_out(case.task)]
    leaked = {name for leak in leaks for name in leak.cases}
    clean = [case for case in held if case.name not in leaked]
    tables = [_versions(inputs, clean, tuning, leaks, costs or {}, exams or {}, juries)]
    if len(inputs.judges) > 1:
        tables.append(_differences(inputs, clean))
    members = [name for name in inputs.judges if name not in juries]
    if len(members) > 1:
        tables.append(_juries(members, clean, tuning))
    return tuple(tables)


def _split_note(held: Sequence[Case], tuning: Sequence[Case]) -> str:
    text = _(
        "Labelled items held out: {held}, tasks: {tasks}; for writing and tuning judges: {tuning}. Which tasks are held out never changes."
    )
    return text.format(
        held=f"{len(held):,}", tasks=len({case.task for case in held}), tuning=f"{len(tuning):,}"
    )


def _versions(
    inputs: ComparisonInputs,
    held: Sequence[Case],
    tuning: Sequence[Case],
    leaks: Collection[Leak],
    costs: Mapping[str, Statistic],
    exams: Mapping[str, ExamSummary | None],
    juries: Mapping[str, Sequence[str]],
) -> Table:
    both = [case for case in held if all(case.decisions.get(name) for name in inputs.judges)]
    notes = [_split_note(held, tuning), _("On the items that all of them decided.")]
    for leak in leaks:
        text = _(
            "{judge}: its prompt holds the gold of {n} held-out items; they are left out for all. Take them out of the prompt."
        )
        notes.append(text.format(judge=leak.judge, n=len(leak.cases)))
    notes += _exam_notes(inputs.judges, exams)
    for name, members in juries.items():
        if not members:
            text = _("{jury}: what it costs is not known, as cuecard.yaml names no members of it.")
            notes.append(text.format(jury=name))
        elif name in costs:
            text = _(
                "{jury}: its cost is that of its members, {members}, who judge in their own names."
            )
            notes.append(text.format(jury=name, members=listed(members)))
    lines: list[Sequence[Shown]] = []
    for name in inputs.judges:
        found = figures_of(by_judge(name), both)
        lines.append(
            (
                _("{judge} (baseline)").format(judge=name) if name in inputs.baselines else name,
                cell(found["kappa"].n, trials={case.trial_id for case in both}),
                *(found[each] for each in ("percent", "kappa")),
                _exam_cell(name, exams),
                *(found[each] for each in ("sensitivity", "specificity")),
                figures_of(by_judge(name), tuning)["kappa"],
                costs.get(name, "–"),
            )
        )
    return Table.of(
        _("Versions on held-out labels"),
        (
            _("Judge"),
            "n",
            _("Percent"),
            _("Kappa"),
            _("Exam"),
            _("Sensitivity"),
            _("Specificity"),
            _("Kappa, tuning labels"),
            _("Cost of a trial"),
        ),
        lines,
        notes,
        view="workshop",
    )


def _exam_cell(judge: str, exams: Mapping[str, ExamSummary | None]) -> Cell:
    """Leads to the exam."""
    found = exams.get(judge)
    if found is None:
        return cell(_("several versions") if judge in exams else _("not examined"))
    told = _("{n} of {all}, {faults}").format(
        n=f"{found.refused:,}",
        all=f"{found.wrong:,}",
        faults=plural("{n} fault", "{n} faults", found.faults),
    )
    return Cell(told, found, value=found.refused / found.wrong if found.wrong else None)


def _exam_notes(judges: Sequence[str], exams: Mapping[str, ExamSummary | None]) -> Iterator[str]:
    sat = {name: found for name in judges if (found := exams.get(name)) is not None}
    if sat:
        yield _(
            "Exam: how many of the wrong items that were made from gold by rule it refused, and how many faults that tells; of the last exam of exactly this model, prompt and settings."
        )
    for name, found in sat.items():
        yield headed(name, found.told)
    if missing := [name for name in judges if name not in exams]:
        yield _("Not examined as it judged here; it sits an exam by: {commands}").format(
            commands=listed(f"`cuecard exam {name}`" for name in missing)
        )


def _differences(inputs: ComparisonInputs, held: Sequence[Case]) -> Table:
    lines: list[Sequence[Shown]] = []
    for one, other in combinations(inputs.judges, 2):
        apart = [
            case
            for case in held
            if truth_of(case) and {case.decisions.get(one), case.decisions.get(other)} == {YES, NO}
        ]
        right = [case for case in apart if case.decisions.get(one) == truth_of(case)]
        wrong = [case for case in apart if case.decisions.get(other) == truth_of(case)]
        lines.append(
            (
                f"{one} · {other}",
                *(
                    cell(len(cases), trials=dict.fromkeys(case.trial_id for case in cases))
                    for cases in (apart, right, wrong)
                ),
            )
        )
    return Table.of(
        _("Where versions differ, on held-out labels"),
        (_("Judges"), _("Items"), _("the first is right"), _("the second is right")),
        lines,
        view="workshop",
    )


def _juries(names: Sequence[str], held: Sequence[Case], tuning: Sequence[Case]) -> Table:
    """Majority and weights of all judges, and what a jury of weights loses without each."""
    weights = weights_of(names, tuning)
    weighted = figures_of(by_jury(names, weights), held)
    juries: list[tuple[str, dict[str, Statistic]]] = [(_("all, by weight"), weighted)]
    if len(names) > 2:
        juries.insert(0, (_("all, by majority"), figures_of(by_jury(names, by_majority), held)))
    for name in names:
        rest = [each for each in names if each != name]
        told = _("without {judge}, by weight") if len(rest) > 1 else _("without {judge}")
        juries.append(
            (told.format(judge=name), figures_of(by_jury(rest, weights_of(rest, tuning)), held))
        )
    whole = weighted["kappa"].value

    def adds(figures: Mapping[str, Statistic]) -> str:
        less = figures["kappa"].value
        return "" if whole is None or less is None else f"{whole - less:+.3f}"

    return Table.of(
        _("Juries on held-out labels"),
        (
            _("Jury"),
            "n",
            _("Percent"),
            _("Kappa"),
            _("Sensitivity"),
            _("Specificity"),
            _("who is missing adds"),
        ),
        [
            (
                name,
                cell(figures["kappa"].n),
                *(figures[each] for each in ("percent", "kappa", "sensitivity", "specificity")),
                adds(figures) if at > len(juries) - len(names) - 1 else "",
            )
            for at, (name, figures) in enumerate(juries)
        ],
        (
            _(
                "Weights are the logarithms of likelihood ratios from the tuning labels, as if judges erred independently; an item on which one of them said nothing is left out."
            ),
            _("To judge by these weights, an entry of `judges` in cuecard.yaml: {entry}").format(
                entry=_entry(weights)
            ),
        ),
        view="workshop",
    )


def _entry(weights: Weights) -> str:
    """A jury as an entry of the configuration."""
    of = {name: [round(yes, 2), round(no, 2)] for name, (yes, no) in weights.of.items()}
    entry = {"kind": "jury", "members": list(of), "weights": of, "start": round(weights.start, 2)}
    return json.dumps({"jury": entry}, ensure_ascii=False)


Exams = Callable[["Workspace", Sequence[int]], Mapping[str, ExamSummary | None]]


def tables_of_workshop(
    workspace: Workspace, inputs: ComparisonInputs, config: Config, exams: Exams
) -> tuple[Table, ...]:
    """Versions, differences, juries and drift of the judges of these labels. `exams`: reads what those of the judges of
    runs told (`results.judge_card.examined`). Raises `ConfigError`.
    """
    from cuecard.annotate.labelling.drift import drift_table, drifts_of
    from cuecard.annotate.labelling.judge_examples import prompts_of, texts_of

    trials = sorted({case.trial_id for case in inputs.cases})
    records = {id_: workspace.runs.trial(id_) for id_ in trials}
    runs = sorted({record.run_id for record in records.values()})
    held = [case for case in inputs.cases if is_held_out(case.task)]
    prompts = {
        judge: [prompt.text for prompt in prompts_of(judge, config).values()]
        for judge in inputs.judges
        if judge in config.judges
    }
    leaks = leaks_of(prompts, held, texts_of(workspace, held)) if any(prompts.values()) else ()
    heads = [head for run in runs for head in workspace.verdicts.heads(run)]
    juries = {
        head.judge.name: _members(head.judge.name, config)
        for head in heads
        if head.judge.kind == "jury"
    }
    costs = _costs(heads, workspace.runs.usage_of(trials), juries)
    tables = workshop_tables(inputs, leaks, costs, exams(workspace, runs), juries)
    task_of = {trial.id: trial.task_id for run in runs for trial in workspace.runs.trials(run)}
    drifts = drifts_of(workspace.verdicts.repeated(runs), lambda id_: task_of[id_], inputs.cases)
    drift = drift_table(drifts)
    return (*tables, *((drift,) if drift else ()))


def _members(jury: str, config: Config) -> tuple[str, ...]:
    """Nothing of a jury that is not configured."""
    settings = config.judges.get(jury)
    return settings.members if isinstance(settings, JuryConfig) else ()


def _costs(
    heads: Sequence[JudgementHead],
    usage: Sequence[UsageRecord],
    juries: Mapping[str, Sequence[str]],
) -> Mapping[str, Statistic]:
    """What a trial costs by judge, for judges whose model no other of them uses; a jury, what its members cost together."""
    models = {(head.judge.name, head.trial_id): head.judge.model for head in heads}
    users: dict[str, set[str]] = defaultdict(set)
    for (name, _trial), model in models.items():
        users[model].add(name)
    paid = {
        (each.trial_id, each.model): each.cost
        for each in usage
        if each.payer == "judge" and each.cost is not None and each.priced == each.calls
    }
    found: dict[str, Statistic] = {}
    for name in dict.fromkeys(judge for judge, _trial in models):
        members = juries.get(name, (name,))
        costs: list[float] = []
        called: set[str] = set()
        for trial in (trial for judge, trial in models if judge == name):
            asked = {model for each in members if (model := models.get((each, trial)))}
            called |= asked
            if asked and all((trial, model) in paid for model in asked):
                costs.append(sum(paid[trial, model] for model in asked))
        if any(users[model] - {*members} for model in called):
            shared = _("several judges use its model")
            found[name] = Statistic(name="cost", value=None, n=0, reason=shared)
        elif costs:
            found[name] = Statistic(name="cost", value=fmean(costs), n=len(costs))
    return found
