"""What was typed at play and not sent yet, kept on disk so that neither a pause nor a crash loses it.

One small file per session in the user's own state folder: it is nobody else's business, and no part of the
log until it is sent.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from cuecard.tui.state.kept_json import KeptJson
from cuecard.tui.state.play import Mark, PlayState, Reading
from cuecard.tui.state.play_evidence import evidence_of

_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True)
class Unsent:
    """`turn`: how many messages the dialogue had; marks are about its last one. `inserted`: the line
    that a key put in. `draft`: what waits while an earlier message stands in the input. `evidence`: from
    where to where in the agent's last reply, as `12-40`.
    """

    turn: int
    text: str
    inserted: str = ""
    mark: str = ""
    reading: str = ""
    draft: str = ""
    evidence: str = ""


def unsent_of(state: PlayState, text: str, draft: str = "") -> Unsent:
    evidence = state.evidence
    return Unsent(
        turn=len(state.dialogue.messages),
        text=text,
        inserted=state.inserted,
        mark=state.mark or "",
        reading=state.reading or "",
        draft=draft,
        evidence=f"{evidence.start}-{evidence.end}" if evidence else "",
    )


def restore(state: PlayState, unsent: Unsent | None) -> str:
    """Put what was kept back into `state` and return the text; "" if there is nothing."""
    if unsent is None:
        return ""
    said = state.dialogue.last("user")
    spoken_since = any(m.role == "user" for m in state.dialogue.messages[max(unsent.turn, 0) :])
    text = unsent.text.strip()
    if said and (said.text == text or (spoken_since and said.text.startswith(text))):
        # Sent, and then killed before the file knew; or only looked up again.
        return unsent.draft
    state.inserted = unsent.inserted
    if unsent.turn != len(state.dialogue.messages):
        return unsent.text
    state.mark = next((mark for mark in Mark if mark.value == unsent.mark), None)
    state.reading = next((read for read in Reading if read.value == unsent.reading), None)
    if span := _SPAN.fullmatch(unsent.evidence):
        state.evidence = evidence_of(state.last_reply, int(span[1]), int(span[2]))
    return unsent.text


class UnsentFile:
    """The file of one dialogue (`place`: a trial, or a task that nobody has opened it on yet) of one
    workspace. A machine without a writable home just forgets.
    """

    def __init__(self, url: str, place: str) -> None:
        self._kept = KeptJson(url, place)

    def load(self) -> Unsent | None:
        values = self._kept.load()
        if not values:
            return None
        names = ("text", "inserted", "mark", "reading", "draft", "evidence")
        texts = {name: str(values.get(name, "")) for name in names}
        turn = values.get("turn")
        return Unsent(turn=turn if isinstance(turn, int) else -1, **texts)

    def save(self, unsent: Unsent) -> None:
        """Replace the file in one move; nothing typed removes it."""
        given = unsent.text or unsent.mark or unsent.reading or unsent.draft or unsent.evidence
        self._kept.save(asdict(unsent) if given else {})

    def discard(self) -> None:
        self._kept.discard()
