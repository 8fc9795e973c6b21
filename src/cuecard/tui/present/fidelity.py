"""The state of the fidelity screens: tables, turns beside people's decisions, and ratings plotted against scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from typing import Annotated, Literal

from pydantic import Field

from cuecard.annotate.fidelity.correlation import detectable, sessions_needed
from cuecard.annotate.fidelity.findings import TurnRow, Turns
from cuecard.annotate.fidelity.inputs import Case, FidelityInputs, Scope
from cuecard.annotate.fidelity.model import Correlation, Fidelity, Point
from cuecard.annotate.fidelity.tables import (
    FINDING_WORDS,
    SOURCE_WORDS,
    circumstances,
    decision_word,
    simulator_word,
)
from cuecard.core.families.registry import chain_of
from cuecard.core.i18n import N_, NP_, _, headed, listed, ngettext, plural
from cuecard.core.records import SessionForm
from cuecard.core.scoring.measures import measure_label
from cuecard.core.tables.table import Cell, Table, figure
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import CUE_WORDS
from cuecard.core.text import one_line
from cuecard.tui.grid.cells import GridCell, GridColumn
from cuecard.tui.present.entries import Paragraph, Piece, Tone
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import player_name
from cuecard.tui.present.tables import Tab, TablesView

Section = Literal["cues", "findings", "outcome", "meaning"]
SECTIONS: dict[Section, Tab] = {
    "cues": Tab(
        "fidelity.cues", "c", N_("Cues"), N_("Agreement on cues met, by cue, stage, language")
    ),
    "findings": Tab(
        "fidelity.findings",
        "f",
        N_("Findings"),
        N_("Early, late, skipped, doubled, leaks, broken rules"),
    ),
    "outcome": Tab(
        "fidelity.outcome",
        "o",
        N_("Outcome"),
        N_("People and simulator on the same tasks and agents"),
    ),
    "meaning": Tab(
        "fidelity.meaning", "m", N_("Meaning"), N_("Do scores go with what people said")
    ),
}
WORST = "w"
"""The key of the worst turns, which stand between the sections as a list of their own."""
FigureTrials = Turns | Correlation
"""Turns to read, or sessions to plot."""


@dataclass
class FidelityView(TablesView[Section]):
    """`scales`: the ends of the form's questions, by key."""

    inputs: FidelityInputs
    found: Fidelity
    tables: tuple[Table, ...]
    scales: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    section: Section = "cues"
    plotted: bool = False
    _at: dict[Section, int] = field(default_factory=dict["Section", int])

    @property
    def anything(self) -> bool:
        return bool(self.found.simulators or self.found.meaning)

    @property
    def named(self) -> Mapping[Section, Tab]:
        return SECTIONS

    def of(self, section: Section) -> list[Table]:
        return [table for table in self.tables if table.view == section]

    @property
    def tabs(self) -> list[Piece]:
        pieces, at = super().tabs, 1 + 2 * list(SECTIONS).index("outcome")
        worst = Piece(f" {WORST} {_('Worst turns')} ", "muted")
        return [*pieces[:at], worst, Piece(" "), *pieces[at:]]

    def circumstances(self) -> Sequence[str]:
        return circumstances(self.found)

    def opens(self, row: int, column: int) -> bool:
        return self.behind(row, column) is not None

    def behind(self, row: int, column: int) -> FigureTrials | None:
        """What lies behind the cell; of a name or a count, behind its line's first figure."""
        cell = self.cell(row, column)
        if cell is None or self.table is None:
            return None
        if found := _of(cell):
            return found
        if self.plotted or cell.statistic is not None:
            return None
        return next((each for each in map(_of, self.table.lines[row]) if each), None)

    def why_empty(self) -> str:
        """How to get data for this section."""
        match self.section:
            case "cues":
                text = _(
                    "no turn has both a person's and a simulator's decision. Re-play a dialogue ({PLAY}), or"
                    " play one with simulators listening."
                )
                return hint(text)
            case "findings":
                return _("no simulator has spoken.")
            case "outcome":
                return _(
                    "no task was played by people and by a simulator with the same agent and world."
                )
            case "meaning":
                return _("nobody has answered the form after a session that was scored.")


