"""`cuecard agree` on meta-evaluation sheets: the model beside people, without a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cuecard.cli.output import as_json, note, say
from cuecard.core.i18n import N_, _

_TITLES = {
    "gold": N_("Recall: is the gold triple covered?"),
    "predicted": N_("Precision: is the predicted triple right?"),
}


def agree_on_sheets(paths: Sequence[Path], *, json: bool, markdown: bool) -> None:
    """Both questions one after the other; as JSON by the name of the sheet. Raises `FileProblems`."""
    from cuecard.annotate.labelling.comparison import Scope, compare
    from cuecard.annotate.labelling.comparison.sheets import sheets_of
    from cuecard.annotate.labelling.comparison.words import circumstances
    from cuecard.annotate.labels_io.meta_evaluation import materials_of_sheets
    from cuecard.cli.agree_json import comparison_json
    from cuecard.cli.agree_sheets import print_sheets

    found = [compare(material) for material in materials_of_sheets(paths)]
    if json:
        names = {"gold": "recall", "predicted": "precision"}
        as_json({names[c.subject]: comparison_json(c, Scope(subject=c.subject)) for c in found})
        return
    for comparison in found:
        told = _("{labelled} of {n} lines labelled by {people}").format(
            labelled=f"{comparison.labelled:,}",
            n=f"{comparison.population or 0:,}",
            people=", ".join(comparison.people) or _("nobody"),
        )
        say(("# " if markdown else "") + f"{_(_TITLES[comparison.subject])} {told}")
        if not comparison.people:
            note(_("The column human_label is blank."))
            continue
        for line in circumstances(comparison):
            say(("- " if markdown else "") + line)
        say("")
        print_sheets(sheets_of(comparison), markdown=markdown)
