"""A fidelity report as tables, with the names of simulators, decisions and findings in them."""

from collections.abc import Iterator, Sequence

from cuecard.annotate.fidelity.findings import Turns
from cuecard.annotate.fidelity.inputs import GroupBy, Subject
from cuecard.annotate.fidelity.model import (
    Agreement,
    Fidelity,
    FindingCount,
    FindingKind,
    Met,
    PeopleAgreement,
    TurnFindings,
)
from cuecard.annotate.labelling.comparison_model import statistic_word
from cuecard.core.engine.messages import STATUS_WORDS, CheckpointStatus, PlayerRef
from cuecard.core.families.checkpoints.gold import AMBIGUITY_WORDS, AmbiguityType
from cuecard.core.i18n import N_, _, beside, headed, listed, ngettext
from cuecard.core.tables.table import Cell, Shown, Table, cell, difference
from cuecard.core.tasks.models import CUE_WORDS
from cuecard.core.text import one_line

SUBJECT_WORDS: dict[Subject, str] = {
    "cue": N_("Cues met or not"),
    "status": N_("Readings of checkpoint turns"),
}
GROUP_WORDS: dict[GroupBy, str] = {
    "cue": N_("By cue"),
    "stage": N_("By stage or step"),
    "language": N_("By language"),
    "agent": N_("By agent"),
    "source": N_("By when the simulator was asked"),
}
SOURCE_WORDS: dict[str, str] = {
    "played": N_("played itself"),
    "live": N_("listened live"),
    "later": N_("asked afterwards"),
}
FINDING_WORDS: dict[FindingKind, str] = {
    FindingKind.EARLY: N_("discloses early"),
    FindingKind.LATE: N_("discloses late"),
    FindingKind.STATUS: N_("reads the turn otherwise"),
    FindingKind.LEAK: N_("gives gold away"),
    FindingKind.FORBIDDEN: N_("says what is forbidden"),
    FindingKind.AHEAD: N_("says a later line or clue"),
    FindingKind.SKIPPED: N_("skips a stage"),
    FindingKind.DOUBLED: N_("says a line twice, or two at once"),
    FindingKind.MISSING_LINE: N_("leaves the line out"),
    FindingKind.MARKDOWN: N_("writes Markdown"),
    FindingKind.STRUCTURE: N_("asks for triples, tables and the like"),
    FindingKind.COACHED: N_("tells the agent what to ask"),
    FindingKind.IGNORED: N_("ignores a question"),
    FindingKind.UNUSABLE: N_("cannot be used"),
}
MET_WORDS: dict[Met, str] = {"": N_("all"), "met": N_("met"), "not_met": N_("not met")}
_FOUND = 40
_LANGUAGES = {"en": N_("English"), "zh": N_("Chinese")}


def simulator_word(player: PlayerRef, among: Sequence[PlayerRef] = ()) -> str:
    """Name and model, with the version if two of `among` would be named alike, and whether it is an offline baseline,
    which must not be taken for a model.
    """
    name, model = one_line(player.name, 40), one_line(player.model, 40)
    word = beside(name, model) if model != name else name
    alike = [p for p in among if (p.name, p.model) == (player.name, player.model)]
    if len(alike) > 1 and player.version:
        word += f" v{one_line(player.version, 12)}"
    return _("{name} (baseline)").format(name=word) if player.baseline else word


def decision_word(subject: Subject, decision: str) -> str:
    """`met`, `not met`, a status in words; a dash where nothing was decided."""
    if not decision:
        return "–"
    if subject == "cue":
        return _("met") if decision == "yes" else _("not met")
    return _(STATUS_WORDS[CheckpointStatus(decision)])


def group_word(by: GroupBy, value: str) -> str:
    """The value of a grouping as it is read."""
    if not value:
        return _("not ambiguous") if by == "cue" else "–"
    match by:
        case "source":
            return _(SOURCE_WORDS.get(value, value))
        case "language":
            return _(_LANGUAGES.get(value, value))
        case "cue" if value in CUE_WORDS:
            return _(CUE_WORDS[value])
        case "cue":
            return _(AMBIGUITY_WORDS[AmbiguityType(value)])
        case _:
            return one_line(value, 60)


