"""Where a persona stands in its stages. The dialogue alone counts them, never a model."""

from __future__ import annotations

from cuecard.core.parts import Dialogue
from cuecard.core.tasks import Persona


def next_stage(persona: Persona, dialogue: Dialogue) -> int | None:
    """The first stage, from 1, that is not disclosed yet."""
    disclosed = set(dialogue.stages_disclosed)
    numbers = range(1, len(persona.stages) + 1)
    return next((number for number in numbers if number not in disclosed), None)
