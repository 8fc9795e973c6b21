"""Starts the app, with as few imports as possible before the first frame."""

import gc
import os
import sys
from pathlib import Path
from typing import TextIO

from cuecard.core.i18n import _, detect_language, set_language
from cuecard.core.system import ending_in_order
from cuecard.store import workspace_url
from cuecard.tui.app import OPEN, RESTART, CuecardApp
from cuecard.tui.preferences import ANSI_DARK, ANSI_LIGHT, Preferences, served
from cuecard.tui.services import Services

EXIT_USAGE = 2


def launch(db: str | None = None, person: str | None = None, config: Path | None = None) -> int:
    """Open the app and return the exit code. A change of language starts it anew, the tour on the example study. Without a
    terminal: wrong usage.
    """
    set_language(detect_language(os.environ.get("CUECARD_LANG")))
    if missing := _no_terminal():
        print(
            _(
                "cuecard: The app needs a terminal, and {stream} is none; `cuecard --help` lists what works without."
            ).format(stream=missing),
            file=sys.stderr,
        )
        return EXIT_USAGE
    # Collecting while modules load finds nothing and costs a tenth of the start; the app resumes it.
    gc.disable()
    # Threads that lint, save and play give way to the screen five times sooner than by default.
    sys.setswitchinterval(0.001)
    url = workspace_url(db)
    # Where one account serves many, its language is only what they begin with.
    given = None if served() else os.environ.get("CUECARD_LANG")
    result: str | None = RESTART
    touring = False
    while result is not None:
        if result.startswith(OPEN):
            url, touring = workspace_url(result.removeprefix(OPEN)), True
        preferences = Preferences.load()
        set_language(
            detect_language(given or preferences.language or os.environ.get("CUECARD_LANG"))
        )
        services = Services(url, config)
        known = preferences.people.get(services.url, "")
        name = served() or person or os.environ.get("CUECARD_USER") or known
        app = CuecardApp(services, name, preferences)
        if app.console.color_system == "standard":
            # Colours of other themes become the nearest of 16 there, and some of them the same.
            app.theme = (ANSI_DARK if app.current_theme.dark else ANSI_LIGHT).name
        if touring:
            app.call_later(app.begin_tour)
        with ending_in_order(app.end):
            result = app.run()
        if app.return_code or served():
            return app.return_code or 0
        person = app.person or person
        if result == RESTART:
            given = None  # From now on the person's own choice counts.
    return 0


def _no_terminal() -> str:
    """Which stream is no terminal, "" if all are, or if something other than a terminal shows the app."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return ""
    streams = (
        (_("its input"), sys.stdin),
        (_("its output"), sys.stdout),
        # What the app draws goes there.
        (_("standard error"), sys.stderr),
    )
    return next((name for name, stream in streams if not _is_terminal(stream)), "")


def _is_terminal(stream: TextIO | None) -> bool:
    """A stream that was closed is None."""
    return stream is not None and stream.isatty()