def _of(cell: Cell) -> FigureTrials | None:
    return cell.place if isinstance(cell.place, Turns | Correlation) else None


def scales_of(forms: Iterable[SessionForm]) -> dict[str, tuple[int, int]]:
    """From the lowest to the highest number that a question was ever asked with."""
    found: dict[str, tuple[int, int]] = {}
    for form in forms:
        for each in form.questions:
            if each.kind == "scale":
                low, high = found.get(each.key, (each.lowest, each.highest))
                found[each.key] = (min(low, each.lowest), max(high, each.highest))
    return found


def title_words(view: FidelityView, name: str, scope: Scope) -> str:
    """What the report is about."""
    found = view.found
    parts = [one_line(name, 90) or _("Fidelity")]
    turns = ngettext("{n} turn", "{n} turns", found.turns)
    parts.append(turns.format(n=f"{found.turns:,}"))
    played = ngettext("{n} dialogue by people", "{n} dialogues by people", found.played)
    parts.append(played.format(n=f"{found.played:,}"))
    parts.append(plural("{n} simulator", "{n} simulators", len(found.simulators)))
    if scope.simulators or len(scope.runs) > 1:
        parts.append(hint(_("chosen with {EDIT}")))
    return " · ".join(parts)


class Sizes(Frozen):
    """The correlation to find, and how sure to be of it."""

    size: Annotated[float, Field(title=N_("Correlation to find"), ge=0.001, le=0.999)] = 0.3
    power: Annotated[float, Field(title=N_("Chance to find it"), ge=0.001, le=0.999)] = 0.8
    alpha: Annotated[float, Field(title=N_("Chance of a false alarm"), ge=0.001, le=0.999)] = 0.05


def sizes_lines(sizes: Sizes, sessions: int, effect: float | None) -> list[str]:
    """What it takes, then what the `sessions` that there are can find. Their variance is `effect` times that of
    independent ones (None: not known).
    """
    wanted, chance, alarm = sizes.size, sizes.power, sizes.alpha
    needed = [sessions_needed(wanted, chance, alarm, kind) for kind in ("spearman", "kendall")]
    lines = [
        _("Spearman's rho of {size:g}: {n} independent sessions.").format(
            size=wanted, n=f"{needed[0]:,}"
        ),
        _("Kendall's tau of {size:g}: {n} independent sessions.").format(
            size=wanted, n=f"{needed[1]:,}"
        ),
    ]
    if effect is not None and effect > 1:
        lines.append(
            _(
                "Sessions of one task are alike here: like this, it takes {times:.2f} times as many, {n} for"
                " Spearman."
            ).format(times=effect, n=f"{ceil(needed[0] * effect):,}")
        )
    if sessions:
        least = detectable(sessions, chance, alarm)
        lines.append(
            _("The {n} scored sessions that there are find a rho of {least:.2f} or more.").format(
                n=f"{sessions:,}", least=least
            )
            if least is not None
            else _("The {n} scored sessions here are too few for any.").format(n=f"{sessions:,}")
        )
    return lines


NONE = "–"


def place_word(case: Case) -> str:
    """Where in the task: the stage and its title, or the step."""
    if case.checkpoint is not None:
        return _("step {n}").format(n=case.checkpoint + 1)
    if case.stage is None:
        return _("all said")
    title = one_line(case.task.stages[case.stage - 1].title, 40)
    return _("stage {n} {title}").format(n=case.stage, title=title)


def findings_word(row: TurnRow) -> str:
    return listed(_(FINDING_WORDS[finding.kind]) for finding in row.findings)


