"""Fields that several kinds of gold have."""

from __future__ import annotations

from cuecard.core.i18n import N_
from cuecard.tui.screens.task.specs import FieldSpec

ALIASES = FieldSpec(("aliases",), N_("Aliases"), "lines", N_("Other ways to say it, one a line"))
SOURCES = FieldSpec(("sources",), N_("Sources"), "lines", N_("Web addresses, one a line"))
