"""`cuecard find`: everything that may be seen, searched."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import console, note, table
from cuecard.tui.commands.verb import Help, Result, verb


@verb("cuecard find espresso machine", "json")
def find(
    ours: Context,
    text: Annotated[
        list[str], Help(N_("Words that must occur, in any order and case"), metavar="WORD")
    ],
) -> Result:
    from cuecard.annotate.search import SearchHit, find

    with _progress() as tell:
        found = find(ours.workspace, ours.reader, " ".join(text), tell)

    def where(each: SearchHit) -> str:
        event = "" if each.seq is None else _("event {n}").format(n=each.seq)
        return for_display(
            " · ".join(filter(None, (each.title, each.where or event or each.place)))
        )

    def show() -> None:
        rows = [(each.kind.label, where(each), for_display(each.snippet)) for each in found]
        if rows:
            table("", (_("Kind"), _("Where"), _("Found")), rows)
        else:
            note(_("Nothing found."))

    return Result(show, lambda: [_json(each) for each in found])


@contextmanager
def _progress() -> Generator[Callable[[int], None]]:
    """Tells on stderr that the index is brought up to date as it goes on, where somebody looks on."""
    errors = console(stderr=True)
    status = errors.status("")

    def tell(left: int) -> None:
        line = ngettext("The index of the search is brought up to date: {n} event is left.", "The index of the search is brought up to date: {n} events are left.", left)  # fmt: skip
        if errors.is_terminal:
            status.update(line.format(n=f"{left:,}"))
            status.start()

    try:
        yield tell
    finally:
        status.stop()


def _json(each: Any) -> dict[str, Any]:
    return {
        "kind": each.kind.value,
        "title": each.title,
        "text": each.snippet,
        "task": each.task_id or None,
        "place": each.place or None,
        "trial": each.trial_id or None,
        "event": each.seq,
        "run": each.run_id or None,
    }
