"""A run's trials for the screen: the mosaic of all, the filtered and sorted list, and its rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from rich.cells import cell_len

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.records import TrialRecord
from cuecard.core.scoring.measures import measure_label
from cuecard.core.text import one_line
from cuecard.core.verdicts import Measures
from cuecard.tui.grid.cells import NOTHING, GridCell, aligned
from cuecard.tui.grid.cells import Tone as CellTone
from cuecard.tui.present.entries import Piece, Tone
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.runs import (
    MAIN_MEASURE,
    STATE_LOOK,
    TrialState,
    done_of,
    state_words,
    trial_state,
)
from cuecard.tui.present.trial_summary import measure_value

PARTLY = "◐"
"""The mark of several trials that stand differently."""
_MANY, _SOME = 0.5, 0.1
_LABEL = 16
"""Cells that the name of an agent may take at least."""
_LEAST = 8


def mosaic(
    trials: Sequence[TrialRecord], playing: Mapping[int, int], width: int, height: int
) -> list[list[Piece]]:
    """At most `height` lines of `width` cells. Agents of one run play the same tasks, so what stands below each
    other is the same task. Where trials are more than cells, a mark stands for several: failed if half of them have,
    partly failed if a tenth have, else playing if one is. Nothing for a single trial.
    """
    if len(trials) < 2 or height < 1:
        return []
    rows: dict[str, list[TrialState]] = {}
    for trial in trials:
        rows.setdefault(trial.agent.name, []).append(trial_state(trial, playing))
    label = min(max(_LABEL, width // 4), max(cell_len(one_line(name)) for name in rows))
    label = label if width - label > _LEAST else 0
    across = max(1, width - label - 1)
    most = max(map(len, rows.values()))
    shown = list(rows.items())
    if len(shown) > height:
        shown = shown[: max(1, height - 1)]
    hidden = len(rows) - len(shown)
    free = max(1, height - bool(hidden))
    # The legend takes a line where marks stand for several.
    deep, each = _shape(most, across, free // len(shown))
    if each > 1 and free > len(shown):
        deep, each = _shape(most, across, (free - 1) // len(shown))
    lines: list[list[Piece]] = []
    for name, states in shown:
        marks = [_mark(states[at : at + each]) for at in range(0, len(states), each)]
        for line in range(max(1, -(-len(marks) // across)) if deep > 1 else 1):
            head = aligned(one_line(name), label) if line == 0 else " " * label
            lines.append(
                [Piece(f"{head} ", "muted"), *_merged(marks[line * across : (line + 1) * across])]
            )
    if hidden and len(lines) < height:
        more = ngettext("and {n} more agent", "and {n} more agents", hidden).format(n=hidden)
        lines.append([Piece(more, "muted")])
    if each > 1 and len(lines) < height:
        lines.append([Piece(_("each mark stands for {n} trials").format(n=each), "muted")])
    return lines


def _shape(trials: int, across: int, lines: int) -> tuple[int, int]:
    """Lines for an agent, and how many trials a mark stands for."""
    lines = max(1, lines)
    each = max(1, -(-trials // (across * lines)))
    return -(-trials // (across * each)), each


def _mark(states: Sequence[TrialState]) -> tuple[str, Tone]:
    found = Counter(states)
    failed = found.pop(TrialState.FAILED, 0) / len(states)
    if failed >= _MANY:
        telling = TrialState.FAILED
    elif failed >= _SOME:
        return PARTLY, "bad"
    elif TrialState.PLAYING in found:
        telling = TrialState.PLAYING
    elif len(found) > 1:
        return PARTLY, "plain"
    else:
        (telling,) = found
    glyph, tone, _label = STATE_LOOK[telling]
    return glyph, tone


def _merged(marks: Sequence[tuple[str, Tone]]) -> list[Piece]:
    """Neighbours of one tone as one piece."""
    pieces: list[Piece] = []
    for glyph, tone in marks:
        if pieces and pieces[-1].tone == tone:
            pieces[-1] = Piece(pieces[-1].text + glyph, tone)
        else:
            pieces.append(Piece(glyph, tone))
    return pieces


class Show(StrEnum):
    """Which trials."""

    ALL = "all"
    FAILED = "failed"
    UNJUDGED = "unjudged"
    OPEN = "open"
    JUDGED = "judged"


SHOW_WORDS: dict[Show, str] = {
    Show.ALL: N_("all trials"),
    Show.FAILED: N_("failed trials"),
    Show.UNJUDGED: N_("ended, not judged"),
    Show.OPEN: N_("open trials"),
    Show.JUDGED: N_("judged trials"),
}


_STATES = (
    TrialState.FAILED,
    TrialState.PLAYING,
    TrialState.BEGUN,
    TrialState.WAITING,
    TrialState.ENDED,
)
_CELL_TONES: dict[Tone, CellTone] = {
    "good": "good",
    "bad": "bad",
    "muted": "muted",
    "user": "accent",
}


class Entry(NamedTuple):
    """A trial as it stands. `measures`: of one that is judged; `playing`: the turns so far of one that is played; `problem`:
    why it could not be played or judged.
    """

    trial: TrialRecord
    state: TrialState
    measures: Measures | None = None
    playing: int | None = None
    problem: str = ""
    tags: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        return self.measures is not None

    @property
    def score(self) -> float | None:
        """Its family's main measure, None where that is undefined or it is not judged."""
        return self.measures.value(MAIN_MEASURE[self.trial.family]) if self.measures else None

    @property
    def turns(self) -> str:
        if self.playing is not None:
            return str(self.playing)
        said = self.measures.value("agent_turns") if self.measures else None
        return "" if said is None else measure_value("agent_turns", said)

    @property
    def reason(self) -> str:
        """Why it failed or could not be judged."""
        return self.problem or (self.trial.detail if self.state is TrialState.FAILED else "")

    @property
    def shown_as(self) -> frozenset[Show]:
        ended = self.trial.termination is not None
        kind = Show.JUDGED if self.judged else Show.UNJUDGED if ended else Show.OPEN
        failed = {Show.FAILED} if self.state is TrialState.FAILED else set[Show]()
        return frozenset({Show.ALL, kind} | failed)


