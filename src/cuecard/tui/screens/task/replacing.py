"""Find and replace over a task: the dialog with what each text would become."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from cuecard.annotate.authoring.ops import TextMatch, find, replace
from cuecard.core.i18n import N_, _, joined, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid.grid import Grid
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.forms import FormPane
from cuecard.tui.kit.lists import ListView
from cuecard.tui.kit.rows import FormRow, Row
from cuecard.tui.present.keyboard import hint
from cuecard.tui.widgets.text import ChangingText

if TYPE_CHECKING:
    from cuecard.tui.screens.task.screen import TaskScreen

_BEFORE, _SHOWN, _BESIDE = 8, 400, 36
"""Characters that are shown before the first mark, and of a text; cells beside both in a line."""


class Wanted(Frozen):
    """What is looked for, and what shall stand there instead."""

    words: Annotated[str, Field(title=N_("Find"))] = ""
    put: Annotated[str, Field(title=N_("Replace by"))] = ""
    case: Annotated[bool, Field(title=N_("Upper and lower case differ")), Row(column=1)] = False
    whole: Annotated[bool, Field(title=N_("Whole words only")), Row(column=1)] = False


class ReplaceDialog(CuecardDialog[Sequence[TextMatch] | None]):
    """Dismissed with the hits that are ticked."""

    DEFAULT_CSS = """
    ReplaceDialog #box { width: 96%; height: 94%; padding: 0 1; border: round $primary;
        border-title-color: $primary; background: $surface; }
    ReplaceDialog FormPane { margin-bottom: 1; }
    ReplaceDialog .-column-0 { width: 3fr; }
    ReplaceDialog .-column-1 { width: 2fr; padding-left: 2; }
    ReplaceDialog #texts { height: 5; padding: 0 1; }
    ReplaceDialog #note { height: auto; color: $muted; }
    """
    BINDINGS = keys(
        Key("replace.accept", (Means.OPEN, Means.SAVE), "accept", N_("Replace ticked"), N_("Replace in all texts that are ticked, as one change")),
    )  # fmt: skip
    AUTO_FOCUS = ""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__()
        self._data, self._hits = data, list[TextMatch]()

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = _("Find and replace in this task")
            yield FormPane(Wanted())
            yield ListView[TextMatch](
                (
                    Column(N_("Where"), lambda hit: hit.place(self._data), grow=1, least=20),
                    Column(N_("Before"), lambda hit: self._cut(hit, after=False), grow=2, least=16),
                    Column(N_("After"), lambda hit: self._cut(hit, after=True), grow=2, least=16),
                ),
                lambda hit: hit.path,
                marking=True,
                filters=False,
                tells=False,
                id="hits",
            )
            yield Static(id="texts")
            yield ChangingText(id="note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(FormPane).go_to("words")
        self.tell()

    @property
    def hits(self) -> ListView[TextMatch]:
        return cast("ListView[TextMatch]", self.query_one(ListView))

    @on(FormPane.Changed)
    @guarded("find")
    async def look(self) -> None:
        """Find what is asked for now; keys wait for it."""
        values = self.query_one(FormPane).values
        # Blanks at the ends are meant here; rows of forms leave them out.
        words, put = (self.query_one(f"#{name}", Input).value for name in ("words", "put"))
        self._hits = await asyncio.to_thread(
            find, self._data, words, put, case=values["case"], whole=values["whole"]
        )
        self.hits.load(self._hits)
        self.hits.grid.mark(at for at, hit in enumerate(self._hits) if not hit.address)
        self.tell()

    @on(Grid.MarksChanged)
    def tell(self) -> None:
        """How many there are, and how many of them are ticked."""
        count = len(self._hits)
        if count:
            told = ngettext(
                "{ticked} of {n} text is ticked.", "{ticked} of {n} texts are ticked.", count
            )
            text = told.format(ticked=len(self.hits.marked), n=count)
            parts = [text, hint(_("{MARK} ticks or unticks one, {SAVE} replaces."))]
            if any(hit.address for hit in self._hits):
                parts.append(_("Web addresses are not ticked at first."))
            text = joined(parts)
        elif self.query_one("#words", Input).value:
            text = _("It stands nowhere, or would stay the same. Ids and kinds are never changed.")
        else:
            text = _("Titles, stages, gold, sources, notes: everything but ids and kinds.")
        self.query_one("#note", ChangingText).tell(text)
        self.refresh_bindings()

    @on(FormRow.Entered)
    def entered(self) -> None:
        """Enter goes on: to the other line, then to what was found."""
        if self.focused is self.query_one("#words", Input):
            self.query_one("#put", Input).focus()
        elif self._hits:
            self.hits.focus()

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        """Both texts of the one under the cursor."""
        event.stop()
        whole, hit = Text(), self.hits.row
        if hit is not None:
            before, after = (shown(hit, after=after) for after in (False, True))
            whole = Text.assemble("− ", before, "\n+ ", after)
        self.query_one("#texts", Static).update(whole)

    def _cut(self, hit: TextMatch, *, after: bool) -> Text:
        text = shown(hit, after=after)
        text.truncate(max(16, (self.app.size.width - _BESIDE) // 2), overflow="ellipsis")
        return text

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "accept" or bool(self._hits and self.hits.marked)

    def action_accept(self) -> None:
        self.dismiss(self.hits.marked)


def shown(hit: TextMatch, *, after: bool) -> Text:
    """A piece of the text that begins shortly before the first mark, with all marks."""
    text = Text()
    for piece, marked in hit.pieces(after=after):
        if not text and not marked and len(piece) > _BEFORE + 1:
            piece = f"…{piece[-_BEFORE:]}"
        text.append(
            for_display(piece[:_SHOWN]).replace("\n", " "), "bold reverse" if marked else ""
        )
        if len(text) > _SHOWN:
            break
    return text


async def find_and_replace(screen: TaskScreen) -> None:
    """Ask, and replace what stayed ticked."""
    screen.editor.commit()
    edit = screen.edit
    edit.seal()
    hits = await screen.app.push_screen_wait(ReplaceDialog(edit.data))
    if not hits:
        return
    count = replace(edit, hits)
    screen.editor.reload()
    told = ngettext("Replaced in {n} text; {UNDO} takes it back.", "Replaced in {n} texts; {UNDO} takes it back.", count)  # fmt: skip
    screen.cue_app.tell(hint(told, n=count))
