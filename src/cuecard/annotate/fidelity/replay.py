"""Re-play: a person decides, turn by turn, what the user of a recorded dialogue decided; which dialogues can be."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.session import IDLE, WorkedTime
from cuecard.annotate.fidelity.replay_turns import (
    DifferingTurn,
    OriginalTurn,
    Passed,
    ReplaySummary,
    ReplayTurns,
    ReplayValue,
    ReplayView,
    Turn,
    turns_to_replay,
)
from cuecard.annotate.labelling.views import Draft, Drafts, MemoryDrafts, Target
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.label_records import Label, LabelValue
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ReplaySession:
    """Walks `person` through the user's turns of a recorded trial, from the first that they have not decided. Blocks on
    the database; for threads, one call at a time. Every decision is saved at once.

    Before a turn is decided, nothing shows what came after the agent's reply. Afterwards the recorded decision is
    shown, and that the person has seen it is saved at the same time. Raises `NotFound`, and `NotAllowed` for a dialogue
    that the person took part in.
    """

    def __init__(
        self,
        workspace: Workspace,
        person: str,
        trial_id: int,
        *,
        drafts: Drafts | None = None,
        seen: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seen`: the person has read the whole dialogue before, so their decisions are not blind."""
        self._workspace, self._person = workspace, person.strip()
        self._trial = workspace.runs.trial(trial_id)
        check_replayable(workspace, self._trial, self._person)
        self._task = workspace.tasks.revision(self._trial.task_id, self._trial.revision).task
        self._drafts = drafts or MemoryDrafts()
        self._clock = clock
        self._worked = WorkedTime(idle=IDLE, portion=float("inf"))
        self._labels: dict[Item, list[Label]] = {}
        self._replayed = ReplayTurns((), ())
        self._read()
        turns = self._replayed.turns
        self._position = self._undecided()
        # Who gets to see a turn gets to see what was said and decided in those before it.
        known = turns if seen else turns[: self._position]
        workspace.verdicts.note_reveals([(trial_id, turn.item) for turn in known], self._person)
        self._worked.key(self._clock())

    @property
    def trial_id(self) -> int:
        return self._trial.id

    @property
    def task(self) -> Task:
        return self._task

    @property
    def by(self) -> PlayerRef:
        """Who the recorded user was."""
        return self._trial.user

    @property
    def total(self) -> int:
        """How many turns there are to decide."""
        return len(self._replayed.turns)

    @property
    def decided(self) -> int:
        """How many of them the person has decided, now or earlier."""
        return sum(self._mine(turn) is not None for turn in self._replayed.turns)

    @property
    def current(self) -> ReplayView | None:
        """The turn to decide or to read; None at the end."""
        turns = self._replayed.turns
        if self._position >= len(turns):
            return None
        turn = turns[self._position]
        mine = self._mine(turn)
        return ReplayView(
            trial_id=self.trial_id,
            turn=turn.item.index,
            number=self._position + 1,
            item=turn.item,
            events=self._replayed.spoken[: turn.before],
            choices=turn.choices,
            passed=turn.passed,
            draft=self._drafts.load(self._target(turn)),
            mine=mine,
            original=self._original(turn, mine) if mine else None,
        )

    def touch(self) -> None:
        """Note that the person is at work (a key was pressed, a turn came up), for the time taken."""
        self._worked.key(self._clock())

    def decide(self, value: ReplayValue) -> ReplayView:
        """Save the decision on the current turn with its drafted comment, and that the person has now seen the recorded
        one. Raises `NotAllowed` at the end, for a turn that is decided already, and for a value that is no choice here.
        """
        turn = self._turn()
        if self._mine(turn) is not None:
            raise NotAllowed(_("You have decided this turn"), _("What was recorded is shown."))
        if value not in turn.choices:
            raise NotAllowed(_("This does not answer here"), _("Take one of the answers shown."))
        self.touch()
        target = self._target(turn)
        self._record(turn, value, self._drafts.load(target).comment, self._worked.rest())
        self._drafts.save(target, Draft())
        self._workspace.verdicts.note_reveal(self.trial_id, turn.item, self._person)
        return self._here()

    def note(self, comment: str) -> None:
        """Comment on the current turn. Before the decision the comment is kept for it; afterwards it is saved with a
        second label of the same value. Raises `NotAllowed` at the end.
        """
        turn = self._turn()
        mine = self._mine(turn)
        if mine is None:
            self._drafts.save(self._target(turn), Draft(comment=comment))
        elif comment != mine.comment:
            self._record(turn, mine.value, comment, 0)

    def next(self) -> ReplayView | None:
        """Go to the next turn; None at the end. Raises `NotAllowed` before the current turn is decided, because the
        next one shows what was said in it.
        """
        if self._position < self.total:
            if self._mine(self._turn()) is None:
                raise NotAllowed(_("Decide first"), _("What comes next shows what was decided."))
            self._position += 1
        if self._position >= self.total and self._trial.termination is None:
            self._read()
        return self._arrive()

    def back(self) -> ReplayView | None:
        """Go back to the previous decided turn, to read it."""
        self._position = max(self._position - 1, 0)
        return self._arrive()

    def go_to(self, turn: int) -> ReplayView | None:
        """Go to the decided turn with this number in the dialogue. Raises `NotAllowed` for any other."""
        for position, each in enumerate(self._replayed.turns):
            if each.item.index == turn and self._mine(each) is not None:
                self._position = position
                return self._arrive()
        raise NotAllowed(_("You have not decided this turn"), _("Turns come one after the other."))

    def go_on(self) -> ReplayView | None:
        """Go to the first turn that is not decided; None if all are."""
        self._position = self._undecided()
        return self._arrive()

    def summary(self) -> ReplaySummary:
        """How the decisions made so far compare with the recorded ones."""
        differing: list[DifferingTurn] = []
        decided = compared = agreed = seen = 0
        for number, turn in enumerate(self._replayed.turns, 1):
            mine = self._mine(turn)
            if mine is None:
                break
            decided += 1
            seen += mine.phase == "revealed"
            if turn.theirs is None or mine.value is LabelValue.UNSURE:
                continue
            compared += 1
            agreed += mine.value == turn.theirs
            if mine.value != turn.theirs:
                differing.append(
                    DifferingTurn(
                        turn=turn.item.index, number=number, mine=mine.value, theirs=turn.theirs
                    )
                )
        return ReplaySummary(
            total=self.total,
            decided=decided,
            compared=compared,
            agreed=agreed,
            seen=seen,
            differing=tuple(differing),
            passed=self._passed(decided),
        )

    def _read(self) -> None:
        events = self._workspace.runs.outline(self.trial_id).events
        self._replayed = turns_to_replay(self._task, events)
        history = self._workspace.verdicts.item_history
        for turn in self._replayed.turns:
            if turn.item not in self._labels:
                self._labels[turn.item] = history(self.trial_id, turn.item, self._person)

    def _arrive(self) -> ReplayView | None:
        """The view of the current turn. If it was decided elsewhere, it shows the recorded decision and saves that."""
        self._worked.rest()
        self.touch()
        if self._position < self.total and self._mine(self._turn()) is not None:
            self._workspace.verdicts.note_reveal(self.trial_id, self._turn().item, self._person)
        return self.current

    def _undecided(self) -> int:
        turns = self._replayed.turns
        return next((n for n, t in enumerate(turns) if self._mine(t) is None), len(turns))

    def _here(self) -> ReplayView:
        view = self.current
        assert view is not None
        return view

    def _turn(self) -> Turn:
        if self._position >= self.total:
            raise NotAllowed(_("Nothing to decide"), _("Every turn of this dialogue is decided."))
        return self._replayed.turns[self._position]

    def _target(self, turn: Turn) -> Target:
        return Target(trial_id=self.trial_id, item=turn.item)

    def _mine(self, turn: Turn) -> Label | None:
        """The newest decision that was blind, or else the newest, with what was noted last."""
        labels = self._labels.get(turn.item, [])
        if not labels:
            return None
        blind = [label for label in labels if label.phase == "blind"]
        said = (blind or labels)[-1]
        return said.model_copy(update={"comment": labels[-1].comment or said.comment})

    def _record(self, turn: Turn, value: ReplayValue, comment: str, seconds: float) -> None:
        given = self._workspace.verdicts.label_item(
            self.trial_id, turn.item, self._person, value, comment, seconds=seconds
        )
        self._labels.setdefault(turn.item, []).append(given)

    def _original(self, turn: Turn, mine: Label) -> OriginalTurn:
        open_ = turn.theirs is None or mine.value is LabelValue.UNSURE
        return OriginalTurn(
            by=self._trial.user,
            value=turn.theirs,
            spoken=turn.spoken,
            agrees=None if open_ else mine.value == turn.theirs,
        )

    def _passed(self, decided: int) -> tuple[Passed, ...]:
        """The turns without a decision up to the first undecided one."""
        turns = self._replayed.turns
        shown = [passed for turn in turns[: decided + 1] for passed in turn.passed]
        return (*shown, *(self._replayed.passed if decided >= len(turns) else ()))


