"""Tables of findings, of the worst turns, of outcomes, and of how scores agree with people's ratings."""

from collections.abc import Iterator, Mapping, Sequence

from cuecard.annotate.fidelity.correlation import ALPHA, POWER, detectable, sessions_needed
from cuecard.annotate.fidelity.findings import SEVERITY, Turns
from cuecard.annotate.fidelity.model import (
    AGAINST_REFERENCE,
    Correlation,
    Fidelity,
    FindingCount,
    FindingKind,
    Meaning,
    Outcome,
    SimulatorFindings,
)
from cuecard.annotate.fidelity.tables import (
    MET_WORDS,
    WORST,
    count_cell,
    decision_word,
    finding_word,
    findings_word,
    place_word,
    rate_word,
    simulator_word,
)
from cuecard.core.engine.events import Termination
from cuecard.core.i18n import _, headed, listed, ngettext, pgettext
from cuecard.core.scoring.measures import ENDING_WORDS, measure_label, pooled_notes
from cuecard.core.tables.table import Row, Shown, Statistic, Table, cell, difference
from cuecard.core.text import one_line


def finding_tables(found: Fidelity) -> Iterator[Table]:
    """The findings in each simulator's turns with their rates; then the similarity of its words to people's."""
    people = next((each for each in found.findings if each.simulator is None), None)
    simulators = [each for each in found.findings if each.simulator is not None and each.turns]
    for each in simulators:
        yield _of_one(found, each, people)
    lines = [line for each in simulators for line in _similar(found, each)]
    if lines:
        yield Table.of(
            _("How like the person's words"),
            (_("Turns"), _("n (tasks)"), "chrF", _("length ratio")),
            lines,
            (
                _(
                    "Of turns in which not both say the line or the clue as it is written. chrF is 1 for the same"
                    " words; a length ratio above 1 means that the simulator says more."
                ),
            ),
            view="findings",
        )


def _of_one(found: Fidelity, each: SimulatorFindings, people: SimulatorFindings | None) -> Table:
    """One simulator's findings: all that depend on the reference, else those that occur in anybody's words."""
    shown: list[FindingKind | None] = [
        kind
        for kind in SEVERITY
        if (kind in AGAINST_REFERENCE and each.count(kind)) or _n(each, kind) or _n(people, kind)
    ]
    lines: list[Sequence[Shown]] = []
    for kind in (*shown, None):
        counted = _count(each, kind)
        turns = Turns(simulator=each.simulator, finding=kind, found=True)
        lines.append(
            (
                finding_word(kind),
                cell(counted.n if counted else 0, turns),
                counted.turns if counted else 0,
                cell(rate_word(counted), turns),
                rate_word(_count(people, kind)),
            )
        )
    missing = dict.fromkeys(count.rate.no_interval for count in (*each.counts, each.with_any))
    turns = ngettext("{n} turn", "{n} turns", each.turns).format(n=f"{each.turns:,}")
    tasks = ngettext("{n} task", "{n} tasks", each.tasks).format(n=f"{each.tasks:,}")
    name = simulator_word(each.simulator, found.simulators) if each.simulator else ""
    return Table.of(
        _("Findings, {simulator}: {turns} on {tasks}").format(
            simulator=name, turns=turns, tasks=tasks
        ),
        (_("Finding"), _("turns"), _("of"), _("in 100 turns"), _("people in 100")),
        lines,
        (
            _(
                "Early is counted over turns held for not met, late over those held for met, the rest over all"
                " turns. People are held to the same rules: to their own decision, unless the turn was adjudicated."
            ),
            *(_("No interval: {reason}.").format(reason=why) for why in missing if why),
        ),
        view="findings",
    )


def _n(each: SimulatorFindings | None, kind: FindingKind) -> int:
    counted = each.count(kind) if each else None
    return counted.n if counted else 0


def _count(each: SimulatorFindings | None, kind: FindingKind | None) -> FindingCount | None:
    if each is None:
        return None
    return each.with_any if kind is None else each.count(kind)


def _similar(found: Fidelity, each: SimulatorFindings) -> Iterator[Sequence[Shown]]:
    name = simulator_word(each.simulator, found.simulators) if each.simulator else ""
    turns = Turns(simulator=each.simulator)
    for one in each.similarity:
        n = count_cell(one.n, one.tasks, turns)
        yield headed(name, _(MET_WORDS[one.met])), n, cell(one.chrf, turns), cell(one.length, turns)


def worst_tables(found: Fidelity, limit: int = WORST) -> Iterator[Table]:
    """The turns with the most severe findings."""
    shown = found.worst[: max(0, limit)]
    if shown:
        yield Table.of(
            _("Worst turns: {n} of {all}").format(n=len(shown), all=f"{len(found.worst):,}"),
            (_("Turn"), _("Simulator"), _("Findings"), _("held for right"), _("simulator")),
            [
                (
                    place_word(turn),
                    simulator_word(turn.simulator, found.simulators),
                    findings_word(turn),
                    decision_word(turn.subject, turn.reference),
                    decision_word(turn.subject, turn.decision),
                )
                for turn in shown
            ],
            view="worst",
        )


CORRELATIONS = (0.1, 0.2, 0.3, 0.4, 0.5)


def outcome_tables(found: Fidelity) -> Iterator[Table]:
    """For each simulator that played: people's means, its own, and their differences on what both played."""
    for each in found.outcomes:
        notes = [*_outcome_notes(each), *pooled_notes(m.name for m in each.measures)]
        yield Table.of(
            _outcome_title(found, each),
            (
                _("Measure"),
                pgettext("a task with an agent", "cells"),
                _("people"),
                _("simulator"),
                _("simulator − people"),
            ),
            [
                (
                    measure_label(m.name),
                    m.difference.n,
                    m.people,
                    m.simulator,
                    difference(m.difference),
                )
                for m in each.measures
            ],
            notes,
            view="outcome",
        )


