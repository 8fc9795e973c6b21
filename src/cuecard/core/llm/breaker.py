"""When to stop calling a model that keeps failing."""

from __future__ import annotations

from datetime import datetime, timedelta

from cuecard.core.errors import ModelPaused
from cuecard.core.i18n import _, ngettext
from cuecard.core.llm.failures import MAX_WAIT, Blame, Failure


class Breaker:
    """Counts calls in a row that failed, after all their attempts, for reasons that have nothing to do
    with what was asked. A success ends the row, and a pause too. What lasts pauses at once, and so does
    a server that wants to be left alone for longer than `MAX_WAIT`.
    """

    def __init__(self, label: str, give_up_after: int) -> None:
        self._label = label
        self._give_up_after = give_up_after
        self._row = 0

    def reset(self) -> None:
        self._row = 0

    def failed(self, failure: Failure, *, last: bool) -> ModelPaused | None:
        """Why the model is to be called no more, if so. `last`: the call has no further attempt."""
        if failure.blame is Blame.LASTING:
            message = f"{self._label}: {failure.message}"
            return ModelPaused(failure.title, message, failure.hint)
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
        return ModelPaused(_("The model keeps failing"), message, failure.hint)

    def _left_alone(self, failure: Failure, seconds: float) -> ModelPaused:
        wait = timedelta(seconds=round(seconds))
        message = _("{model}: for {time}, until {until}: {reason}").format(
            model=self._label,
            time=wait,
            until=f"{datetime.now().astimezone() + wait:%Y-%m-%d %H:%M}",
            reason=failure.message,
        )
        return ModelPaused(_("The server wants to be left alone"), message, _("go on after that"))
