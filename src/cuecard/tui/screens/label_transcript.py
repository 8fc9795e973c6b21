"""The dialogue of the trial that an item is of, without anything that machines decided in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.widgets import Footer, Static

from cuecard.annotate.labelling.session_transcript import BlindTranscript
from cuecard.core.events import Event
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.state.transcript import entries_of
from cuecard.tui.widgets.transcript import Transcript

AT_ONCE = 8
"""Events from which on what was opened is shown before more of it is read."""


class BlindTranscriptScreen(CuecardScreen[None]):
    """Opens where the item came from. `whole` reads events with their large texts, in a thread."""

    DEFAULT_CSS = """
    BlindTranscriptScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    """
    AUTO_FOCUS = "Transcript"
    BINDINGS = keys(
        Key("blind.leave", "escape,t", "dismiss", N_("Back"), N_("Back to the item"), shown_as="esc"),
        Key("blind.place", "p", "place", N_("Its place"), N_("To where the item came from")),
    )  # fmt: skip

    def __init__(
        self,
        title: str,
        transcript: BlindTranscript,
        whole: Callable[..., Sequence[Event]],
    ) -> None:
        super().__init__()
        self._title, self._transcript, self._whole_of = title, transcript, whole
        self._whole: dict[int, Event] = {}

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield Transcript(id="transcript")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        turn = self._transcript.turn
        place = (
            _("turn {n}").format(n=turn + 1) if turn >= 0 else _("named nowhere in the dialogue")
        )
        said = " · ".join((one_line(self._title, 40), place, _("without what was decided")))
        self.query_one("#title", Static).update(said)
        self._show()
        self.call_after_refresh(self.action_place)

    @guarded("whole", background=True)
    async def complete(self) -> None:
        """Read the large texts of what is opened, and only of that."""
        while missing := self._missing():
            found = await self.services.ask(lambda _ws, seqs=missing: self._whole_of(*seqs))
            self._whole |= {event.seq: event for event in found}
            # What cannot be read is not asked for again.
            self._whole |= {seq: self._event(seq) for seq in missing if seq not in self._whole}
            self._show()

    def on_entry_list_unfolded(self) -> None:
        self.complete()

    def action_place(self) -> None:
        transcript = self.query_one(Transcript)
        if self._transcript.turn >= 0:
            transcript.show_turn(self._transcript.turn)
        else:
            transcript.action_jump(-1)

    def _show(self) -> None:
        events = [self._whole.get(event.seq, event) for event in self._transcript.events]
        left_out = self._transcript.left_out - self._whole.keys()
        self.query_one(Transcript).load(entries_of(events, None, left_out))

    def _event(self, seq: int) -> Event:
        return next(event for event in self._transcript.events if event.seq == seq)

    def _missing(self) -> list[int]:
        transcript = self.query_one(Transcript)
        missing: list[int] = []
        for index in transcript.opened:
            missing += transcript.entries[index].left_out
            if len(missing) >= AT_ONCE:
                break
        return missing
