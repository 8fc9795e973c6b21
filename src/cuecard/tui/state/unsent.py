"""What was typed at play and not sent yet, kept on disk so that neither a pause nor a crash loses it.

One small file per session in the user's own state folder: it is nobody else's business, and no part of the
log until it is sent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

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
    if said and said.text == unsent.text.strip():
        # Sent, and then killed before the file was removed; or only looked up again.
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
        name = hashlib.sha256(f"{url} {place}".encode("utf-8", "replace")).hexdigest()[:24]
        self._name = f"{name}.json"

    def load(self) -> Unsent | None:
        try:
            data: Any = json.loads(self._path().read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(data, dict):
            return None
        values = cast(dict[str, Any], data)
        names = ("text", "inserted", "mark", "reading", "draft", "evidence")
        texts = {name: str(values.get(name, "")) for name in names}
        turn = values.get("turn")
        return Unsent(turn=turn if isinstance(turn, int) else -1, **texts)

    def save(self, unsent: Unsent) -> None:
        """Replace the file in one move; nothing typed removes it."""
        if not (unsent.text or unsent.mark or unsent.reading or unsent.draft or unsent.evidence):
            self.discard()
            return
        with contextlib.suppress(OSError):
            path = self._path()
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}.tmp")
            content = json.dumps(asdict(unsent), ensure_ascii=True)
            partial.write_text(content, encoding="utf-8")
            partial.replace(path)

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        import platformdirs

        return Path(platformdirs.user_state_dir("cuecard", appauthor=False)) / "unsent" / self._name
