"""The keys of Play. They must work while somebody types, in every terminal: control keys and F1."""

from __future__ import annotations

from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys

PLAY_KEYS = keys(
    Key(
        "play.line",
        "ctrl+l",
        "insert('line')",
        N_("Line"),
        N_("Insert the card's line or clue"),
        shown_as="^l",
    ),
    Key(
        "play.push",
        "ctrl+n",
        "insert('push')",
        N_("Push"),
        N_("Insert what to say while the cue is not met"),
        shown_as="^n",
    ),
    Key(
        "play.never_mind",
        "ctrl+d",
        "insert('never_mind')",
        N_("Don't care"),
        N_("Insert that it does not matter to you"),
        shown_as="^d",
        priority=True,
    ),
    Key(
        "play.mark",
        "ctrl+t",
        "mark",
        N_("Mark"),
        N_("Cue met or not; for checkpoints, how you read the turn"),
        shown_as="^t",
    ),
    Key("play.end", "ctrl+g", "end", N_("End"), N_("End the dialogue"), shown_as="^g"),
    Key("play.pause", "escape", "pause", N_("Pause"), N_("Leave and come back later")),
    Key(
        "play.calls",
        "ctrl+o",
        "calls",
        N_("Calls"),
        N_("Open the newest tool calls"),
        show=False,
        shown_as="^o",
    ),
    Key(
        "play.persona",
        "ctrl+r",
        "persona",
        N_("Who I am"),
        N_("Show or hide the persona's identity"),
        show=False,
        shown_as="^r",
    ),
    Key(
        "play.up",
        "pageup",
        "scroll_dialogue(-1)",
        N_("Back"),
        N_("Scroll the dialogue"),
        show=False,
        priority=True,
    ),
    Key(
        "play.down",
        "pagedown",
        "scroll_dialogue(1)",
        N_("On"),
        N_("Scroll the dialogue"),
        show=False,
        priority=True,
    ),
    Key("play.help", "f1", "app.explain", N_("Help"), N_("Keys of this screen"), shown_as="F1"),
)
