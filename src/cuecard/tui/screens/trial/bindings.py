"""The keys of the Trial screen."""

from __future__ import annotations

from textual.binding import Binding

from cuecard.core.i18n import N_, NP_
from cuecard.tui.actions import Key, keys

# In the order in which the footer shows them.
TRIAL_KEYS = keys(
    Key("trial.unstep", "escape", "leave_steps", N_("Leave stepping"), N_("Show the whole trial again")),
    Key("trial.back", "escape", "app.pop_screen", N_("Back"), N_("Back to where I came from")),
    Key("trial.uncover", "x", "uncover", N_("Show all"), N_("Show what was decided, though I have not labelled it")),
    Key("trial.return", "backspace", "return", NP_("to where one was", "Return"), N_("Back to where I was before the jump"), shown_as="⌫"),
    Key("trial.filter", "f", "filter", N_("Filter"), N_("Gold and verdicts: all, or only missed, covered, extra or not judged ones")),
    Key("trial.group", "x", "group", N_("Group"), N_("Gold by stage or by relation")),
    Key("trial.other_judge", "w", "other_judge", N_("Other judge"), N_("Show what another judge decided")),
    Key("trial.untake", "delete", "untake", N_("Delete note"), N_("Take my note back"), shown_as="del"),
    Key("trial.step", "y", "step_mode", N_("Step"), N_("Go through the trial event by event, like a replay")),
    Key("trial.on", "right", "step(1)", N_("Event on"), N_("One event further"), shown_as="→", priority=True),
    Key("trial.before", "left", "step(-1)", N_("Event back"), N_("One event back"), shown_as="←", priority=True),
    Key("trial.said_on", "shift+right,greater_than_sign,full_stop", "step_said(1)", N_("Words on"), N_("To the next words that somebody says"), shown_as=".", priority=True),
    Key("trial.said_before", "shift+left,less_than_sign,comma", "step_said(-1)", N_("Words back"), N_("To the words before"), shown_as=",", priority=True),
    Key("trial.step_first", "home", "step_to(0)", N_("Start"), N_("To the first event"), show=False, priority=True),
    Key("trial.step_last", "end", "step_to(-1)", N_("End"), N_("To the last event"), show=False, priority=True),
    Key("trial.verdicts_here", "i", "verdicts_here", N_("Verdicts here"), N_("The verdicts whose items this turn names")),
    Key("trial.bookmark", "k", "bookmark", N_("Bookmark"), N_("Set a bookmark here, or take it back")),
    Key("trial.comment", "e", "comment", N_("Comment"), N_("Write a comment on this place of the trial")),
    Key("trial.tell", "a", "tell", N_("Tell authors"), N_("Turn what is under the cursor into a comment on the task")),
    Key("trial.next_note", "right_square_bracket", "walk_notes(1)", N_("Next note"), N_("To the next place with a bookmark or comment"), shown_as="]", show=False),
    Key("trial.note_before", "left_square_bracket", "walk_notes(-1)", N_("Note before"), N_("To the place with a bookmark or comment before"), shown_as="[", show=False),
    Key("trial.transcript", "t", "show('')", N_("Transcript"), N_("Read the dialogue"), show=False),
    Key("trial.stages", "s", "show('stages')", N_("Stages"), N_("Which stage or step came when, and why; Enter goes to its turn"), show=False),
    Key("trial.gold", "g", "show('gold')", N_("Gold"), N_("What was handed in beside the gold: covered, missed, extra"), show=False),
    Key("trial.verdicts", "v", "show('verdicts')", N_("Verdicts"), N_("What the judge decided on each gold item, and why"), show=False),
    Key("trial.hits", "h", "show('hits')", N_("Hits"), N_("What was asked of the world, and which facts that hit"), show=False),
    Key("trial.context", "c", "show('context')", N_("Context"), N_("How much the model read with each call, and compactions"), show=False),
    Key("trial.notes", "n", "show('notes')", N_("Notes"), N_("Bookmarks and comments on this trial, everybody's"), show=False),
    Key("trial.measures", "m", "show('measures')", N_("Measures"), N_("The trial's numbers"), show=False),
    Key("trial.judge", "j", "judge", N_("Judge"), N_("Have this trial judged (again)"), show=False),
    Key("trial.sources", "p", "sources", N_("Pages"), N_("The pages that the agent found and visited")),
    Key("trial.replay", "d", "replay", N_("Re-play"), N_("Decide the user part's cues myself, turn by turn"), show=False),
    Key("trial.resume", "r", "resume", N_("Play on"), N_("Go on playing where this was paused")),
)  # fmt: skip

ACTIONS = frozenset(
    binding.action.partition("(")[0] for binding in TRIAL_KEYS if isinstance(binding, Binding)
) - {"app.pop_screen", "show"}
"""What can be done once the trial is read."""
