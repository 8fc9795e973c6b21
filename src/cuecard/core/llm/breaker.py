"""When to stop calling a model that keeps failing."""

from __future__ import annotations

from datetime import datetime, timedelta

from cuecard.core.errors import AgentPaused, Halt, ModelPaused
from cuecard.core.i18n import _, ngettext
from cuecard.core.llm.failures import MAX_WAIT, Blame, Failure


class Breaker:
    """Counts calls in a row that failed, after all their attempts, for reasons that have nothing to do
    with what was asked. A success ends the row, and a pause too. What lasts pauses at once, and so does
    a server that wants to be left alone for longer than `MAX_WAIT`. `worked`: something succeeded before.
    """

    def __init__(self, label: str, give_up_after: int) -> None:
        self._label = label
        self._give_up_after = give_up_after
        self._row = 0
        self.worked = False

    def reset(self) -> None:
        self._row = 0

    def succeeded(self) -> None:
        self._row, self.worked = 0, True

    def failed(self, failure: Failure, *, last: bool) -> Halt | None:
        """Why the model is to be called no more, if so. `last`: the call has no further attempt."""
        if failure.blame is Blame.LASTING:
            message = f"{self._label}: {failure.message}"
            return self._paused(failure.title, message, failure.hint)
        if failure.wait is not None and failure.wait > MAX_WAIT:
            return self._left_alone(failure, failure.wait)
        if failure.blame is Blame.REQUEST or not last:
            return None
        self._row += 1
        if self._row < self._give_up_after:
            return None
        message = ngettext(
            "{model}: {n} call failed, with all its attempts: {reason}",
            "{model}: {n} calls in a row failed, each with all its attempts; the last: {reason}",
            self._row,
        ).format(model=self._label, n=self._row, reason=f"{failure.title}: {failure.message}")
        return self._paused(self._keeps_failing(), message, failure.hint)

    def _left_alone(self, failure: Failure, seconds: float) -> Halt:
        wait = timedelta(seconds=round(seconds))
        message = _("{model}: for {time}, until {until}: {reason}").format(
            model=self._label,
            time=wait,
            until=f"{datetime.now().astimezone() + wait:%Y-%m-%d %H:%M}",
            reason=failure.message,
        )
        return self._paused(_("The server wants to be left alone"), message, _("go on after that"))

    def _keeps_failing(self) -> str:
        return _("The model keeps failing")

    def _paused(self, title: str, message: str, hint: str) -> Halt:
        return ModelPaused(title, message, hint)


class AgentBreaker(Breaker):
    """The same for an agent that is another program."""

    def _keeps_failing(self) -> str:
        return _("The agent keeps failing")

    def _paused(self, title: str, message: str, hint: str) -> Halt:
        return AgentPaused(title, message, hint)