def finding_word(kind: FindingKind | None) -> str:
    """None: any finding."""
    return _("any of these") if kind is None else _(FINDING_WORDS[kind])


def findings_word(turn: TurnFindings) -> str:
    """What is wrong with a turn, with the words that show it."""
    return _("; ").join(
        beside(finding_word(f.kind), one_line(f.found, _FOUND)) for f in turn.findings
    )


def place_word(turn: TurnFindings) -> str:
    """Where a turn is."""
    return _("trial {trial}, turn {turn}").format(trial=turn.trial_id, turn=turn.turn)


def rate_word(count: FindingCount | None) -> str:
    """How many turns of a hundred, with the interval: `7.5 [2.1, 19.0]`."""
    rate = count.rate if count else None
    if rate is None or rate.value is None:
        return "–"
    if rate.interval is None:
        return f"{100 * rate.value:.1f}"
    low, high = (100 * end for end in rate.interval)
    return f"{100 * rate.value:.1f} [{low:.1f}, {high:.1f}]"


def circumstances(found: Fidelity) -> list[str]:
    """What the numbers are based on, as sentences."""
    turns = ngettext("{n} user turn", "{n} user turns", found.turns).format(n=f"{found.turns:,}")
    lines = [
        ngettext(
            "{turns} of {trials} trial, of which people played {played}.",
            "{turns} of {trials} trials, of which people played {played}.",
            found.trials,
        ).format(turns=turns, trials=f"{found.trials:,}", played=f"{found.played:,}"),
        _("Simulators: {simulators}. People: {people}.").format(
            simulators=listed(simulator_word(p, found.simulators) for p in found.simulators)
            or _("none"),
            people=listed(one_line(name, 40) for name in found.people) or _("nobody"),
        ),
        _(
            "Held for right: what was adjudicated, else the person who played, else most of those who decided"
            " blind. Intervals are 95%, by task."
        ),
    ]
    if found.unsure or found.undecided:
        lines.append(
            _(
                "Left open, and not counted: {unsure} times by people, {undecided} by simulators."
            ).format(unsure=found.unsure, undecided=found.undecided)
        )
    if found.stale:
        lines.append(
            ngettext(
                "{n} reply of a simulator is to words that were taken back, and does not count.",
                "{n} replies of simulators are to words that were taken back, and do not count.",
                found.stale,
            ).format(n=found.stale)
        )
    if any(player.baseline for player in found.simulators):
        lines.append(_("A baseline is an embedded offline player, not an LLM."))
    return lines


WORST = 10


def fidelity_tables(found: Fidelity, worst: int = WORST) -> tuple[Table, ...]:
    """Every table that has content, section by section; `worst`: how many of the worst turns."""
    from cuecard.annotate.fidelity.detail_tables import (
        finding_tables,
        meaning_tables,
        outcome_tables,
        worst_tables,
    )

    return (
        *cue_tables(found),
        *finding_tables(found),
        *worst_tables(found, worst),
        *outcome_tables(found),
        *meaning_tables(found),
    )


def count_cell(n: int, tasks: int | None, turns: Turns | None = None) -> Cell:
    """`120 (8)`: on how many tasks."""
    return cell(n if tasks is None else f"{n:,} ({tasks:,})", turns)


def cue_tables(found: Fidelity) -> Iterator[Table]:
    """Agreement on decisions: simulators beside each other and beside people, then the parts of each."""
    for subject, title in SUBJECT_WORDS.items():
        whole = [a for a in found.agreements if a.subject == subject and a.by is None]
        lines = [
            *(_agreement(simulator_word(each.simulator, found.simulators), each) for each in whole),
            *(_of_people(each) for each in found.among_people if each.subject == subject),
        ]
        if not lines:
            continue
        yield Table.of(
            _("{subject}: simulators and people").format(subject=_(title)),
            _headings(_("Simulator")),
            lines,
            view="cues",
        )
        yield from _beside(found, subject)
        for each in whole:
            yield from _parts(found, each)
            yield from _confusion(found, each)


