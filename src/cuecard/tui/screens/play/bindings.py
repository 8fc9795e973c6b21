"""The keys of Play. They must work while somebody types, in every terminal: control and function keys."""

from __future__ import annotations

from textual.binding import Binding

from cuecard.core.i18n import N_, NP_
from cuecard.tui.actions import Key, keys

# In the order in which the footer shows them: what every turn needs comes first.
PLAY_KEYS = keys(
    Key("play.interrupt", "f8", "interrupt", N_("Interrupt"), N_("Stop the agent; what it has said by then stands"), shown_as="F8"),
    Key("play.retry", "f9", "retry", N_("Retry"), N_("Have the agent take its last turn again"), shown_as="F9"),
    Key("play.undo", "f10", "undo", N_("Take back"), N_("Take your last words back into the input"), shown_as="F10"),
    Key("play.mark", "ctrl+t", "mark", N_("Mark"), N_("Cue met or not; for checkpoints, how you read the turn"), shown_as="^t"),
    Key("play.line", "ctrl+l", "insert('line')", N_("Line"), N_("Insert the card's line or clue"), shown_as="^l"),
    Key("play.push", "ctrl+n", "insert('push')", N_("Push"), N_("Insert what to say while the cue is not met"), shown_as="^n"),
    Key("play.phrases", "f6", "phrases", N_("Phrases"), N_("Pick what to say while the cue is not met"), shown_as="F6", priority=True),
    Key("play.answers", "f4", "answers", N_("Questions"), N_("Answer the agent's questions one by one, in one message"), shown_as="F4"),
    Key("play.never_mind", "ctrl+d", "insert('never_mind')", N_("Don't care"), N_("Insert that it does not matter to you"), shown_as="^d", priority=True),
    Key("play.end", "ctrl+g", "end", NP_("verb", "End"), N_("End the dialogue"), shown_as="^g"),
    Key("play.pause", "escape", "pause", N_("Pause"), N_("Leave and come back later")),
    Key("play.note", "f7", "note", NP_("verb", "Note"), N_("Note a problem of the agent or of the task"), shown_as="F7", priority=True),
    Key("play.evidence", "f5", "evidence", N_("Evidence"), N_("Choose the words of the reply that your mark rests on"), shown_as="F5"),
    Key("play.figures", "f2", "figures", N_("Figures"), N_("Show or hide turns, time, tokens, cost and notes"), shown_as="F2"),
    Key("play.sources", "f3", "sources", N_("Sources"), N_("The pages that the agent found and opened"), shown_as="F3"),
    Key("play.calls", "ctrl+o", "calls", N_("Calls"), N_("Open the newest tool calls"), show=False, shown_as="^o"),
    Key("play.persona", "ctrl+r", "persona", N_("Who I am"), N_("Show or hide the persona's identity"), show=False, shown_as="^r"),
    Key("play.up", "pageup", "scroll_page(-1)", N_("Back"), N_("Scroll the dialogue, or the card when you are in it"), show=False, priority=True),
    Key("play.down", "pagedown", "scroll_page(1)", N_("On"), N_("Scroll the dialogue, or the card when you are in it"), show=False, priority=True),
    Key("play.help", "f1", "app.explain", N_("Help"), N_("Keys of this screen"), shown_as="F1"),
)  # fmt: skip

ORDER = {
    binding.id: place
    for place, binding in enumerate(b for b in PLAY_KEYS if isinstance(b, Binding))
    if binding.id
}
"""The places of these keys in the footer."""
TURN_KEYS = frozenset({"play.interrupt", "play.retry", "play.undo"})
"""First in the footer while the agent is at work or was stopped; else of no haste."""
ONLY_WIDE = frozenset({"play.never_mind", "play.note", "play.figures", "play.sources"})
ONLY_BROAD = frozenset({"play.evidence", "play.sources"})
"""Keys for which the footer of a narrower screen has no room; the help page lists them."""
