"""Tables of what was found in simulators' turns, and of the turns to read first."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.fidelity.findings import SEVERITY
from cuecard.annotate.fidelity.model import (
    AGAINST_REFERENCE,
    Fidelity,
    FindingCount,
    FindingKind,
    SimulatorFindings,
)
from cuecard.annotate.fidelity.sheets import WORST, TurnCell, count_cell, figure_cell
from cuecard.annotate.fidelity.turns import Turns
from cuecard.annotate.fidelity.words import (
    MET_WORDS,
    decision_word,
    finding_word,
    findings_word,
    place_word,
    rate_word,
    simulator_word,
)
from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _, ngettext


def finding_sheets(found: Fidelity) -> Iterator[Sheet]:
    """What was found in each simulator's turns and how often; then how like its words are to people's."""
    people = next((each for each in found.findings if each.simulator is None), None)
    simulators = [each for each in found.findings if each.simulator is not None and each.turns]
    for each in simulators:
        yield _of_one(found, each, people)
    lines = [line for each in simulators for line in _similar(found, each)]
    if lines:
        yield Sheet(
            view="findings",
            title=_("How like the person's words"),
            headings=(_("Turns"), _("n (tasks)"), "chrF", _("length ratio")),
            lines=tuple(lines),
            notes=(
                _(
                    "Of turns in which not both say the line or the clue as it is written. chrF is 1 for the same"
                    " words; a length ratio above 1 means that the simulator says more."
                ),
            ),
        )


def _of_one(found: Fidelity, each: SimulatorFindings, people: SimulatorFindings | None) -> Sheet:
    """All that is told against the reference; of the other kinds those that anybody's words have."""
    shown: list[FindingKind | None] = [
        kind
        for kind in SEVERITY
        if (kind in AGAINST_REFERENCE and each.count(kind)) or _n(each, kind) or _n(people, kind)
    ]
    lines: list[Line] = []
    for kind in (*shown, None):
        counted = _count(each, kind)
        turns = Turns(simulator=each.simulator, finding=kind, found=True)
        lines.append(
            (
                TurnCell(finding_word(kind)),
                count_cell(counted.n if counted else 0, turns),
                count_cell(counted.turns if counted else 0),
                TurnCell(rate_word(counted), turns=turns),
                TurnCell(rate_word(_count(people, kind))),
            )
        )
    missing = dict.fromkeys(count.rate.no_interval for count in (*each.counts, each.with_any))
    turns = ngettext("{n} turn", "{n} turns", each.turns).format(n=f"{each.turns:,}")
    tasks = ngettext("{n} task", "{n} tasks", each.tasks).format(n=f"{each.tasks:,}")
    name = simulator_word(each.simulator, found.simulators) if each.simulator else ""
    return Sheet(
        view="findings",
        title=_("Findings, {simulator}: {turns} on {tasks}").format(
            simulator=name, turns=turns, tasks=tasks
        ),
        headings=(
            _("Finding"),
            _("turns"),
            _("of"),
            _("in 100 turns"),
            _("people in 100"),
        ),
        lines=tuple(lines),
        notes=(
            _(
                "Early is counted over turns held for not met, late over those held for met, the rest over all"
                " turns. People are held to the same rules: to their own decision, unless the turn was adjudicated."
            ),
            *(_("No interval: {reason}.").format(reason=why) for why in missing if why),
        ),
    )


def _n(each: SimulatorFindings | None, kind: FindingKind) -> int:
    counted = each.count(kind) if each else None
    return counted.n if counted else 0


def _count(each: SimulatorFindings | None, kind: FindingKind | None) -> FindingCount | None:
    if each is None:
        return None
    return each.with_any if kind is None else each.count(kind)


def _similar(found: Fidelity, each: SimulatorFindings) -> Iterator[Line]:
    name = simulator_word(each.simulator, found.simulators) if each.simulator else ""
    turns = Turns(simulator=each.simulator)
    for likeness in each.similarity:
        yield (
            TurnCell(f"{name}: {_(MET_WORDS[likeness.met])}"),
            count_cell(likeness.n, turns, likeness.tasks),
            figure_cell(likeness.chrf, turns),
            figure_cell(likeness.length, turns),
        )


def worst_sheets(found: Fidelity, limit: int = WORST) -> Iterator[Sheet]:
    """Which turns to read first."""
    shown = found.worst[: max(0, limit)]
    if not shown:
        return
    yield Sheet(
        view="worst",
        title=_("Worst turns: {n} of {all}").format(n=len(shown), all=f"{len(found.worst):,}"),
        headings=(
            _("Turn"),
            _("Simulator"),
            _("Findings"),
            _("held for right"),
            _("simulator"),
        ),
        lines=tuple(
            (
                TurnCell(place_word(turn)),
                TurnCell(simulator_word(turn.simulator, found.simulators)),
                TurnCell(findings_word(turn)),
                TurnCell(decision_word(turn.subject, turn.reference)),
                TurnCell(decision_word(turn.subject, turn.decision)),
            )
            for turn in shown
        ),
    )
