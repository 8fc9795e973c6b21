"""What a task may be called. Its id is typed on command lines and names files, in every system."""

from __future__ import annotations

import re

from cuecard.core.i18n import _

ID_PATTERN = r"^[\w.\-]{1,120}$"
"""What every id is; tasks that came before the finer rules keep theirs."""
DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10)))
)
"""What Windows keeps for devices, whatever the suffix."""

_ID = re.compile(r"[\w.\-]{1,120}")


def id_problem(task_id: str) -> str:
    """Why no new task can be called so, translated; "" if one can."""
    if _ID.fullmatch(task_id) is None:
        return _("may hold letters, digits, '.', '_' and '-' only, 120 at most")
    if task_id.startswith("-"):
        return _("must not begin with '-', which commands take for an option")
    if not task_id.strip("."):
        return _("must not be dots alone, which name folders")
    if task_id.casefold().partition(".")[0] in DEVICES:
        return _("is a name that Windows keeps for a device")
    return ""
