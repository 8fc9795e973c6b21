"""What stands in place of the input when the dialogue is over: first the form, then how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from cuecard.core.config_play import FormQuestion
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.measures import Measure
from cuecard.lab.play import PlayOutcome
from cuecard.tui.screens.play.ending import Ending
from cuecard.tui.screens.play.form import SessionFormPane
from cuecard.tui.state.kept_json import KeptJson


class AfterPane(Vertical):
    """`ask` when the agent has handed in, `close` when the outcome is known: scores are not shown before
    the form is settled. Posts `SessionFormPane.Given`, `.Declined`, `.Later` and `Ending.Read`; whoever
    keeps the form calls `settle` then.
    """

    DEFAULT_CSS = """
    AfterPane { height: auto; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._asked = self._asking = False

    def compose(self) -> ComposeResult:
        yield SessionFormPane()
        yield Ending()

    def on_mount(self) -> None:
        self.query_one(SessionFormPane).display = False
        self.query_one(Ending).display = False

    @property
    def asking(self) -> bool:
        """Whether the form waits for the person."""
        return self._asking

    async def ask(self, questions: Sequence[FormQuestion], kept: KeptJson | None = None) -> None:
        """Show the form and take the focus. Asked again, nothing happens."""
        if self._asked:
            return
        form = self.query_one(SessionFormPane)
        self._asked = self._asking = form.display = True
        await form.load(questions, kept)

    def close(
        self, outcome: PlayOutcome, measures: Sequence[Measure], judge: PlayerRef | None = None
    ) -> None:
        """The outcome is known. Shown at once where no form waits, and else once it is settled."""
        self.query_one(Ending).load(outcome, measures, judge)
        if not self._asking:
            self._show_ending()

    def settle(self) -> None:
        """The form is kept, or declined."""
        form = self.query_one(SessionFormPane)
        form.done()
        self._asking = form.display = False
        self._show_ending()

    def _show_ending(self) -> None:
        ending = self.query_one(Ending)
        ending.display = True
        ending.focus()
