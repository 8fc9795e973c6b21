"""The offline agent: without a model it searches the world for what the user asked and hands in only what it found. Its
weaker kinds err on purpose, each in its own way, so that results differ where no model is at hand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cuecard.core.agents.briefing import PublicTask, public_task
from cuecard.core.agents.offline_search import Notes, Searcher, facts_as_lines, say
from cuecard.core.engine.events import Event, TrialStarted
from cuecard.core.engine.messages import Act, AgentReply, Dialogue, PlayerRef
from cuecard.core.engine.step_context import StepContext
from cuecard.core.families.registry import CORE
from cuecard.core.predictions import Prediction, answer_of
from cuecard.core.tasks.models import Task
from cuecard.core.text import is_question
from cuecard.core.worlds.statements import Form

if TYPE_CHECKING:
    from cuecard.core.config_players import OfflineAgentConfig


def conclude(public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    """Triples, a table or an answer from the statements found; unusable if there are none."""
    return CORE[public.family].conclude(public, dialogue, notes)


class OfflineAgent:
    """Plays any family over a closed world (`worlds.closed`), deterministically.

    `calls_per_turn`: most searches per turn, by default 12, for tables 200. It keeps nothing between turns: what it
    found is read again from the log.
    """

    kind = "offline"

    def __init__(self, public: PublicTask, calls_per_turn: int | None = None) -> None:
        self._public = public
        self._calls = CORE[public.family].calls if calls_per_turn is None else calls_per_turn

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=self.kind, kind=self.kind, baseline=True)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        notes = self._notes(context.log, dialogue.turn)
        searcher = Searcher(context, notes, dialogue.turn, self._calls)
        return await CORE[self._public.family].offline(self._public, dialogue, searcher)

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        return conclude(self._public, dialogue, self._notes(context.log, dialogue.turn + 1))

    def _notes(self, log: Sequence[Event], turn: int) -> Notes:
        return Notes.before(log, turn, self._public.language)

    def _dice(self, log: Sequence[Event], *about: object) -> random.Random:
        """The same for the same sample of a task, and for what it is thrown about; another in every other trial."""
        first = log[0].body if log else None
        trial = (first.task_id, first.sample) if isinstance(first, TrialStarted) else ()
        return random.Random("/".join(map(str, (self.kind, *trial, *about))))


_FORGOTTEN = 0.25


class ForgetfulAgent(OfflineAgent):
    """Forgets a quarter of all statements for good, and mixes up a quarter of the answers that it hands in."""

    kind = "offline:forgetful"

    def _notes(self, log: Sequence[Event], turn: int) -> Notes:
        notes = super()._notes(log, turn)
        for found in tuple(notes.facts):
            if self._dice(log, *found).random() < _FORGOTTEN:
                del notes.facts[found]
        return notes

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        found = await super().conclude(dialogue, context)
        dice = self._dice(context.log)
        answer = answer_of(found)
        if answer is not None and dice.random() < _FORGOTTEN:
            facts = super()._notes(context.log, dialogue.turn + 1).facts
            others = [fact.value for fact in facts if fact.value != answer]
            return found.model_copy(update={"answer": dice.choice(others or ["?"])})
        return found


class HastyAgent(OfflineAgent):
    """Searches a twelfth of what the plain one searches in a turn, guesses where that one would ask, and offers nothing more."""

    kind = "offline:hasty"

    def __init__(self, public: PublicTask) -> None:
        super().__init__(public, max(CORE[public.family].calls // 12, 2))

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        reply = await super().reply(dialogue, context)
        language = self._public.language
        if reply.act is not Act.ASK:
            *said, closing = reply.text.split("\n\n")
            if not said or not is_question(closing):
                return reply
            text = "\n\n".join((*said, say(language, "that_is_all")))
            return reply.model_copy(update={"text": text})
        told = self._notes(context.log, dialogue.turn + 1).asked.values()
        readings = [said.items for found in told for said in found if said.form is Form.READINGS]
        if not readings:
            return reply
        guess = self._dice(context.log, dialogue.turn).choice(readings[-1])
        return AgentReply(text=say(language, "answer", value=guess), act=Act.ANSWER)


_ADDED = 0.2
_REPEATED = 6


class WordyAgent(OfflineAgent):
    """Finds what the plain one finds and says more than that: repeats earlier findings in every turn, and hands in
    guesses, rows and alternatives besides.
    """

    kind = "offline:wordy"

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        reply = await super().reply(dialogue, context)
        facts = tuple(self._notes(context.log, dialogue.turn).facts)[:_REPEATED]
        if reply.act is not Act.REPLY or not facts:
            return reply
        before = say(self._public.language, "before")
        text = f"{before}\n{facts_as_lines(facts)}\n\n{reply.text}"
        return reply.model_copy(update={"text": text})

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        found = await super().conclude(dialogue, context)
        values = tuple(f.value for f in self._notes(context.log, dialogue.turn + 1).facts)
        return found.padded(self._dice(context.log), _ADDED, values)


_KINDS = {agent.kind: agent for agent in (OfflineAgent, ForgetfulAgent, HastyAgent, WordyAgent)}


def make_agent(
    _name: str, settings: OfflineAgentConfig, _config: object, _hub: object, task: Task, *_rest: Any
) -> OfflineAgent:
    """The agent for one trial of `task`; it is given the public part of the task only, without gold."""
    return _KINDS[settings.kind](public_task(task))
