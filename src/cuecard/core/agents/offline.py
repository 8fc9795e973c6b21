"""The offline agent: searches the world for what the user asked, without a model.

A baseline that shows the whole loop at work and gives every score a floor. It knows what
`PublicTask` says and what was said and found; never the gold.
"""

from __future__ import annotations

from cuecard.core.agents import offline_records, offline_steps, offline_table
from cuecard.core.agents.offline_conclude import conclude
from cuecard.core.agents.offline_notes import Notes, Searcher
from cuecard.core.agents.public import PublicTask
from cuecard.core.parts import AgentReply, Desk, Dialogue, PlayerRef
from cuecard.core.prediction import Prediction

CALLS_PER_TURN = 12
TABLE_CALLS_PER_TURN = 200


class OfflineAgent:
    """Plays any family over a closed world (`worlds.closed`), deterministically.

    `calls_per_turn` bounds its searches; by default 12, for tables 200. It keeps nothing between
    turns: what it found it reads again from the desk's log.
    """

    def __init__(self, public: PublicTask, calls_per_turn: int | None = None) -> None:
        self._public = public
        default = TABLE_CALLS_PER_TURN if public.family == "table" else CALLS_PER_TURN
        self._calls = default if calls_per_turn is None else calls_per_turn

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="offline", kind="offline", baseline=True)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        notes = Notes.before(desk.log, dialogue.turn, self._public.language)
        searcher = Searcher(desk, notes, dialogue.turn, self._calls)
        match self._public.family:
            case "checkpoints":
                return await offline_steps.answer(self._public, dialogue, searcher)
            case "table":
                return AgentReply(text=await offline_table.answer(self._public, dialogue, searcher))
            case "graph" | "facts":
                return AgentReply(
                    text=await offline_records.answer(self._public, dialogue, searcher)
                )

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        everything = Notes.before(desk.log, dialogue.turn + 1, self._public.language)
        return conclude(self._public, dialogue, everything)
