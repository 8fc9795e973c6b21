"""A second person plays the agent of somebody's session, from a window of their own on the same workspace."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.core.agents.public import public_task
from cuecard.core.agents.tools import complaint
from cuecard.core.config import EMBEDDED, Config
from cuecard.core.errors import ConfigError, Conflict, NotAllowed
from cuecard.core.i18n import _
from cuecard.core.parts import Act, ToolCall, ToolSpec
from cuecard.core.prediction import Prediction
from cuecard.core.seat_moves import HandInMove, ReplyMove, SeatMove, ToolMove
from cuecard.core.tasks import Family, TaskLanguage
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import storable
from cuecard.core.worlds.tool_specs import spec_of
from cuecard.lab.plans import settings_of
from cuecard.lab.wizard_seat import played_by_person
from cuecard.lab.wizard_view import Briefing, SeatView, briefing_of, view_of

if TYPE_CHECKING:
    from cuecard.core.tasks import Task
    from cuecard.store.records import RunRecord, TrialRecord
    from cuecard.store.workspace import Workspace


class WaitingSeat(Frozen):
    """A session whose agent is to be played by a person. Neither title nor task: they may tell what it is
    about. `mine`: this person plays it already; `since`: when the session began.
    """

    trial_id: int
    user: str
    family: Family
    language: TaskLanguage
    since: datetime
    mine: bool


class WizardSeat:
    """The seat of the person who plays the agent. Blocks for the database: call it from a thread.

    Nothing that it returns holds the task's gold, its persona, or what the user part decided.
    """

    def __init__(self, workspace: Workspace, person: str, briefing: Briefing, task: Task) -> None:
        self.briefing = briefing
        self._workspace = workspace
        self._person = person
        self._language: TaskLanguage = task.language
        self._columns = public_task(task).columns
        self._view: SeatView | None = None

    @classmethod
    def take(
        cls, workspace: Workspace, trial_id: int, by: str, config: Config = EMBEDDED
    ) -> WizardSeat:
        """Sit down, for the first time or again. Raises `NotFound`, `ConfigError`, and `NotAllowed`: the
        agent is no person's, it has ended, somebody else plays it, it is one's own session, or one can
        know what the agent is to find out.
        """
        trial = workspace.runs.trial(trial_id)
        if reason := _why_not(workspace, trial, by.strip()):
            raise NotAllowed(_("You cannot play this agent"), reason)
        run = workspace.runs.get(trial.run_id)
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        tools = tools_of(trial, run, config)
        briefing = briefing_of(trial.id, trial.user.name, task, tools, run.limits, config)
        workspace.seat_moves.take_seat(trial_id, by)
        return cls(workspace, by.strip(), briefing, task)

    def view(self) -> SeatView:
        """How things stand. Cheap where nothing has happened since the last time."""
        moves, trial_id = self._workspace.seat_moves, self.briefing.trial_id
        pulse = moves.pulse(trial_id)
        view = self._view
        if view is None or (pulse.seq if pulse else -1) != view.newest:
            log = self._workspace.runs.log(trial_id)
            view = view_of(log, self.briefing.limits, self._columns)
        if view.phase in ("yours", "hand_in") and view.pending is None:
            made = moves.find(trial_id, view.take, view.place)
            if made is not None:
                view = view.model_copy(update={"phase": "working", "pending": made.move})
        self._view = view
        return view

    def search(self, call: ToolCall, seen: SeatView | None = None) -> None:
        """Call a tool of the world. Raises `NotAllowed` when it is not one's turn, there is no such tool
        or an argument is missing, and after too many calls; `Conflict` where things have changed since
        `seen`.
        """
        view = self._on_turn("yours", seen)
        if view.calls_left <= 0:
            raise NotAllowed(
                _("No more searches in this turn"), _("Answer the user with what you have.")
            )
        if problem := complaint(call, self.briefing.tools, self._language):
            raise NotAllowed(_("This cannot be looked up"), problem)
        self._make(view, ToolMove(call=call))

    def say(self, text: str, act: Act = Act.REPLY, seen: SeatView | None = None) -> None:
        """Answer the user, which ends the turn. Raises as `search` does, and for an empty text."""
        view = self._on_turn("yours", seen)
        if not text.strip():
            raise NotAllowed(_("Say something first"))
        if (act is Act.REPLY) == self.briefing.choose_act:
            raise NotAllowed(_("Say whether you ask or answer"))
        self._make(view, ReplyMove(text=storable(text).strip(), act=act))

    def hand_in(self, prediction: Prediction, seen: SeatView | None = None) -> None:
        """Hand in what was found; the trial is over then. Raises as `search` does."""
        self._make(self._on_turn("hand_in", seen), HandInMove(prediction=prediction))

    def _on_turn(self, phase: str, seen: SeatView | None) -> SeatView:
        view = self.view()
        if view.phase != phase:
            raise NotAllowed(_("It is not your turn"), _("What you typed stays."))
        if seen is not None and (seen.take, seen.place) != (view.take, view.place):
            raise Conflict(
                _("The dialogue has changed"), _("What you typed stays."), _("Look at it again.")
            )
        return view

    def _make(self, view: SeatView, move: SeatMove) -> None:
        trial_id = self.briefing.trial_id
        self._workspace.seat_moves.add(trial_id, view.take, view.place, self._person, move)


def waiting_seats(workspace: Workspace, person: str) -> list[WaitingSeat]:
    """The open sessions that wait for `person`, or for anybody, to play the agent; newest first. Those
    that they must not play are not among them.
    """
    person = person.strip()
    found: list[WaitingSeat] = []
    for trial in workspace.runs.open_trials(kind="play"):
        if not played_by_person(trial) or _why_not(workspace, trial, person):
            continue
        holder = workspace.seat_moves.holder(trial.id)
        if holder not in ("", person):
            continue
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        found.append(
            WaitingSeat(
                trial_id=trial.id,
                user=trial.user.name,
                family=task.family,
                language=task.language,
                since=trial.created_at,
                mine=bool(holder),
            )
        )
    return found[::-1]


def tools_of(trial: TrialRecord, run: RunRecord, config: Config) -> tuple[ToolSpec, ...]:
    """The tools of a session's world. They are answered in the session's process: here its kind is enough,
    also where this machine's configuration does not know it.
    """
    kind, names = trial.world.kind, ["search"]
    try:
        world = config.world(settings_of(run).world)
    except ConfigError:
        names += ["visit"] if kind == "web" else []
    else:
        names = list(getattr(world, "tools", names))
        names += ["python"] if getattr(world, "python", None) is not None else []
    return tuple(spec_of(name, kind, ()) for name in dict.fromkeys(names))


def _why_not(workspace: Workspace, trial: TrialRecord, person: str) -> str:
    """Why `person` may not play this trial's agent; "" if they may."""
    if not person:
        return _("Say who you are first.")
    if not played_by_person(trial):
        return _("The agent of this session is not played by a person.")
    if trial.user.name.casefold() == person.casefold():
        return _("It is your own session: somebody else must play the agent.")
    holder = workspace.seat_moves.holder(trial.id)
    if trial.termination is not None:
        return "" if holder == person else _("It has ended.")
    if holder not in ("", person):
        return _("{name} plays it.").format(name=holder)
    match workspace.seat_moves.known(trial.task_id, person):
        case "wrote" | "edited":
            return _("You have worked on this task, so you know its gold.")
        case "reviewed":
            return _("You have had this task to review, so you may have seen its gold.")
        case "built":
            return _("You have built a second gold of this task.")
        case "judged":
            return _("You have seen verdicts on this task, so you know its gold.")
        case "played":
            return _("You have played the user of this task, so you know what it is about.")
        case "":
            return ""
