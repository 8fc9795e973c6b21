"""One of a few things, by its letter."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, OptionList

from cuecard.core.text import one_line
from cuecard.tui.base import CuecardDialog


class LetterDialog(CuecardDialog[int | None]):
    """Takes a letter, a name and a meaning for each choice; dismissed with the number of the chosen one."""

    DEFAULT_CSS = """
    LetterDialog OptionList, LetterDialog OptionList:focus {
        height: auto; max-height: 16; border: none; padding: 0; background: $surface;
    }
    """

    def __init__(
        self, title: str, choices: Sequence[tuple[str, str, str]], chosen: int = 0
    ) -> None:
        super().__init__()
        self._title, self._choices, self._chosen = title, choices, chosen

    def compose(self) -> ComposeResult:
        room = max(cell_len(name) for _letter, name, _meaning in self._choices)
        with Vertical(classes="dialog") as box:
            box.border_title = Text(one_line(self._title))
            yield OptionList(
                *(
                    Text.assemble(
                        (f" {letter} ", "bold reverse"),
                        f"  {name}{' ' * (room - cell_len(name))}  ",
                        (meaning, "dim"),
                    )
                    for letter, name, meaning in self._choices
                )
            )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = self._chosen
        listed.focus()

    def on_key(self, event: events.Key) -> None:
        letters = [letter for letter, _name, _meaning in self._choices]
        if event.character in letters:
            event.stop()
            self.dismiss(letters.index(event.character))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)
