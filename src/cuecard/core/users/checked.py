"""Checking what a model would have a user say: form and length, then what must not be named."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cuecard.core.parts import Flag, FlagKind
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import storable
from cuecard.core.users.complaints import Complaint, complaint
from cuecard.core.users.leaks import Told, fold
from cuecard.core.users.plain_speech import (
    markdown_in,
    spoken,
    structures_in,
    without_emphasis,
    without_sentences,
)


@dataclass(frozen=True)
class Words:
    """`text`: what of a reply may be said, mended where it could be; "" if none of it may.
    `complaints`: why the model should be asked again; `flags`: what to record if that was no help.
    """

    text: str
    complaints: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    def blamed(
        self,
        language: TaskLanguage,
        name: Complaint,
        kind: FlagKind,
        found: tuple[str, ...] = (),
        *,
        text: str = "",
    ) -> Words:
        """These words with one more complaint, and `text` in place of theirs."""
        why = complaint(language, name, found)
        flag = Flag(kind=kind, found=", ".join(found))
        return replace(
            self,
            text=text,
            complaints=(*self.complaints, why),
            flags=(*self.flags, flag),
        )


def well_formed(reply: str, limit: int, told: Told, own: str, language: TaskLanguage) -> Words:
    """The words of a reply as a person would say them, of at most `limit` characters.

    Emphasis is dropped without ado. Text that is laid out, and requests for triples, tables and the
    like, are complained of and mended. `own`, the task's words for this moment, may be as they are;
    so may words for such forms that stand in `told`.
    """
    if len(reply) > limit:
        return Words("").blamed(language, "long", FlagKind.UNUSABLE)
    text = storable(reply).strip()
    if own and own in text:
        before, _own, after = text.partition(own)
        text = f"{without_emphasis(before)}{own}{without_emphasis(after)}"
    else:
        text = without_emphasis(text)
    if not any(char.isalnum() for char in text):
        return Words("").blamed(language, "empty", FlagKind.UNUSABLE)
    words = Words(text)
    if laid_out := _laid_out(text, own):
        mended = spoken(text)
        mended = "" if _laid_out(mended, own) else mended
        words = words.blamed(language, "markdown", FlagKind.FORMAT, (laid_out,), text=mended)
    wanted = tuple(word for word in structures_in(words.text) if not told.has(fold(word)))
    if wanted:
        mended = without_sentences(words.text, wanted)
        words = words.blamed(language, "structure", FlagKind.FORMAT, wanted, text=mended)
    return words


def _laid_out(text: str, own: str) -> str:
    return markdown_in(text.replace(own, " ") if own else text)