def _headings(first: str) -> tuple[str, ...]:
    names = ("percent", "cohen_kappa", "ac1")
    return (first, _("n (tasks)"), *(statistic_word(name) for name in names))


def _agreement(name: str, each: Agreement) -> Sequence[Shown]:
    turns = Turns(
        simulator=each.simulator, subject=each.subject, by=each.by, value=each.value, decided=True
    )
    figures = (each.percent, each.cohen_kappa, each.ac1)
    return (name, count_cell(each.n, each.tasks, turns), *(cell(one, turns) for one in figures))


def _of_people(each: PeopleAgreement) -> Sequence[Shown]:
    n = count_cell(each.n, each.tasks)
    return (_("people among themselves"), n, each.percent, each.cohen_kappa, each.ac1)


def _beside(found: Fidelity, subject: Subject) -> Iterator[Table]:
    lines: list[Sequence[Shown]] = []
    for each in found.ceilings:
        if each.subject != subject:
            continue
        table, turns = each.table, Turns(simulator=each.simulator, subject=subject, decided=True)
        name = simulator_word(each.simulator, found.simulators)
        rows = (table.judge_people, table.people_people, table.difference)
        lines += (
            (
                headed(name, statistic_word(three[0].name)),
                count_cell(table.n, table.groups, turns),
                *(cell(row.statistic, turns) for row in three[:2]),
                difference(three[2].statistic, place=turns),
            )
            for three in zip(*rows, strict=True)
        )
    if lines:
        yield Table.of(
            _("{subject}: as near to people as people are to each other").format(
                subject=_(SUBJECT_WORDS[subject])
            ),
            (_("Simulator"), _("n (tasks)"), _("with people"), _("people alone"), _("difference")),
            lines,
            (_("Means over pairs of raters, on turns that two people or more decided."),),
            view="cues",
        )


def _parts(found: Fidelity, whole: Agreement) -> Iterator[Table]:
    for by, title in GROUP_WORDS.items():
        parts = [
            each
            for each in found.agreements
            if each.by == by and each.subject == whole.subject and each.simulator == whole.simulator
        ]
        if parts:
            yield Table.of(
                _("{simulator}: {group}").format(
                    simulator=simulator_word(whole.simulator, found.simulators), group=_(title)
                ),
                _headings(_("Turns")),
                [_agreement(group_word(by, each.value), each) for each in parts],
                view="cues",
            )


def _confusion(found: Fidelity, each: Agreement) -> Iterator[Table]:
    """Only the decisions that were made at all."""
    matrix = each.confusion
    if matrix is None or not each.n:
        return

    def turns(row: str = "", column: str = "") -> Turns:
        return Turns(
            simulator=each.simulator, subject=each.subject, decided=True, row=row, column=column
        )

    sums = [sum(column) for column in zip(*matrix.counts, strict=True)]
    used = [
        at
        for at, counts in enumerate(matrix.counts)
        if sum(counts) or sums[at] or each.subject == "cue"
    ]
    labels = matrix.labels
    words = {at: decision_word(each.subject, labels[at]) for at in used}
    lines = [
        (
            words[row],
            *(cell(matrix.counts[row][at], turns(labels[row], labels[at])) for at in used),
            cell(sum(matrix.counts[row]), turns(labels[row])),
        )
        for row in used
    ]
    totals = [cell(sums[at], turns("", labels[at])) for at in used]
    yield Table.of(
        _("{simulator} (down) and what is held for right (across)").format(
            simulator=simulator_word(each.simulator, found.simulators)
        ),
        ("", *words.values(), _("together")),
        [*lines, (_("together"), *totals, cell(matrix.n, turns()))],
        view="cues",
    )
