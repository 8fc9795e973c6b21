"""The keys of the agent's window. They must work while somebody types: control keys and F keys."""

from __future__ import annotations

from cuecard.core.i18n import N_, NP_
from cuecard.tui.actions import Key, keys

WIZARD_KEYS = keys(
    Key("wizard.hand_in", "ctrl+s", "hand_in", N_("Hand in"), N_("Hand in what you found; the session is over then"), priority=True, shown_as="^s"),
    Key("wizard.search", "ctrl+f", "look_up", N_("Search"), N_("To the search line"), priority=True, shown_as="^f"),
    Key("wizard.reply", "ctrl+r", "reply", N_("Reply"), N_("To your reply"), priority=True, shown_as="^r"),
    Key("wizard.tool", "ctrl+t", "next_tool", N_("Tool"), N_("Another of the world's tools"), priority=True, shown_as="^t"),
    Key("wizard.notes", "ctrl+n", "notes", N_("Notes"), N_("Your own notes; nobody else sees them"), priority=True, shown_as="^n"),
    Key("wizard.from_notes", "f3", "from_notes", N_("Notes in"), N_("Put your notes into what you hand in"), priority=True, shown_as="F3"),
    Key("wizard.calls", "ctrl+o", "calls", N_("Calls"), N_("Open or fold the newest searches"), show=False, priority=True, shown_as="^o"),
    Key("wizard.up", "pageup", "scroll_dialogue(-1)", N_("Back"), N_("Scroll the dialogue"), show=False, priority=True),
    Key("wizard.down", "pagedown", "scroll_dialogue(1)", N_("On"), N_("Scroll the dialogue"), show=False, priority=True),
    Key("wizard.brief", "f2", "brief", NP_("what is asked", "Brief"), N_("What is asked of you, and what a model is told"), priority=True, shown_as="F2"),
    Key("wizard.leave", "escape", "leave", N_("Leave"), N_("Leave and come back later; all that you typed stays")),
    Key("wizard.help", "f1", "app.explain", N_("Help"), N_("Keys of this screen"), shown_as="F1"),
)  # fmt: skip
