"""What stands in place of the input when the dialogue is over."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.message import Message
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.labels import COUNTS, HEADLINES
from cuecard.core.scoring.measures import Measure
from cuecard.core.text import for_display, one_line
from cuecard.lab.play import PlayOutcome
from cuecard.tui.actions import Key, keys
from cuecard.tui.glyphs import TERMINATION
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.trial import measure_rows

MAIN = frozenset(name for names in HEADLINES.values() for name in names)
"""The main measures of all families: each has its own."""
SHOWN = 6
"""Measures at most, but always the main ones."""


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
        Key("play.read", "enter", "read", N_("Read the trial"), N_("Transcript, verdicts, scores")),
        Key(
            "play.go_on", "r", "go_on", N_("Go on"), N_("Take the session up again where it failed")
        ),
    )

    class Read(Message):
        """Enter was pressed."""

    class TakenUp(Message):
        """The person wants to go on where the session failed or stopped."""

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._failed = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._failed if action == "go_on" else True

    def action_read(self) -> None:
        self.post_message(self.Read())

    def action_go_on(self) -> None:
        self.post_message(self.TakenUp())

    def load(
        self,
        outcome: PlayOutcome,
        measures: Sequence[Measure],
        judge: PlayerRef | None = None,
    ) -> None:
        """`judge`: whose judgement the measures rest on, where there is one."""
        end = outcome.termination
        self._failed = end is None or end.is_failure
        self.set_class(self._failed, "-stopped")
        self.refresh_bindings()
        if outcome.termination is None:
            self.border_title = Text(_("The session has stopped"))
            reason = outcome.problem or _("It is not known why.")
            self.update(for_display(f"{reason}\n{_what_to_do()}"))
            return
        self.border_title = Text(_("The trial has ended"))
        self.update(for_display("\n".join(_ended(outcome, measures, judge))))


def _what_to_do() -> str:
    return _(
        "Nothing is lost: what was said is kept, and the session is left open. Mend the cause; then r goes on "
        "at once, and Home any time. Escape leaves."
    )


def _ended(outcome: PlayOutcome, measures: Sequence[Measure], judge: PlayerRef | None) -> list[str]:
    termination = outcome.termination
    glyph, _variable, label = TERMINATION[termination.value if termination else ""]
    lines = [f"{glyph} {_(label)}", *filter(None, (one_line(outcome.detail),))]
    if termination is not None and termination.is_failure:
        # Its scores would say nothing of the agent's answers.
        told = _("Mend the cause; then r goes on where it failed: the agent takes that turn again.")
        return [*lines, told, _("Enter reads the trial, Escape leaves.")]
    if outcome.judged:
        main = [m for m in measures if m.name in MAIN]
        others = [m for m in measures if m.name not in COUNTS | MAIN and m.value is not None]
        rows = measure_rows([*main, *others][: max(SHOWN, len(main))])
        who = player_label(judge) if judge else ""
        lines.append(_("Judged by {judge}:").format(judge=who) if who else _("Judged:"))
        lines += [f"  {row.label}: {row.value}  ({row.reason or f'n = {row.n}'})" for row in rows]
        if not rows:
            lines.append("  " + _("no score can be told of this trial"))
    else:
        reason = one_line(outcome.problem) or _("no judge has looked at it yet")
        lines.append(_("Not judged: {reason}").format(reason=reason))
    return [*lines, _("Enter reads the trial, Escape leaves.")]