@dataclass(frozen=True)
class FigureTrials:
    """The trials behind a figure, and what it is called."""

    trials: frozenset[int]
    title: str


def entries_of(
    trials: Sequence[TrialRecord],
    playing: Mapping[int, int],
    scores: Mapping[int, Measures],
    problems: Mapping[int, str],
    tags: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Entry]:
    """`scores` of the judged trials and `problems` by the trial's id, `playing`: turns so far, `tags` by uid."""
    found = tags or {}
    return [
        Entry(
            trial,
            trial_state(trial, playing),
            scores.get(trial.id),
            playing.get(trial.id),
            problems.get(trial.id, ""),
            found.get(trial.uid, ()),
        )
        for trial in trials
    ]


class RunTrials:
    """What is listed of a run's trials, kept while the run goes on."""

    def __init__(self) -> None:
        self.show = Show.ALL
        self.behind: FigureTrials | None = None
        self.entries: Sequence[Entry] = ()

    @property
    def rows(self) -> Sequence[Entry]:
        if not self.narrowed:
            return self.entries
        behind = self.behind
        return [
            entry
            for entry in self.entries
            if self.show is Show.ALL or self.show in entry.shown_as
            if behind is None or entry.trial.id in behind.trials
        ]

    @property
    def narrowed(self) -> bool:
        return self.behind is not None or self.show is not Show.ALL

    def count(self, show: Show) -> int:
        return sum(show in entry.shown_as for entry in self.entries)

    def next_show(self) -> None:
        """The next kind of trials of which there are any."""
        kinds = [show for show in Show if show in (Show.ALL, self.show) or self.count(show)]
        self.show = after(self.show, kinds)

    def clear(self) -> None:
        """List all of them again."""
        self.show, self.behind = Show.ALL, None

    def heading(self) -> list[Piece]:
        """What is listed, of how many."""
        shown, every = len(self.rows), len(self.entries)
        pieces: list[Piece] = []
        if self.behind:
            title = _("Behind {figure}").format(figure=one_line(self.behind.title, 60))
            pieces += [Piece(title, "strong"), Piece(" · ")]
        if self.show is not Show.ALL:
            pieces += [Piece(_(SHOW_WORDS[self.show]), "strong"), Piece(" · ")]
        number = ngettext("{n} trial", "{n} trials", shown).format(n=f"{shown:,}")
        if shown != every:
            number = done_of(shown, every)
        return [*pieces, Piece(number, "muted")]


def failed(rows: Sequence[Entry]) -> tuple[int, ...]:
    """The trials among these that failed."""
    return tuple(row.trial.id for row in rows if row.state is TrialState.FAILED)


def state_order(entry: Entry) -> tuple[int, bool]:
    """For sorting: failed ones first."""
    return _STATES.index(entry.state), entry.judged


def state_cell(entry: Entry) -> GridCell:
    """How it stands, or ended."""
    words, tone = state_words(entry.trial, entry.state)
    return GridCell(words, _CELL_TONES.get(tone, "plain"))


def outcome(entry: Entry) -> GridCell:
    """The score and why it failed; before there is one, what there is to know instead."""
    if entry.judged:
        main = MAIN_MEASURE[entry.trial.family]
        said = f"{measure_label(main)} {measure_value(main, entry.score)}"
        return GridCell(f"{said} · {entry.reason}" if entry.reason else said)
    if entry.reason:
        return GridCell(entry.reason, "bad")
    if entry.trial.termination is not None:
        return GridCell(_("not judged"), "warn")
    return NOTHING