def heading(row: TurnRow) -> str:
    """`espresso · turn 4 · stage 3 … · trial 12 · seeker`."""
    case = row.case
    parts = (
        case.task.title,
        _("turn {n}").format(n=case.turn + 1),
        place_word(case),
        _("trial {n}").format(n=case.trial_id),
        _("agent {name}").format(name=player_name(case.agent)),
    )
    return " · ".join(one_line(part, 40) for part in parts)


def cue_paragraphs(case: Case) -> list[Paragraph]:
    """What was to be decided: the cue with its kind, or the step."""
    chain = chain_of(case.task)
    if chain and case.checkpoint is not None and case.checkpoint < len(chain.steps):
        return [Paragraph(chain.steps[case.checkpoint].question, "stage")]
    if case.stage is None:
        return []
    stage = case.task.stages[case.stage - 1]
    lines = [Paragraph(headed(_(CUE_WORDS[stage.cue.kind.value]), stage.cue.text), "stage")]
    return [*lines, Paragraph(_("line: {line}").format(line=stage.line), "muted")]


def people_paragraphs(row: TurnRow) -> list[Paragraph]:
    """Who decided what, and the words of the person who played."""
    case = row.case
    lines: list[Paragraph] = []
    if row.reference:
        lines.append(Paragraph(decision_word(case.subject, row.reference), "strong"))
    for name, value in case.people.items():
        said = headed(name, decision_word(case.subject, value))
        if name == case.player:
            said += f" · {_('played it')}"
        lines.append(Paragraph(said, "muted"))
    if case.adjudicated:
        word = decision_word(case.subject, case.adjudicated)
        lines.append(Paragraph(_("adjudicated: {label}").format(label=word), "muted"))
    if not case.people and not case.adjudicated:
        lines.append(Paragraph(_("Nobody has decided on this turn."), "muted"))
    if case.person is not None:
        lines += [Paragraph(""), Paragraph(case.person.text or NONE)]
    return lines


def simulator_paragraphs(row: TurnRow) -> list[Paragraph]:
    """What the simulator decided and said, what is wrong with it, and why it decided so."""
    tone: Tone = "bad" if row.differs else "good" if row.reference and row.decision else "strong"
    lines = [Paragraph(decision_word(row.case.subject, row.decision), tone)]
    for finding in row.findings:
        said = _(FINDING_WORDS[finding.kind])
        if finding.found:
            said += f": {one_line(finding.found, 160)}"
        if finding.flagged:
            said += f" · {_('mended since')}"
        lines.append(Paragraph(f"⚑ {said}", "bad"))
    lines += [Paragraph(""), Paragraph(row.voice.reply.text or NONE)]
    if row.voice.reply.reason:
        reason = _("why: {reason}").format(reason=row.voice.reply.reason)
        lines += [Paragraph(""), Paragraph(reason, "muted")]
    return lines


def simulator_title(row: TurnRow) -> str:
    return f"{simulator_word(row.voice.player)} · {_(SOURCE_WORDS[row.voice.source])}"


MOST, LEAST = 12, 3
_NAMED = 8


@dataclass(frozen=True)
class Scatter:
    """Rows of answers from the highest to the lowest, columns of scores from the lowest. `edges`: where
    the columns begin, and at last where the scale ends; the last column holds its end.
    """

    answers: tuple[float, ...]
    edges: tuple[float, ...]
    points: tuple[Point, ...]

    @property
    def columns(self) -> int:
        return len(self.edges) - 1

    def at(self, row: int, column: int | None = None) -> tuple[Point, ...]:
        """The sessions in a cell, or in a whole row."""
        if not 0 <= row < len(self.answers):
            return ()
        return tuple(
            point
            for point in self.points
            if point.x == self.answers[row] and column in (None, self.column_of(point.y))
        )

    def column_of(self, score: float) -> int:
        for column in range(self.columns - 1, 0, -1):
            if score >= self.edges[column]:
                return column
        return 0

    def counts(self, row: int) -> list[int]:
        cells = [0] * self.columns
        for point in self.at(row):
            cells[self.column_of(point.y)] += 1
        return cells