def _outcome_title(found: Fidelity, each: Outcome) -> str:
    name = simulator_word(each.simulator, found.simulators)
    if each.agent:
        return _("Outcome: {simulator} and people, agent {agent}").format(
            simulator=name, agent=one_line(each.agent, 40)
        )
    return _("Outcome: {simulator} and people").format(simulator=name)


def _outcome_notes(each: Outcome) -> Iterator[str]:
    if each.cells:
        yield _(
            "A cell is a task revision with an agent in a world: {cells} were played by both, on {tasks} tasks;"
            " {people} trials of people, {simulator} of the simulator."
        ).format(
            cells=len(each.cells),
            tasks=each.tasks,
            people=each.people_trials,
            simulator=each.simulator_trials,
        )
        yield _("Ended, people: {people}. Simulator: {simulator}.").format(
            people=_ends(each.people_ends), simulator=_ends(each.simulator_ends)
        )
    else:
        yield _("Nothing was played by both: no task revision with the same agent and world.")
    if each.only_people or each.only_simulator:
        yield _(
            "Not compared: {people} cells that only people played, {simulator} that only the simulator did."
        ).format(people=each.only_people, simulator=each.only_simulator)
    if each.judge:
        yield _("Scored by judge {judge}.").format(judge=one_line(each.judge, 40))
    else:
        yield _("Nothing is judged: there are no scores, only stages and turns.")
    yield from _baselines(each.baselines)


def _baselines(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield _("Offline baselines take part: {players}.").format(
            players=listed(one_line(name, 40) for name in names)
        )


def _ends(ends: Mapping[str, int]) -> str:
    return listed(f"{_(ENDING_WORDS[Termination(end)])} {n:,}" for end, n in ends.items())


def meaning_tables(found: Fidelity) -> Iterator[Table]:
    """For each scale of the form: its rank correlation with every measure, over all sessions, then within tasks that
    have several.
    """
    if found.meaning is None:
        return
    scales = dict.fromkeys(each.scale for each in found.meaning.correlations)
    for scale in scales:
        own = found.meaning.of(scale)
        question = one_line(own[0].label, 80)
        yield Table.of(
            _("“{question}” and the scores").format(question=question),
            (_("Measure"), _("n (tasks)"), _("Spearman's rho"), _("Kendall's tau-b")),
            [
                _line(each, f"{each.sessions:,} ({each.tasks:,})", each.spearman, each.kendall)
                for each in own
            ],
            _meaning_notes(found.meaning, own),
            view="meaning",
        )
        inside = [each for each in own if each.spearman_within.n]
        if inside:
            yield Table.of(
                _("“{question}” and the scores, within tasks").format(question=question),
                (_("Measure"), "n", _("Spearman's rho"), _("Kendall's tau-b")),
                [
                    _line(each, each.spearman_within.n, each.spearman_within, each.kendall_within)
                    for each in inside
                ],
                view="meaning",
            )


def _line(each: Correlation, n: str | int, *figures: Statistic) -> Row:
    return tuple(cell(shown, each) for shown in (measure_label(each.measure), n, *figures))


def _meaning_notes(meaning: Meaning, correlations: Sequence[Correlation]) -> Iterator[str]:
    yield ngettext(
        "{n} session has a form, {scored} of them scores by judge {judge}.",
        "{n} sessions have a form, {scored} of them scores by judge {judge}.",
        meaning.sessions,
    ).format(n=meaning.sessions, scored=meaning.scored, judge=one_line(meaning.judge, 40) or "–")
    yield from _baselines(meaning.baselines)
    sessions = max(each.sessions for each in correlations)
    least = detectable(sessions)
    if least is not None:
        yield _(
            "With {n} independent sessions a Spearman correlation of {least:.2f} is found with a power of"
            " {power:.0%}; `cuecard fidelity --correlation 0.3` says how many another one takes."
        ).format(n=sessions, least=least, power=POWER)
    effects = [e.design_effect for e in correlations if e.design_effect is not None]
    if effects and max(effects) > 1.05:
        yield _(
            "Sessions of one task resemble each other: these {n} are worth about {worth:.0f} independent ones."
        ).format(n=sessions, worth=sessions / max(effects))


def sizes_table(
    correlations: Sequence[float] = CORRELATIONS, power: float = POWER, sessions: Sequence[int] = ()
) -> Table:
    """How many independent sessions each correlation takes; for each number of `sessions`, the smallest
    correlation that they find. Raises `ValueError` for what does not lie between 0 and 1.
    """
    lines = [
        (f"{size:g}", sessions_needed(size, power), sessions_needed(size, power, kind="kendall"))
        for size in correlations
    ]
    notes = [
        _(
            "Independent sessions. With m sessions of each task multiply by 1 + (m - 1) times the intraclass"
            " correlations of both sides."
        )
    ]
    for n in sessions:
        found = [detectable(n, power, kind=kind) for kind in ("spearman", "kendall")]
        rho, tau = ("–" if each is None else f"{each:.3f}" for each in found)
        notes.append(
            _("With {n} sessions: Spearman {rho} or more, Kendall {tau} or more.").format(
                n=n, rho=rho, tau=tau
            )
        )
    return Table.of(
        _("Sessions needed, two-sided at {alpha:g}, with a power of {power:.0%}").format(
            alpha=ALPHA, power=power
        ),
        (_("Correlation"), _("Spearman"), _("Kendall")),
        lines,
        notes,
        view="meaning",
    )
