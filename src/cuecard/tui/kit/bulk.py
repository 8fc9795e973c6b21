"""One action on many rows: each by itself, then one account of what was done, and what was refused and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen
from cuecard.tui.kit.lists import Column, ListView

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Row = TypeVar("Row")


@dataclass(frozen=True)
class Refused:
    """A row to which it was not done, by what the list calls it."""

    name: str
    why: str


async def to_each(
    screen: CuecardScreen[Any],
    rows: Sequence[Row],
    name: Callable[[Row], str],
    do: Callable[[Workspace, Row], object],
    told: Callable[[int], str],
) -> int:
    """Do it to every row, and tell: a row that is refused holds up no other. If the database goes away, the others are
    left, and told too. `told` words to how many it was done, which is given back. One row alone raises `CuecardError`.
    """
    done, refused = 0, list[Refused]()
    for at, row in enumerate(rows):
        try:
            await screen.services.ask(lambda ws, row=row: do(ws, row))
        except DatabaseAway as error:
            if len(rows) == 1:
                raise
            why = _("The database is away. Do it again when it is back.")
            refused += [Refused(name(left), why) for left in rows[at:]]
            screen.cue_app.report(error)
            break
        except CuecardError as error:
            if len(rows) == 1:
                raise
            why = " · ".join(filter(None, (error.title, one_line(error.message))))
            refused.append(Refused(name(row), why))
        else:
            done += 1
    if refused:
        await screen.app.push_screen_wait(RefusedDialog(told(done), refused))
    else:
        screen.cue_app.tell(told(done))
    return done


class RefusedDialog(CuecardDialog[None]):
    """What was done, above what was not and why; it stays until it is read."""

    CSS = """
    RefusedDialog { align: center middle; }
    RefusedDialog .dialog { width: 94%; max-width: 116; }
    RefusedDialog ListView { height: auto; max-height: 18; }
    RefusedDialog ListGrid { height: auto; min-height: 3; max-height: 14; }
    """
    BINDINGS = keys(
        Key("refused.close", (Means.UP_ONE, Means.OPEN), "dismiss", N_("Close"), N_("Back")),
    )  # fmt: skip

    def __init__(self, done: str, refused: Sequence[Refused]) -> None:
        super().__init__()
        self._done, self._refused = done, refused

    def compose(self) -> ComposeResult:
        n = len(self._refused)
        with Vertical(classes="dialog") as box:
            box.border_title = Text(
                f"{self._done} {ngettext('{n} was refused:', '{n} were refused:', n).format(n=n)}"
            )
            yield ListView(
                (
                    Column[Refused](N_("What"), lambda row: row.name, grow=1, least=14),
                    Column[Refused](N_("Why"), lambda row: row.why, grow=2, least=30),
                ),
                lambda row: row,
            )
        yield KeyBar()

    def on_mount(self) -> None:
        view = cast("ListView[Refused]", self.query_one(ListView))
        view.load(self._refused)
        view.focus()

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        self.dismiss()
