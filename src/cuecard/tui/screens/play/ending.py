"""What stands in place of the input when the dialogue is over."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.scoring.labels import COUNTS
from cuecard.core.scoring.measures import Measure
from cuecard.core.text import for_display
from cuecard.lab.play import PlayOutcome
from cuecard.tui.actions import Key, keys
from cuecard.tui.glyphs import TERMINATION
from cuecard.tui.state.trial import measure_rows

SHOWN = 6


class Ending(Static, can_focus=True):
    """The outcome and the main scores; Enter reads the trial."""

    DEFAULT_CSS = """
    Ending {
        height: auto; max-height: 12; padding: 0 1; border: round $success;
        border-title-color: $success; background: $surface;
        &.-stopped { border: round $error; border-title-color: $error; }
    }
    """
    BINDINGS = keys(
        Key("play.read", "enter", "read", N_("Read the trial"), N_("Transcript, verdicts, scores"))
    )

    class Read(Message):
        """Enter was pressed."""

    def __init__(self) -> None:
        super().__init__("", markup=False)

    def action_read(self) -> None:
        self.post_message(self.Read())

    def load(self, outcome: PlayOutcome, measures: Sequence[Measure]) -> None:
        self.set_class(outcome.termination is None, "-stopped")
        if outcome.termination is None:
            self.border_title = _("The session has stopped")
            self.update(
                for_display(outcome.problem) + "\n" + _("It is left open: play on from Home.")
            )
            return
        glyph, _variable, label = TERMINATION[outcome.termination.value]
        lines = [f"{glyph} {_(label)}", *filter(None, (outcome.detail,))]
        if outcome.judged:
            shares = [m for m in measures if m.name not in COUNTS and m.value is not None]
            rows = measure_rows(shares[:SHOWN])
            lines.append(_("Judged by the lexical judge, an offline baseline:"))
            lines += [f"  {row.label}: {row.value}  (n = {row.n})" for row in rows]
        else:
            lines.append(_("Not judged: {reason}").format(reason=outcome.problem))
        lines.append(_("Enter reads the trial, Escape leaves."))
        self.border_title = _("The trial has ended")
        self.update(for_display("\n".join(lines)))
