"""What the paste dialog says about rows for a closed world."""

from __future__ import annotations

from cuecard.annotate.authoring.facts_ops import FactsPaste, fields_of
from cuecard.annotate.authoring.paste import Pasted
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.screens.task.facts.rows import COLUMNS, FIELDS
from cuecard.tui.screens.task.paste_preview import Preview
from cuecard.tui.state.entries import Piece


def preview_of(plan: FactsPaste, pasted: Pasted) -> Preview:
    """The plan in words."""
    new, changed = len(plan.added), len(plan.updated)
    words = [ngettext("{n} new fact", "{n} new facts", new).format(n=new)]
    if changed:
        words.append(ngettext("{n} fact of the same key changes", "{n} facts of the same key change", changed).format(n=changed))  # fmt: skip
    if plan.same:
        words.append(ngettext("{n} is there already", "{n} are there already", plan.same).format(n=plan.same))  # fmt: skip
    said = [[Piece(" · ".join(words))]]
    if plan.left_out:
        names = ", ".join(one_line(name, 24) or _("(no name)") for name in plan.left_out[:6])
        said.append([Piece(_("no field has this name, so it is left out: {names}").format(names=names), "bad")])  # fmt: skip
    labels = {field: _(column.label) for field, column in zip(FIELDS, COLUMNS, strict=True)}
    columns = [labels[field] if field else _("(left out)") for field in fields_of(pasted)]
    return Preview(said, columns, bool(new or changed), frozenset({"header"}))