def scatter_of(points: Sequence[Point], scale: tuple[int, int] | None, room: int) -> Scatter:
    """Every whole answer of the `scale` (lowest, highest; None: those given) has a row; scores between 0
    and 1 are laid over all of that, others from the lowest to the highest, in at most `room` columns.
    """
    given = {point.x for point in points}
    if scale is not None:
        given |= {float(answer) for answer in range(scale[0], scale[1] + 1)}
    scores = [point.y for point in points]
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        low, high = low - 0.5, high + 0.5
    columns = _columns(low, high, max(LEAST, min(MOST, room)))
    step = (high - low) / columns
    edges = (*(round(low + step * n, 10) for n in range(columns)), high)
    return Scatter(tuple(sorted(given, reverse=True)), edges, tuple(points))


def _columns(low: float, high: float, most: int) -> int:
    """Tenths or fifths where they fit a scale of shares; one for each number of a few whole ones."""
    if (low, high) == (0.0, 1.0):
        return next((n for n in (10, 5, 4) if n <= most), most)
    span = high - low
    if span == floor(span) and low == floor(low) and LEAST <= span <= most:
        return int(span)
    return most


def correlation_text(found: Correlation) -> str:
    """What is held against what, over how many sessions."""
    sessions = ngettext("{n} session", "{n} sessions", found.sessions).format(n=found.sessions)
    tasks = ngettext("{n} task", "{n} tasks", found.tasks).format(n=found.tasks)
    return _("{question} against {measure} · {sessions} on {tasks}").format(
        question=one_line(found.label, 50),
        measure=measure_label(found.measure),
        sessions=sessions,
        tasks=tasks,
    )


def plot_heading(found: Correlation) -> str:
    return _("down: the answer, across: {measure}; in the plane: how many sessions").format(
        measure=measure_label(found.measure)
    )


def plot_columns(scatter: Scatter, width: int) -> list[GridColumn]:
    """The answer, then a column for each stretch of scores, named by where it begins."""
    columns = [GridColumn(NP_("in a form", "Answer"), 6, right=True)]
    for column in range(scatter.columns):
        last = column == scatter.columns - 1
        begins, ends = f"{scatter.edges[column]:.3g}", f"{scatter.edges[-1]:.3g}"
        columns.append(
            GridColumn(f"{begins}–{ends}" if last else begins, width, right=True, raw=True)
        )
    return columns


def plot_cells(scatter: Scatter, row: int) -> list[GridCell]:
    """A number where there are sessions, a dot where there are none."""
    counts = scatter.counts(row)
    cells = [GridCell(str(n), "strong") if n else GridCell("·", "muted") for n in counts]
    return [GridCell(f"{scatter.answers[row]:g}", "accent"), *cells]


def here(points: Sequence[Point]) -> str:
    """How many sessions are meant, and some of them by task and person."""
    names = listed(f"{point.task_id} {point.person}" for point in points[:_NAMED])
    count = ngettext("{n} session", "{n} sessions", len(points)).format(n=len(points))
    return f"{count} · {names}" if names else count


def session_cells(point: Point) -> list[str]:
    return [
        point.task_id,
        point.person,
        str(point.trial_id),
        f"{point.x:g}",
        f"{point.y:.3f}",
    ]


def figure_lines(found: Correlation) -> list[str]:
    """Both correlations over all sessions and within tasks, or why there is none."""
    lines: list[str] = []
    pairs = (
        (_("over all sessions"), found.spearman, found.kendall),
        (_("within tasks"), found.spearman_within, found.kendall_within),
    )
    for where, rho, tau in pairs:
        said = _("{where}: Spearman {rho} · Kendall {tau}").format(
            where=where, rho=figure(rho), tau=figure(tau)
        )
        lines.append(" · ".join(filter(None, (said, rho.remark))))
    return lines
