"""One action on many rows: each by itself, then one account of what was done, and what was refused and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.text import Text
from textual.app import ComposeResult

from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.core.i18n import N_, _, headed, joined, listed, ngettext, plural
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen
from cuecard.tui.drawing import Vertical
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.keyboard import error_text, hint

if TYPE_CHECKING:
    from cuecard.store.tags import TagKind
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
    back: Callable[[Workspace, Row], object] | str = "",
) -> int:
    """Do it to every row of the screen's list, and tell: a row that is refused holds up no other, and stays marked. If the
    database goes away, the others are left, and told too. `told` words to how many it was done, which is given back. One row
    alone raises `CuecardError`. `back` takes it back when asked to, or says how that is done.
    """
    done, refused = list[Row](), list[Refused]()
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
            # That it is not allowed says no more than that it was refused.
            why = error_text(error, title=error.title != _("This is not possible now"))
            refused.append(Refused(name(row), why))
        else:
            done.append(row)
    told_of = told(len(done))

    async def take_back() -> None:
        undo, words = cast("Callable[[Workspace, Row], object]", back), _("Taken back")
        await to_each(screen, done, name, undo, lambda n: headed(words, told(n)))
        cast("Any", screen).load()

    for view in cast("Iterable[ListView[Row]]", screen.query(ListView)):
        if done:
            view.way_back = take_back if callable(back) else back
        if marked := view.grid.marked:
            keys = set(map(view.key, done))
            view.grid.mark(at for at in marked if view.key(view.rows[at]) not in keys)
    if refused:
        await screen.app.push_screen_wait(RefusedDialog(told_of, refused))
    else:
        undo = [hint(_("{UNDO} takes it back."))] if callable(back) else []
        screen.cue_app.tell(joined((told_of, *undo)))
    return len(done)


async def ask_tags(
    screen: CuecardScreen[Any],
    kind: TagKind,
    rows: Sequence[Row],
    about: Callable[[Row], str],
    name: Callable[[Row], str],
) -> bool:
    """Ask for the tags of these things and change them; gives whether that was tried. Those that all have stand there:
    what is taken out is taken away from all, what is added is put on all. Raises `CuecardError`.
    """
    from cuecard.store.tags import of_run, tags_in, without_name
    from cuecard.tui.screens.dialogs import AskLine

    if not rows:
        return False
    found = await screen.services.ask(lambda ws: ws.tags.of(kind))
    plain = of_run if kind == "run" else without_name
    here = {about: plain(tags) for about, tags in found.items()}
    shared = set[str].intersection(*(set(here.get(about(row), ())) for row in rows))
    told = [_("Separated by commas; everybody sees them, and `/` finds them.")]
    if len(rows) > 1:
        told.append(_("Those that all of them have stand here; others stay as they are."))
    if used := sorted({tag for tags in here.values() for tag in tags} - shared):
        told.append(_("In use: {tags}").format(tags=one_line(listed(used), 120)))
    title = (
        _("Tags") if len(rows) == 1 else plural("Tags of {n} row", "Tags of {n} rows", len(rows))
    )
    value = ", ".join(sorted(shared))
    dialog = AskLine(title, joined(told), button=_("Save"), value=value, required=False)
    typed = await screen.app.push_screen_wait(dialog)
    if typed is None:
        return False
    wanted = set(tags_in(typed))
    add, remove, person = wanted - shared, shared - wanted, screen.person
    had = {about(row): set(here.get(about(row), ())) for row in rows}

    def change_back(ws: Workspace, row: Row) -> None:
        ws.tags.change(kind, id_ := about(row), person, remove & had[id_], add - had[id_])

    if add or remove:
        await to_each(
            screen,
            rows,
            name,
            lambda ws, row: ws.tags.change(kind, about(row), person, add, remove),
            lambda n: plural("Tags of {n} row were changed.", "Tags of {n} rows were changed.", n),
            change_back,
        )
    return bool(add or remove)


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
            refused = ngettext("{n} was refused:", "{n} were refused:", n).format(n=n)
            box.border_title = Text(joined((self._done, refused)))
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
