"""The keys of every meaning: read, recorded, given back, and written to the keymap."""

import asyncio
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding

from cuecard.core.i18n import N_, _
from cuecard.core.system import keep
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present.keyboard import (
    KEYMAP,
    KEYMAP_PLACE,
    LETTERS,
    given,
    is_key,
    key_name,
    keymap_with,
    losers,
)
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import PlainText


class RecordDialog(CuecardDialog[str]):
    """Dismissed with the next key that is pressed; Escape leaves it as it was."""

    DEFAULT_CSS = """
    RecordDialog { align: center middle; }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = _("A key of my own")
            yield PlainText(self._title)
            yield PlainText(_("Press the key; esc leaves it as it was."))
        yield KeyBar()

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """What is pressed is recorded, but for this."""
        return {key: one for key, one in super().active_bindings.items() if key == "escape"}

    def on_key(self, event: events.Key) -> None:
        if event.key != "escape":
            event.stop()
            event.prevent_default()
            self.dismiss(event.key)


class OwnKeysScreen(ListScreen[Means]):
    """Enter records a key for the meaning under the cursor. What is written holds from the next start on."""

    LIVE = False
    NEED_ROW = ("record", "give_back")
    BINDINGS = keys(
        Key("own_keys.record", Means.OPEN, "record", N_("Record"), N_("Give it the next key that I press")),
        Key("own_keys.reset", Means.DELETE, "give_back", N_("Reset"), N_("Give it its usual keys back; can be done again by recording")),
        Key("own_keys.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to Settings")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._own: dict[str, tuple[str, ...]] = {}

    def columns(self) -> Sequence[Column[Means]]:
        return (
            Column(N_("Keys"), lambda row: " ".join(map(key_name, self._own.get(row.name.lower(), row.keys)))),
            Column(N_("What it does"), lambda row: _(row.does), grow=1, least=20),
            Column(N_("Own"), lambda row: "✓" if row.name.lower() in self._own else ""),
            Column(N_("In the keymap"), lambda row: row.name.lower(), spare=1),
        )  # fmt: skip

    def key(self, row: Means) -> str:
        return row.name

    async def read(self) -> Sequence[Means]:
        self._own = given(await asyncio.to_thread(_written))
        return [means for means in Means if means not in LETTERS]

    def empty(self) -> EmptyState:
        return EmptyState("", "")

    def title_words(self) -> str:
        return _("Keys")

    def note(self) -> str:
        return _("Kept in {file}; it holds from the next start on.").format(file=KEYMAP_PLACE)

    def action_open(self) -> None:
        self.action_record()

    @guarded("record")
    async def action_record(self) -> None:
        if (row := self.row) is None:
            return
        key = await self.app.push_screen_wait(RecordDialog(_(row.does)))
        if not key:
            return
        if not is_key(key):
            self.cue_app.tell(
                _("{key} cannot be given: terminals do not send it as one key.").format(key=key)
            )
            return
        lost = losers(row, key, self._own)
        if lost:
            question = _("{key} is taken").format(key=key_name(key))
            text = _("It means: {what}. That would lose it.").format(
                what=" · ".join(_(means.does) for means in lost)
            )
            if not await self.app.push_screen_wait(ConfirmDialog(question, text, _("Take it"))):
                return
        await self._write(row, (key,))

    @guarded("record")
    async def action_give_back(self) -> None:
        if (row := self.row) is not None:
            await self._write(row, ())

    async def _write(self, row: Means, found: tuple[str, ...]) -> None:
        text = keymap_with(await asyncio.to_thread(_written), row.name.lower(), found)
        await asyncio.to_thread(keep, KEYMAP, text)
        self._was_read = False  # the same rows say something else
        self.load()


def _written() -> str:
    try:
        return KEYMAP.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
