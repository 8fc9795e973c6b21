"""The ways from lists of verdicts into the label screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuecard.store.label_records import LabelSet, RunLabels, VerdictLine
    from cuecard.tui.screens.label import LabelScreen


def over_run(run: RunLabels) -> LabelScreen:
    """Label what I have not labelled of a run."""
    from cuecard.tui.screens.label import LabelScreen

    return LabelScreen(run.run_id, run.name)


def over_set(label_set: LabelSet) -> LabelScreen:
    """Label what waits for me in a set."""
    from cuecard.tui.screens.label import LabelScreen

    return LabelScreen(None, label_set.name, set_id=label_set.id)


def over_item(line: VerdictLine) -> LabelScreen:
    """Label one item, again if I did before."""
    from cuecard.annotate.labelling import Target
    from cuecard.tui.screens.label import LabelScreen

    target = Target(trial_id=line.trial_id, item=line.item, verdict_id=line.verdict_id)
    return LabelScreen(line.run_id, line.task_id, targets=(target,))
