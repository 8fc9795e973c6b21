"""What opens over an item being labelled (a searchable list, the dialogue), and the effect of each key on the session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.labelling.views import BlindTranscript, LabelView, Pace, Revealed
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.i18n import N_, _
from cuecard.core.label_records import LabelValue
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.labelling import Searched
from cuecard.tui.present.transcript import entries_of
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.transcript import Transcript


class DetailScreen(CuecardScreen[None]):
    """A searchable list of entries. Typing filters, arrows and pages scroll."""

    DEFAULT_CSS = """
    DetailScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    DetailScreen Vertical { height: 1fr; padding: 0 1; }
    DetailScreen Input { margin: 0 0 1 0; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = keys(
        Key("look.leave", "escape", "dismiss", N_("Back"), N_("Back to the item")),
        Key("look.down", "down", "walk('down')", N_("Down"), N_("One line down"), show=False, priority=True),
        Key("look.up", "up", "walk('up')", N_("Up"), N_("One line up"), show=False, priority=True),
        Key("look.page_down", "pagedown", "walk('page_down')", N_("Page"), N_("A page down"), priority=True),
        Key("look.page_up", "pageup", "walk('page_up')", N_("Page up"), N_("A page up"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        super().__init__()
        self._title = title
        self._searched = Searched(entries)

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with Vertical():
            yield Input(placeholder=_("type to search"), compact=True)
            found = EntryList(id="found")
            found.can_focus = False
            yield found
        yield KeyBar()

    def on_mount(self) -> None:
        self._search("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._search(event.value)

    def action_walk(self, way: str) -> None:
        found = self.query_one(EntryList)
        match way:
            case "down":
                found.scroll_relative(y=1, animate=False, immediate=True)
            case "up":
                found.scroll_relative(y=-1, animate=False, immediate=True)
            case "page_down":
                found.scroll_relative(y=found.size.height - 1, animate=False, immediate=True)
            case _:
                found.scroll_relative(y=1 - found.size.height, animate=False, immediate=True)

    def _search(self, typed: str) -> None:
        found = self._searched.found(typed)
        self.query_one(EntryList).load(found)
        self.query_one(EntryList).scroll_home(animate=False, immediate=True)
        count = _("{n} of {all}").format(n=len(found), all=len(self._searched))
        self.query_one("#title", Static).update(f"{self._title} · {count}")


AT_ONCE = 8
"""With more events than this, what was read is shown before the rest is."""


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
        yield KeyBar()

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


Work = Callable[[LabelSession], Revealed | None]
Detail = Literal["comment", "all", "gold", "transcript"]
"""What opens something above the item; it waits its turn like any other key."""


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off."""

    view: LabelView | None
    revealed: Revealed | None
    position: int
    total: int
    labelled: int
    skipped: int
    pace: Pace


def step_of(session: LabelSession, work: Work) -> Step:
    """Handle a key."""
    session.touch()
    revealed = work(session)
    view = session.current
    if view is None:
        revealed = None
    elif revealed is None and view.revealed:
        # Who comes back to it sees again what they have seen.
        revealed = session.reveal()
    return Step(
        view=view,
        revealed=revealed,
        position=session.position,
        total=session.total,
        labelled=session.labelled,
        skipped=session.skipped if view is None else 0,
        pace=session.pace,
    )


def labelling(value: LabelValue | CheckpointStatus, *, reveal_after: bool) -> Work:
    """Label the item and go on, or stay and show the decision. On an item whose decision is shown, the same value again
    goes on, and another one changes the label.
    """

    def work(session: LabelSession) -> Revealed | None:
        view = session.current
        if view is None:
            return None
        again = view.revealed and view.mine is not None
        if not (again and view.mine is not None and view.mine.value is value):
            session.label(value)
        if reveal_after and not again:
            return session.reveal()
        session.next()
        return None

    return work


def commenting(text: str) -> Work:
    return lambda session: session.note(text.strip())


def flag(session: LabelSession) -> None:
    """Say that the gold is wrong, or take it back."""
    view = session.current
    if view is not None:
        flagged = view.mine.gold_wrong if view.mine else view.draft.gold_wrong
        session.note(gold_wrong=not flagged)


def reveal(session: LabelSession) -> Revealed | None:
    view = session.current
    return session.reveal() if view is not None and view.mine is not None else None


def go_on(session: LabelSession) -> None:
    session.next()


def back(session: LabelSession) -> None:
    session.back()


def nothing(session: LabelSession) -> None:
    """Look at the item as it stands."""
