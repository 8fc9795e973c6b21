"""A world that answers as an earlier run was answered, without the network."""

from __future__ import annotations

from cuecard.core.errors import CuecardError
from cuecard.core.events import ToolAnswered
from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef, ToolAnswer, ToolCall, ToolSpec, WorldDesk
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line
from cuecard.core.worlds.tape import Tape, call_key

_NOT_RECORDED: dict[TaskLanguage, str] = {
    "en": (
        "Nothing is recorded for this call: {call}. Only calls that were made before, with the same"
        " arguments, can be answered."
    ),
    "zh": "没有这次调用的记录：{call}。只能回答以前以相同参数做过的调用。",
}


class ReplayWorld:
    """The n-th identical call of a trial gets the n-th recorded answer, or the last one if fewer were
    recorded. A call that was never made is refused.

    `run` is the run that the tape was made from. Without a tape nobody can play here, but the world's
    `ref` is known.
    """

    def __init__(self, name: str, run: int, language: TaskLanguage, tape: Tape | None) -> None:
        self._name = name
        self._run = run
        self._language: TaskLanguage = language
        self._tape = tape

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=self._name, kind="replay", version=str(self._run))

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self._recording().tools

    async def answer(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
        # There is no await in here: of calls made at the same time each finds those before it in the
        # log.
        recorded = tuple(self._recording().answers(call))
        if not recorded:
            shown = one_line(call_key(call), 200)
            return ToolAnswer(text=_NOT_RECORDED[self._language].format(call=shown), ok=False)
        wanted = call_key(call)
        before = sum(
            isinstance(event.body, ToolAnswered) and call_key(event.body.call) == wanted
            for event in desk.log
        )
        return recorded[min(before, len(recorded) - 1)]

    def _recording(self) -> Tape:
        if self._tape is None:
            raise CuecardError(
                _("There is no recording to play from"),
                _("The answers of run {run} were not loaded.").format(run=self._run),
            )
        return self._tape
