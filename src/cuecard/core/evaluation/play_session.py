"""A person plays the user, live, against any agent: one trial, in a run of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from cuecard.core.archive import outlast
from cuecard.core.config import EMBEDDED, Config
from cuecard.core.engine.events import AgentSpoke, Event, Limits, TrialEnded, UserSpoke
from cuecard.core.engine.messages import AgentReply, Dialogue, Remark, UserReply
from cuecard.core.engine.players import HumanUser, build_judge
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import NotAllowed, error_text
from cuecard.core.evaluation.judging import try_judging
from cuecard.core.evaluation.plans import RunSettings, setup_for
from cuecard.core.evaluation.play_setup import (
    OnEnd,
    OnPhase,
    Opened,
    PersonInput,
    PlayOutcome,
    PlayPhase,
    SessionListener,
    TrialRunner,
    Written,
    enter,
    last_reply,
    last_words,
    marked,
    phase_after,
    player_names_of,
    take_up,
)
from cuecard.core.evaluation.run_trials import OnEvent, OnStream, TrialSink, tell
from cuecard.core.evaluation.shadows import Listener, Listening
from cuecard.core.evaluation.sharing import within_limits
from cuecard.core.evaluation.wizard_of_oz import STOPPED, person_agent, played_by_person
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_JUDGE, DEFAULT_WORLD
from cuecard.core.records import RunState
from cuecard.core.text import storable

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

__all__ = ["OnEnd", "OnPhase", "PlayOutcome", "PlayPhase", "PlaySession"]

Done = TypeVar("Done")


class PlaySession:
    """One trial whose user is a person. Its coroutines and callbacks run on the event loop on which it was started.

    Events are stored before any callback is told of them. A session that is closed or killed stays open, and
    `resume` goes on from its last event. However it ends, processes of the agent are ended with it.

    Nothing is deleted: words that are taken back stay in the log as an earlier attempt. When `on_event` is called with
    a `TrialRetried`, `events` is already the new effective log.
    """

    def __init__(
        self, workspace: Archive, opened: Opened, config: Config, audience: SessionListener
    ) -> None:
        trial = opened.trial
        self.trial = trial
        self.task = opened.task
        self.settings = opened.settings
        self.outcome: PlayOutcome | None = None
        self._workspace = workspace
        self._lease = opened.lease
        self._limits = opened.limits
        self._audience = audience
        self._phase: PlayPhase = "yours"
        self._phase_told: PlayPhase | None = None
        self._input = PersonInput(self._asked)
        self._written = Written()
        self._hub = ModelHub(config)
        self._listener = Listener(workspace, trial.id, opened.task, opened.settings.shadows, config)
        human = HumanUser(trial.user.name, self._input.ask)
        setup = setup_for(
            trial,
            opened.task,
            opened.limits,
            player_names_of(opened),
            config,
            self._hub,
            human=human,
            human_agent=person_agent(
                workspace, trial, opened.task, lambda: self._trial_log.attempt
            ),
        )
        self._judges = [build_judge(name, config, self._hub) for name in opened.settings.judges]
        self._sink = TrialSink(workspace, trial.id, self._told, self._streamed)
        self._trial_log = TrialLog(self._sink, opened.past)
        self._acts = asyncio.Lock()
        self._runner = TrialRunner(setup, self._trial_log)
        self._phase = phase_after(self._trial_log.events, self._limits)
        self._runner.begin()
        self._task = asyncio.create_task(self._live(), name=f"play-{trial.id}")

    @classmethod
    async def start(
        cls,
        workspace: Archive,
        task_id: str,
        *,
        revision: int | None = None,
        by: str,
        agent: str = DEFAULT_AGENT,
        world: str = DEFAULT_WORLD,
        judge: str = DEFAULT_JUDGE,
        shadows: Sequence[str] = (),
        config: Config = EMBEDDED,
        limits: Limits | None = None,
        on_event: OnEvent | None = None,
        on_stream: OnStream | None = None,
        on_phase: OnPhase | None = None,
        on_end: OnEnd | None = None,
    ) -> PlaySession:
        """Begin to play a task's `revision`, by default the newest. `agent`, `world`, `judge` and `shadows` are names
        of the configuration and are stored with the run. Raises `NotFound`, `ConfigError`.
        """
        settings = RunSettings(world=world, judges=(judge,), shadows=tuple(shadows))
        opened = await enter(
            workspace, task_id, revision, by, agent, settings, config, limits or Limits()
        )
        return cls._of(
            workspace, opened, config, SessionListener(on_event, on_stream, on_phase, on_end)
        )

    @classmethod
    async def resume(
        cls,
        workspace: Archive,
        trial_id: int,
        *,
        by: str,
        config: Config = EMBEDDED,
        on_event: OnEvent | None = None,
        on_stream: OnStream | None = None,
        on_phase: OnPhase | None = None,
        on_end: OnEnd | None = None,
    ) -> PlaySession:
        """Go on with a session that was left open, with the world, judge and shadows that it was begun with. `events`
        holds what is recorded already; `on_event` is called for new events only.

        A session that ended by a failure goes on too: the agent repeats the turn that failed.

        Raises `NotFound`, `ConfigError`, `NotAllowed` if it has ended or is another person's, and `AlreadyPlayed`
        while it is played in another window.
        """
        opened = await take_up(workspace, trial_id, by, config)
        return cls._of(
            workspace, opened, config, SessionListener(on_event, on_stream, on_phase, on_end)
        )

    @classmethod
    def _of(
        cls, workspace: Archive, opened: Opened, config: Config, audience: SessionListener
    ) -> PlaySession:
        try:
            return cls(workspace, opened, config, audience)
        except BaseException:
            if opened.lease:
                workspace.leases.release(opened.lease)
            raise

    @property
    def events(self) -> tuple[Event, ...]:
        """The effective log so far: the events that count, without those that were taken back."""
        return tuple(self._trial_log.events)

    @property
    def phase(self) -> PlayPhase:
        """`yours`: the person is to speak. `writing`: it is the agent's turn. `stopped`: the agent was interrupted
        before it said anything; call `retry` or `undo`. `concluding`: it hands in and is judged. `ended`: the session
        is over. A closed session keeps its last phase.
        """
        return self._phase

    @property
    def written(self) -> str:
        """What the agent has streamed so far of the reply that it is writing."""
        return self._written.text

    @property
    def waiting(self) -> bool:
        """Whether it is the person's turn to speak."""
        return self._input.waiting

    @property
    def listening(self) -> Listening:
        """How many shadows there are and how many have answered at this point; never what they say."""
        return self._listener.listening

    async def submit(self, reply: UserReply) -> None:
        """Say `reply`; returns when it is stored. Raises `NotAllowed` when it is not the person's turn, and the error
        if the reply could not be stored.
        """
        await self._act(partial(self._submit, reply, last_words(self._trial_log.events)))

    async def interrupt(self) -> None:
        """Stop the agent in the middle of its turn; returns when this is stored. What it has written becomes an
        interrupted reply and it is the person's turn; if it has written nothing, the phase is `stopped`. Raises
        `NotAllowed` unless the agent is writing.
        """
        await self._act(self._interrupt)

    async def retry(self, reason: str = "") -> None:
        """Have the agent repeat its last turn, from the person's last words on; returns when it has begun to. Raises
        `NotAllowed` before the person has spoken, and once the agent is handing in.
        """
        await self._act(lambda: self._retry(reason))

    async def undo(self) -> UserReply:
        """Take back the person's last words, with what the agent has done since, and return them.

        Raises `NotAllowed` once the agent has answered them; an interrupted reply does not count as an answer.
        """
        return await self._act(self._undo)

    async def note(self, about: Literal["agent", "task", "other"], text: str) -> None:
        """Record a remark of the person; returns when it is stored. Raises `NotAllowed` for an empty text and after the
        end of the session.
        """
        text = storable(text).strip()
        if not text:
            raise NotAllowed(_("Nothing is noted"), _("The note is empty."))
        if not self._trial_log.events:
            await self.wait_turn()  # The log begins with the trial's start.
        if self._over:
            raise NotAllowed(_("The session has ended"), _("Nothing more can be noted in it."))
        remark = Remark(about=about, text=text, by=self.trial.user.name)
        await self._trial_log.record(marked(remark, self._trial_log.events))

    async def wait_turn(self) -> bool:
        """Wait until it is the person's turn (True) or the session is over (False)."""
        turn = asyncio.ensure_future(self._input.turn.wait())
        try:
            await asyncio.wait({turn, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            turn.cancel()
        return self.waiting

    async def wait(self) -> PlayOutcome | None:
        """Wait for the end; None if the session was closed before."""
        await asyncio.wait({self._task})
        return self.outcome

    async def close(self) -> None:
        """Stop playing. What was said is kept, and the session stays open, to be resumed."""
        async with self._acts:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._listener.close()
            await self._let_go()

    async def _submit(self, reply: UserReply, before: tuple[Event, UserSpoke] | None) -> None:
        # Words that waited for others were not meant for the answer to these.
        if not self.waiting or last_words(self._trial_log.events) != before:
            raise NotAllowed(_("It is not your turn"), _("The agent has not answered yet."))
        if not await self._input.say(reply, self._task):
            raise self._broken()

    async def _interrupt(self) -> None:
        words = last_words(self._trial_log.events)
        if words is None or self._phase != "writing" or last_reply(self._trial_log.events):
            raise NotAllowed(_("There is nothing to interrupt"), _("The agent is not writing."))
        await self._halt()
        said = self._written.text
        if last_reply(self._trial_log.events):
            self._begin()  # It had just come to its end.
        elif not said:
            if played_by_person(self.trial):
                # Whoever plays the agent in another window learns it from the log.
                await self._trial_log.retry(keep=True, reason=STOPPED)
            self._enter("stopped")
            return
        else:
            reply = AgentReply(text=storable(said), interrupted=True)
            await self._trial_log.record(AgentSpoke(turn=words[1].turn, reply=reply))
            self._begin()
        if not await self.wait_turn():
            raise self._broken()

    async def _retry(self, reason: str) -> None:
        words = last_words(self._trial_log.events)
        if words is None or self._phase not in ("yours", "stopped", "writing"):
            raise NotAllowed(_("There is no turn to take again"), _("The agent has not had one."))
        await self._halt()
        await self._take_back(words[0].seq + 1, "retry", reason)

    async def _undo(self) -> UserReply:
        words, answer = last_words(self._trial_log.events), last_reply(self._trial_log.events)
        answered = answer is not None and not answer.reply.interrupted
        if words is None or answered or self._phase not in ("yours", "stopped", "writing"):
            raise NotAllowed(_("There is nothing to take back"), _("The agent has answered."))
        await self._halt()
        answer = last_reply(self._trial_log.events)
        if answer is not None and not answer.reply.interrupted:
            self._begin()
            raise NotAllowed(_("There is nothing to take back"), _("The agent has answered."))
        await self._take_back(words[0].seq, "undo", "")
        if not await self.wait_turn():
            raise self._broken()
        return words[1].reply

    async def _take_back(self, back_to: int, what: str, reason: str) -> None:
        why = f"{what}: {reason.strip()}" if reason.strip() else what
        await self._trial_log.retry(keep=True, reason=storable(why), back_to=back_to)
        self._written.clear()
        self._begin()

    async def _act(self, work: Callable[[], Awaitable[Done]]) -> Done:
        """Do `work` after earlier ones have ended. Cancelling the caller does not cancel the work."""

        async def locked() -> Done:
            async with self._acts:
                if self._task.done():
                    raise self._broken()
                return await work()

        return await asyncio.shield(asyncio.create_task(locked()))

    async def _halt(self) -> None:
        """Stop playing. Raises the reason if the session has ended meanwhile."""
        if not await self._runner.halt() or self._over:
            self._runner.begin()
            raise self._broken()

    def _begin(self) -> None:
        """Play on from the record. The phase `yours` is entered only when the person is asked."""
        if (phase := phase_after(self._trial_log.events, self._limits)) != "yours":
            self._enter(phase)
        self._runner.begin()

    @property
    def _over(self) -> bool:
        return any(isinstance(event.body, TrialEnded) for event in self._trial_log.events)

    def _broken(self) -> Exception:
        trouble = self._sink.trouble
        reason = self.outcome.problem if self.outcome else ""
        return trouble or NotAllowed(_("The session has stopped"), reason)

    def _enter(self, phase: PlayPhase) -> None:
        self._phase = phase
        if phase != self._phase_told:
            self._phase_told = phase
            tell(self._audience.on_phase, phase)

    def _asked(self, dialogue: Dialogue | None) -> None:
        self._enter("yours")
        if dialogue is not None:
            self._listener.begin(dialogue)

    def _told(self, event: Event) -> None:
        self._written.follow(event)
        match event.body:
            case UserSpoke():
                self._input.kept()
                self._enter(phase_after(self._trial_log.events, self._limits))
            case TrialEnded():
                self._enter("concluding")
            case _:
                pass
        tell(self._audience.on_event, event)

    def _streamed(self, turn: int, text: str) -> None:
        self._written.take(text)
        tell(self._audience.on_stream, turn, text)

    async def _live(self) -> None:
        if self._phase != "yours":
            self._enter(self._phase)
        try:
            async with within_limits(self._workspace, self._hub, idles=True):
                outcome = await self._through()
            self._listener.finish()
        finally:
            await self._let_go()
            await self._hub.close()
        self.outcome = outcome
        self._enter("ended")
        tell(self._audience.on_end, outcome)

    async def _let_go(self) -> None:
        if self._lease:
            await asyncio.to_thread(self._workspace.leases.release, self._lease)

    async def _through(self) -> PlayOutcome:
        trial = self.trial
        try:
            result = await self._runner.play()
        except Exception as error:  # noqa: BLE001 - the boundary of a trial: it is left open
            return PlayOutcome(trial_id=trial.id, termination=None, problem=error_text(error))
        failures = [await try_judging(self._workspace, trial.id, judge) for judge in self._judges]
        await outlast(self._workspace, self._workspace.runs.set_state, trial.run_id, RunState.DONE)
        problem = next((failure.reason for failure in failures if failure), "")
        return PlayOutcome(
            trial_id=trial.id,
            termination=result.termination,
            detail=result.detail,
            judged=not any(failures),
            problem=problem,
        )
