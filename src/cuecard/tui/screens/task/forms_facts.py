"""The form of a closed world's answer."""

from __future__ import annotations

from cuecard.core.i18n import N_
from cuecard.tui.screens.task.specs import FieldSpec

ANSWER = (
    FieldSpec(("answer",), N_("Answer")),
    FieldSpec(("answer_aliases",), N_("Aliases"), "lines", N_("Other ways to say it, one a line")),
    FieldSpec(
        ("derivation",), N_("Derivation"), "text", N_("How it follows; players never see it")
    ),
)
