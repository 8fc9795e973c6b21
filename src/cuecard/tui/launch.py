"""From the command line to the first frame, importing as little as possible on the way."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from cuecard.core.i18n import detect_language, set_language
from cuecard.store.locate import workspace_url
from cuecard.tui.app import RESTART, CuecardApp
from cuecard.tui.prefs import Preferences
from cuecard.tui.services import Services


def launch(db: str | None = None, person: str | None = None, config: Path | None = None) -> int:
    """Open the app and return the exit code. A change of language starts it anew."""
    # Collecting while modules load finds nothing and costs a tenth of the start; the app resumes it.
    gc.disable()
    # Threads that lint, save and play give way to the screen five times sooner than by default.
    sys.setswitchinterval(0.001)
    url = workspace_url(db)
    given = os.environ.get("CUECARD_LANG")
    result: str | None = RESTART
    while result == RESTART:
        preferences = Preferences.load()
        set_language(detect_language(given or preferences.language))
        services = Services(url, config)
        known = preferences.people.get(services.url, "")
        name = person or os.environ.get("CUECARD_USER") or known
        app = CuecardApp(services, name, preferences)
        result = app.run()
        if app.return_code:
            return app.return_code
        person = app.person or person
        given = None  # From now on the person's own choice counts.
    return 0
