"""The offline agent: without a model it searches the world for what the user asked and hands in only what it found."""

from cuecard.core.agents.briefing import PublicTask, public_task
from cuecard.core.agents.offline_search import Notes, Searcher
from cuecard.core.engine.messages import AgentReply, Dialogue, PlayerRef
from cuecard.core.engine.step_context import StepContext
from cuecard.core.families.registry import CORE
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Prediction


def conclude(public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    """Triples, a table or an answer from the statements found; unusable if there are none."""
    return CORE[public.family].conclude(public, dialogue, notes)


class OfflineAgent:
    """Plays any family over a closed world (`worlds.closed`), deterministically.

    `calls_per_turn`: most searches per turn, by default 12, for tables 200. It keeps nothing between turns: what it
    found is read again from the log.
    """

    def __init__(self, public: PublicTask, calls_per_turn: int | None = None) -> None:
        self._public = public
        self._calls = CORE[public.family].calls if calls_per_turn is None else calls_per_turn

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="offline", kind="offline", baseline=True)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        notes = Notes.before(context.log, dialogue.turn, self._public.language)
        searcher = Searcher(context, notes, dialogue.turn, self._calls)
        return await CORE[self._public.family].offline(self._public, dialogue, searcher)

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        everything = Notes.before(context.log, dialogue.turn + 1, self._public.language)
        return conclude(self._public, dialogue, everything)


def make_agent(
    _name: str, _settings: object, _config: object, _hub: object, task: Task, *_rest: object
) -> OfflineAgent:
    """The agent for one trial of `task`; it is given the public part of the task only, without gold."""
    return OfflineAgent(public_task(task))
