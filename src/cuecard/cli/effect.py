"""`cuecard agree --effect`: what people's labels change of scores and of the order of agents."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.cli.context import Context
from cuecard.cli.output import as_json, note, prose, say
from cuecard.core.i18n import _


def show_effect(
    ours: Context,
    runs: Sequence[int],
    *,
    judge: str = "",
    set_id: int | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Print the effect of the labels on these runs; `set_id`: of the set that estimates stand on."""
    from cuecard.annotate.effect import effect_of
    from cuecard.annotate.effect.sheets import circumstances, effect_sheets
    from cuecard.cli.agree_sheets import print_sheets

    with ours.workspace() as workspace:
        effect = effect_of(workspace, runs, judge, set_id)
    if json:
        as_json(effect.model_dump(mode="json"))
        return
    title = _("What labels change of the scores")
    say(f"# {title}\n" if markdown else title)
    for line in circumstances(effect):
        if markdown:
            say(f"- {line}")
        else:
            prose(line)
    say("")
    print_sheets(effect_sheets(effect, introduced=True), markdown=markdown)
    if not effect.settled:
        note(_("Label verdicts in the app (`cuecard`), then look here again."))
