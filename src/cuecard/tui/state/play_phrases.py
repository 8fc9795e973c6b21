"""What there is to say when the cue is not met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuecard.core.parts import Message
from cuecard.core.users.phrasebook import Phrase, phrase, pushes
from cuecard.tui.state.play import PlayState
from cuecard.tui.state.play_choices import SAYS

Source = Literal["card", "phrase", "before"]
_OF_STEPS: tuple[Phrase, ...] = ("nothing_yet", "no_wish", "wrong", "go_on")
_EARLIER = 8


@dataclass(frozen=True)
class Choice:
    """`source`: the card, the phrasebook, or what this person said before."""

    source: Source
    text: str


def choices_of(state: PlayState) -> list[Choice]:
    """The card's own words first, then phrases in the task's language, then what the person said before
    without giving a line; each once.
    """
    language = state.task.language
    card = state.stage.not_met if state.stage else ""
    phrases: tuple[str, ...] = pushes(language)
    if state.chain:
        fits = (SAYS[state.reading],) if state.reading and state.reading in SAYS else ()
        phrases = tuple(phrase(language, name) for name in (*fits, *_OF_STEPS))
    before = [m.text for m in reversed(state.dialogue.of("user")) if _gave_nothing(m)][:_EARLIER]
    found: dict[str, Source] = {}
    sources: tuple[tuple[Source, tuple[str, ...]], ...] = (
        ("card", (card,)),
        ("phrase", phrases),
        ("before", tuple(before)),
    )
    for source, texts in sources:
        for text in texts:
            if text.strip():
                found.setdefault(text.strip(), source)
    return [Choice(source, text) for text, source in found.items()]


def _gave_nothing(message: Message) -> bool:
    return message.turn > 0 and message.stage is None and (message.cue_met is not True)
