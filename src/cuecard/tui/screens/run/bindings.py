"""The keys of the Run screen and of its two panes."""

from __future__ import annotations

from collections.abc import Iterable

from textual.screen import Screen
from textual.widget import Widget

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys

Keys = tuple[bool | None, ...]
"""Which actions can be taken."""


def refresh_keys(node: Widget | Screen[None], actions: Iterable[str], before: Keys) -> Keys:
    """Have the footer drawn anew if other actions can be taken than `before`: that costs as much as a page of a
    list, so it is not done for every key or event of a run.
    """
    now = tuple(node.check_action(action, ()) for action in actions)
    if now != before:
        node.refresh_bindings()
    return now


SCREEN_KEYS = keys(
    Key("run.back", "escape", "back", N_("Back"), N_("Take a filter off, or go back; the run goes on")),
    Key("run.trials", "t", "show('trials')", N_("Trials"), N_("The trials of the grid")),
    Key("run.scores", "s", "show('scores')", N_("Scores"), N_("Scores of agents with intervals")),
    Key("run.pause", "space", "pause", N_("Pause"), N_("Give the calls under way ten seconds, then wait to be resumed"), shown_as="space"),
    Key("run.resume", "r", "resume", N_("Resume"), N_("Play the open trials on, each from its last event")),
    Key("run.cancel", "c", "cancel", N_("Stop"), N_("Stop here; open trials can be resumed where they stand")),
    Key("run.compare", "x", "compare", N_("Compare"), N_("Agents of this run on the same tasks")),
    Key("run.errors", "e", "errors", N_("Errors"), N_("What went wrong, and how often")),
    Key("run.plots", "g", "plots", N_("Plots"), N_("Scores, costs and curves drawn")),
    Key("run.report", "y", "report", N_("Report"), N_("Write all of it to one file, to be sent")),
    Key("run.budget", "b", "budget", N_("Budget"), N_("What the run may cost, also while it goes on"), show=False),
    Key("run.replay", "p", "replay", N_("Re-play"), N_("Decide the trial's cues myself, turn by turn, before I am told"), show=False),
    Key("run.fidelity", "f", "fidelity", N_("Fidelity"), N_("The user part of this run held against people"), show=False),
)  # fmt: skip
TRIALS_KEYS = keys(
    Key("run_trials.open", "enter", "open", N_("Open trial"), N_("Read the trial")),
    Key("run_trials.kind", "v", "kind", N_("Which"), N_("All trials, or the failed, not judged, open ones")),
    Key("run_trials.order", "o", "order", N_("Order"), N_("As played, failed first, by agent, task or score"), show=False),
    Key("run_trials.find", "slash", "find", N_("Find"), N_("Trials with these words in task, agent or error"), shown_as="/", show=False),
    Key("run_trials.again", "a", "again", N_("Play again"), N_("Play the failed trials of this list again"), show=False),
)  # fmt: skip
SCORES_KEYS = keys(
    Key("run_scores.open", "enter", "open", N_("Trials"), N_("The trials behind this figure")),
    Key("run_scores.next", "n", "step(1)", N_("Next"), N_("The next family, or the overview")),
    Key("run_scores.before", "N", "step(-1)", N_("Before"), N_("The table before"), show=False),
    Key("run_scores.order", "o", "order", N_("Sort"), N_("By the column under the cursor; again: the other way; a third time: as it was")),
    Key("run_scores.by", "d", "by", N_("Group"), N_("What a line is: agents, languages, difficulty…"), show=False),
    Key("run_scores.filter", "slash", "narrow", N_("Filter"), N_("Which trials count"), shown_as="/", show=False),
    Key("run_scores.across", "v", "across", N_("Across"), N_("Put agents, languages… side by side for the figure under the cursor"), show=False),
    Key("run_scores.measure", "m", "measure", N_("Measures"), N_("The main ones, all of them, or one"), show=False),
)  # fmt: skip
