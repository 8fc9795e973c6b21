"""What the paste dialog says about rows for a table."""

from __future__ import annotations

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.paste import Pasted
from cuecard.annotate.authoring.table_paste import TablePaste, plan_paste
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.screens.task.paste_preview import PasteChoices, Preview
from cuecard.tui.state.entries import Piece


def planned(
    edit: TaskEdit, pasted: Pasted, choices: PasteChoices, row: int, column: int
) -> TablePaste:
    """What pasting at a cell would do."""
    return plan_paste(
        edit, pasted, "cells" if choices.over else "rows", row, column, add_columns=choices.more
    )


def preview_of(edit: TaskEdit, plan: TablePaste) -> Preview:
    """The plan in words."""
    names = [plan.named.get(i) or name for i, name in enumerate(ops.column_names(edit))]
    names += plan.new
    said = [[Piece(_rows_said(plan))]]
    if plan.new:
        text = ngettext("{n} new column: {names}", "{n} new columns: {names}", len(plan.new))
        said.append([Piece(text.format(n=len(plan.new), names=_listed(plan.new)), "good")])
    left_out = sum(target is None for target in plan.targets)
    if left_out:
        text = ngettext(
            "{n} column is left out: {names}", "{n} columns are left out: {names}", left_out
        )
        said.append([Piece(text.format(n=left_out, names=_listed(plan.left_out)), "bad")])
    shown = [_("(left out)") if target is None else names[target] for target in plan.targets]
    taken = bool(plan.pasted.rows) and any(target is not None for target in plan.targets)
    offers = {"header", "over"} | ({"more"} if plan.new or left_out else set[str]())
    return Preview(said, shown, taken, frozenset(offers))


def _rows_said(plan: TablePaste) -> str:
    if plan.replaces_blank:
        said = ngettext("{n} row, in place of the empty ones", "{n} rows, in place of the empty ones", plan.added)  # fmt: skip
        return said.format(n=plan.added)
    if plan.mode == "rows":
        said = ngettext("{n} new row below row {row}", "{n} new rows below row {row}", plan.added)
        return said.format(n=plan.added, row=plan.start)
    over = len(plan.pasted.rows) - plan.added
    said = ngettext("over {n} row from row {row} on, which changes {changed}", "over {n} rows from row {row} on, which changes {changed}", over)  # fmt: skip
    text = said.format(n=over, row=plan.start + 1, changed=plan.changed)
    if plan.added:
        more = ngettext("{n} new row at the end", "{n} new rows at the end", plan.added)
        text = f"{text}; {more.format(n=plan.added)}"
    return text


def _listed(names: tuple[str, ...]) -> str:
    shown = [one_line(name, 24) or _("(no name)") for name in names[:6]]
    return ", ".join(shown) + (" …" if len(names) > 6 else "")
