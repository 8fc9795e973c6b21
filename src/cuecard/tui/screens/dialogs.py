"""General dialogs: for a text, for one line, for confirmation, and the list of keys."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.widgets import Button, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys, moves
from cuecard.tui.app import CuecardDialog
from cuecard.tui.drawing import Horizontal, VerticalScroll
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import Paragraph, wrap
from cuecard.tui.present.keyboard import hint, key_name
from cuecard.tui.widgets.text import Paragraphs, PlainText

_WORD = re.compile(
    r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\u3400-\u9fff\uf900-\ufaff]+(?:[-'’][^\W\u3400-\u9fff]+)*"
)
"""A word; each Han character is one."""


class _Text(Frozen):
    text: Annotated[str, Field(title=""), Row("text")]


class TextDialog(AnswerDialog[_Text, str]):
    """Dismissed with the text (which may be empty), or None when left with Escape."""

    def __init__(self, title: str, text: str = "", note: str = "") -> None:
        super().__init__(title, _Text(text=text), ask=note, button=_("Save"))

    async def answer(self, model: _Text) -> str:
        return model.text


class LongTextDialog(CuecardDialog[str]):
    """A text on the whole screen, to be written on; dismissed with it, or with None."""

    DEFAULT_CSS = """
    LongTextDialog { background: $background; }
    LongTextDialog TextArea { height: 1fr; border: none; padding: 0 2; }
    LongTextDialog #counted { height: 1; dock: top; padding: 0 1; background: $panel; color: $primary; }
    """
    BINDINGS = keys(
        Key("long.take", (Means.SAVE, Means.ZOOM), "take", N_("Accept"), N_("Take the text over into its field")),
        Key("long.leave", Means.UP_ONE, "leave", N_("Back"), N_("Leave the field as it was; asks where something was written")),
    )  # fmt: skip

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        yield Static("", id="counted", markup=False)
        yield TextArea(self._text, soft_wrap=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self._area.focus()
        self._area.move_cursor(self._area.document.end)
        self._count()

    @property
    def _area(self) -> TextArea:
        return self.query_one(TextArea)

    def on_text_area_changed(self) -> None:
        self._count()

    def _count(self) -> None:
        text = self._area.text
        words, characters = len(_WORD.findall(text)), len(text)
        told = [
            ngettext("{n} word", "{n} words", words).format(n=f"{words:,}"),
            ngettext("{n} character", "{n} characters", characters).format(n=f"{characters:,}"),
            hint(_("{UNDO} takes back"), typing=True),
        ]
        self.query_one("#counted", Static).update(" · ".join(filter(None, [self._title, *told])))

    def on_paste(self, event: events.Paste) -> None:
        event.text = for_display(event.text)

    def action_take(self) -> None:
        self.dismiss(self._area.text)

    def action_leave(self) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.dismiss()

        if self._area.text == self._text:
            self.dismiss()
        else:
            text = _("The field stays as it was.")
            self.app.push_screen(ConfirmDialog(_("Give up what you wrote?"), text, _("Give up")), answered)  # fmt: skip


class ConfirmDialog(CuecardDialog[bool]):
    """Asks for an explicit yes: the button that goes back has the focus, and Escape presses it. `shown`: what it is
    about, in full.
    """

    DEFAULT_CSS = """
    ConfirmDialog { align: center middle; }
    """
    BINDINGS = keys(
        Key("ask.yes", (Means.YES, Means.SAVE), "answer(True)", N_("Yes"), N_("Do it")),
        Key("ask.no", (Means.NO, Means.UP_ONE), "answer(False)", N_("No"), N_("Leave it")),
    )  # fmt: skip

    def __init__(self, title: str, text: str, yes: str, shown: Sequence[Paragraph] = ()) -> None:
        super().__init__()
        self._title, self._text, self._yes, self._shown = title, text, yes, shown

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            yield PlainText(self._text)
            if self._shown:
                yield Paragraphs(id="shown")
            with Horizontal(classes="buttons"):
                yield Button(_("No"), id="no", compact=True)
                yield Button(self._yes, variant="warning", id="yes", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        if self._shown:
            self.query_one("#shown", Paragraphs).load(self._shown)
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class _Line(Frozen):
    answer: Annotated[str, Field(title="")]


class AskLine(AnswerDialog[_Line, str]):
    """A question with a one-line answer; None when the person left it. `required`: not blank."""

    def __init__(
        self,
        title: str,
        text: str,
        *,
        button: str,
        value: str = "",
        placeholder: str = "",
        required: bool = True,
    ) -> None:
        line = _Line(answer=value)
        super().__init__(title, line, ask=text, button=button, tips={"answer": placeholder})
        self._required = required

    def problem(self, model: _Line) -> str:
        return _("Please write something first.") if self._required and not model.answer else ""

    async def answer(self, model: _Line) -> str:
        return model.answer


_WIDE, _FRAME = 72, 10
"""Cells of a dialog, and those of its border, blanks and scrollbar."""
BESIDE = "  ·  "
"""Between the name of a choice and what is told of it."""


class ChoiceDialog(CuecardDialog[str | None]):
    """A question and options; each may have a key of its own. Answers the id of the chosen one."""

    CSS = """
    ChoiceDialog {
        align: center middle;
        OptionList, OptionList:focus {
            height: auto; max-height: 16; border: none; background: $surface; padding: 0;
        }
        #question { height: auto; margin-bottom: 1; }
        /* Where the reply that the question is about must stay in sight. */
        &.-low { align: center bottom; background: $background 0%; }
        &.-low .dialog { width: 100%; max-width: 100%; padding: 0 1; }
        &.-low #question { margin-bottom: 0; color: $muted; }
    }
    """

    BINDINGS = keys(
        Key("choice.take", Means.SAVE, "take", N_("Take"), N_("Take what is under the cursor, as Enter does"), show=False),
    )  # fmt: skip

    def __init__(
        self,
        title: str,
        question: str,
        options: Sequence[tuple[str, str, str]],
        *,
        first: str = "",
        low: bool = False,
    ) -> None:
        """`options`: (id, key or "", text). `first`: the id where the cursor is. `low`: at the bottom of the screen."""
        super().__init__(classes="-low" if low else None)
        self._title, self._question, self._options, self._first = title, question, options, first

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            asked = Static(for_display(self._question), id="question", markup=False)
            asked.display = bool(self._question)
            yield asked
            yield OptionList(*self._listed(), markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        if self._first:
            listed.highlighted = listed.get_option_index(self._first)
        listed.focus()

    def action_take(self) -> None:
        self.query_one(OptionList).action_select()

    def on_key(self, event: events.Key) -> None:
        for option, key, _text in self._options:
            if key and event.character == key:
                event.stop()
                self.dismiss(option)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "choose" or any(option == parameters[0] for option, *_ in self._options)

    def action_choose(self, option: str) -> None:
        self.dismiss(option)

    def _listed(self) -> Iterator[Option]:
        """What can be chosen, each indented to its last line; names that are explained stand in a column."""
        across = self.app.size.width
        wide = across if self.has_class("-low") else min(_WIDE, across * 96 // 100)
        parts = [text.partition(BESIDE) for _id, _key, text in self._options]
        named = max((cell_len(name) for name, _dot, told in parts if told), default=0)
        for (option, key, _text), (name, _dot, told) in zip(self._options, parts, strict=True):
            label = Text(no_wrap=True)
            if key:
                label.append(f" {key} ", "reverse").append("  ")
            if told:
                label.append(set_cell_size(for_display(name), named), "bold").append("  ")
            said = told or name
            if said[:2] in ("● ", "○ "):
                label.append(said[:2])
                said = said[2:]
            indent = label.cell_len
            lines = wrap(said, wide - _FRAME - indent)
            yield Option(label.append(f"\n{' ' * indent}".join(lines)), id=option)


_EVERYWHERE = ("go.", "app.", "screen.", "dialog.")
_NAMED = 3
"""Keys that are named of one action: the others are aliases for other terminals."""


_LISTS = ("list.", "grid.")
"""What works in any list comes after what this screen is for."""


class HelpDialog(CuecardDialog[None]):
    """Takes the active bindings of the screen it was called from, and whether a field has the focus there."""

    DEFAULT_CSS = """
    HelpDialog .group { height: 1; color: $primary; text-style: bold; }
    HelpDialog .keys { height: auto; margin-bottom: 1; }
    """
    BINDINGS = keys(
        Key("help.close", (Means.UP_ONE, Means.HELP), "dismiss", N_("Close"), N_("Back")),
    )  # fmt: skip

    def __init__(self, bindings: list[ActiveBinding], *, typing: bool = False) -> None:
        super().__init__()
        self._typing = typing
        named = [shown for shown in bindings if shown.binding.id and shown.binding.description]
        general = [shown for shown in named if (shown.binding.id or "").startswith(_EVERYWHERE)]
        here = [shown for shown in named if shown not in general]
        self._moving = [shown for shown in here if moves(shown.binding)]
        self._here = sorted(
            (shown for shown in here if shown not in self._moving),
            key=lambda shown: (shown.binding.id or "").startswith(_LISTS),
        )
        self._general = sorted(
            general, key=lambda shown: not (shown.binding.id or "").startswith("go.")
        )

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = _("Keys that work here")
            for title, bindings in (
                (_("On this screen"), self._here),
                (_("Moving about"), self._moving),
                (_("Everywhere"), self._general),
            ):
                if bindings:
                    yield Static(title, classes="group")
                    yield Static(self._table(bindings), classes="keys")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _table(self, bindings: list[ActiveBinding]) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True, min_width=5)
        table.add_column(no_wrap=True, min_width=12)
        table.add_column(overflow="fold")  # Chinese has no blanks
        names: dict[tuple[str, str], list[str]] = {}
        ids: dict[tuple[str, str], set[str]] = {}
        for active in bindings:
            does = active.binding.description, active.tooltip
            ids.setdefault(does, set()).add(active.binding.id or "")
            shown = active.binding.key_display or key_name(active.binding.key, typing=self._typing)
            names.setdefault(does, []).append(shown)
        for (label, tip), found in names.items():
            # Several actions that are called alike are a row of choices.
            many = len(ids[label, tip]) > 1
            key = f"{found[0]} … {found[-1]}" if many else " ".join(found[:_NAMED])
            told = Text("" if tip == label else tip, style="dim")
            table.add_row(Text(key, style="bold"), Text(label), told)
        return table