def check_replayable(workspace: Workspace, trial: TrialRecord, person: str) -> None:
    """Raises `NotAllowed` where `person` played the user or the agent of the trial."""
    title = _("You cannot re-play this dialogue")
    if trial.user.kind == "human" and trial.user.name == person:
        raise NotAllowed(title, _("You played it yourself; another person can."))
    if trial.agent.kind == "human" and workspace.player_moves.holder(trial.id) == person:
        raise NotAllowed(title, _("You played its agent; another person can."))


Tell = Callable[[int, int], None]
"""Called with how many of how many dialogues have been read."""
MOST = 300
"""How many dialogues are read, the newest first."""


class Replayable(Frozen):
    """A dialogue with `turns` to decide, `mine` of which the person has decided."""

    trial_id: int
    run_id: int
    run: str
    task_id: str
    title: str
    user: PlayerRef
    sample: int
    turns: int
    mine: int

    @property
    def begun(self) -> bool:
        return 0 < self.mine < self.turns


class ReplayChoice(Frozen):
    """The dialogues with something to decide: begun ones first, then new ones, finished ones last. `own`: how many the
    person took part in; `beyond`: how many older ones were not read.
    """

    dialogues: tuple[Replayable, ...]
    own: int = 0
    beyond: int = 0


def replayable(
    workspace: Workspace, person: str, run_ids: Collection[int] = (), tell: Tell | None = None
) -> ReplayChoice:
    """The dialogues of these runs, or of all, without quality probes. Shows only how many turns were decided, not how."""
    names = {run.id: run.name for run in workspace.runs.all() if run.kind != "probe"}
    wanted = sorted((id for id in names if not run_ids or id in run_ids), reverse=True)
    trials = [trial for run_id in wanted for trial in workspace.runs.trials(run_id)]
    open_to = [trial for trial in trials if _open_to(workspace, trial, person)]
    labels = workspace.verdicts.item_labels([trial.id for trial in open_to[:MOST]], None)
    mine = {(label.trial_id, label.item_key) for label in labels if label.person == person}

    @lru_cache(maxsize=64)
    def task_of(task_id: str, revision: int) -> Task:
        return workspace.tasks.revision(task_id, revision).task

    found: list[Replayable] = []
    for done, trial in enumerate(open_to[:MOST], 1):
        events = workspace.runs.outline(trial.id).events
        turns = turns_to_replay(task_of(trial.task_id, trial.revision), events).turns
        items: list[Item] = [turn.item for turn in turns]
        if items:
            found.append(
                Replayable.from_fields(
                    trial,
                    trial_id=trial.id,
                    run=names[trial.run_id],
                    turns=len(items),
                    mine=sum((trial.id, item.key) in mine for item in items),
                )
            )
        if tell:
            tell(done, min(len(open_to), MOST))
    found.sort(key=lambda each: (not each.begun, each.mine >= each.turns))
    return ReplayChoice(
        dialogues=tuple(found), own=len(trials) - len(open_to), beyond=max(0, len(open_to) - MOST)
    )


def _open_to(workspace: Workspace, trial: TrialRecord, person: str) -> bool:
    try:
        check_replayable(workspace, trial, person)
    except NotAllowed:
        return False
    return True
