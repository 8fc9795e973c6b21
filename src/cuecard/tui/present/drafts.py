"""Unfinished input kept on disk: messages in play, labels, forms, tasks; and when it is written."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from cuecard.annotate.labelling.views import Draft, Target
from cuecard.annotate.sessions import missing
from cuecard.core.label_records import Label
from cuecard.core.system import keep, kept_path
from cuecard.core.tasks.base import FormQuestion
from cuecard.tui.present.journal import Journal
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Mark, Reading
from cuecard.tui.present.play_status import evidence_of


class KeptJson:
    """The file of one thing: `place` names it within the workspace at `url`. A
    machine without a writable home just forgets.
    """

    def __init__(self, url: str, place: str) -> None:
        self._url, self._place = url, place

    def load(self) -> dict[str, Any]:
        """What was kept; {} if nothing was, or nothing that can be read."""
        try:
            data: Any = json.loads(self._path().read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast(dict[str, Any], data) if isinstance(data, dict) else {}

    def save(self, data: Mapping[str, Any]) -> None:
        """Replace the file in one move; nothing to keep removes it."""
        if not data:
            self.discard()
            return
        with contextlib.suppress(OSError):
            keep(self._path(), json.dumps(dict(data), ensure_ascii=True))

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return kept_path("unsent", self._url, self._name)

    def _name(self, url: str) -> str:
        text = f"{url} {self._place}".encode("utf-8", "replace")
        return f"{hashlib.sha256(text).hexdigest()[:24]}.json"


_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True)
class UnsentMessage:
    """An unsent message. `turn`: how many messages the dialogue had; `inserted`: the line that a key inserted; `draft`:
    the message that waits while an earlier one is shown; `evidence`: a range in the agent's last reply, as `12-40`.
    """

    turn: int
    text: str
    inserted: str = ""
    mark: str = ""
    reading: str = ""
    draft: str = ""
    evidence: str = ""


def unsent_of(state: PlayState, text: str, draft: str = "") -> UnsentMessage:
    evidence = state.evidence
    return UnsentMessage(
        turn=len(state.dialogue.messages),
        text=text,
        inserted=state.inserted,
        mark=state.mark or "",
        reading=state.reading or "",
        draft=draft,
        evidence=f"{evidence.start}-{evidence.end}" if evidence else "",
    )


def restore(state: PlayState, unsent: UnsentMessage | None) -> str:
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

    def load(self) -> UnsentMessage | None:
        values = self._kept.load()
        if not values:
            return None
        names = ("text", "inserted", "mark", "reading", "draft", "evidence")
        texts = {name: str(values.get(name, "")) for name in names}
        turn = values.get("turn")
        return UnsentMessage(turn=turn if isinstance(turn, int) else -1, **texts)

    def save(self, unsent: UnsentMessage) -> None:
        """Replace the file in one move; nothing typed removes it."""
        given = unsent.text or unsent.mark or unsent.reading or unsent.draft or unsent.evidence
        self._kept.save(asdict(unsent) if given else {})

    def discard(self) -> None:
        self._kept.discard()


_WRONG = "gold_wrong"


class FileDrafts:
    """One small file for each item of `person` in the workspace at `url`. `journal`: where labels wait."""

    def __init__(self, url: str, person: str, journal: Journal | None = None) -> None:
        self._url, self._person, self._journal = url, person, journal

    def load(self, target: Target) -> Draft:
        kept = self._file(target).load()
        return Draft(comment=kept.text, gold_wrong=kept.mark == _WRONG) if kept else Draft()

    def save(self, target: Target, draft: Draft) -> None:
        mark = _WRONG if draft.gold_wrong else ""
        self._file(target).save(UnsentMessage(turn=0, text=draft.comment, mark=mark))

    def give(self, target: Target, label: Label) -> bool:
        if self._journal is None:
            return False
        given = label.model_dump(exclude={"verdict_id", "item_key", "created_at", "phase"})
        given |= {"item": target.item, "at": label.created_at}
        try:
            self._journal.add("label", "", given, label.created_at)
        except OSError:
            return False
        return True

    def _file(self, target: Target) -> UnsentFile:
        return UnsentFile(self._url, f"label/{self._person}/{target.trial_id}/{target.item.key}")


def answer_for_digit(question: FormQuestion, digit: int) -> int | str | None:
    """The answer that a digit gives: a number of the scale (0 is ten where the scale has no nought), or the option of that
    number from 1.
    """
    if question.kind == "scale":
        value = 10 if digit == 0 and question.lowest > 0 else digit
        return value if question.lowest <= value <= question.highest else None
    options = question.options if question.kind == "choice" else ()
    return options[digit - 1] if 1 <= digit <= len(options) else None


@dataclass
class FormState:
    """`answers` may be incomplete; what is kept of them is what `to_kept` gives."""

    questions: Sequence[FormQuestion] = ()
    answers: dict[str, int | str] = field(default_factory=dict[str, int | str])

    @classmethod
    def of(cls, questions: Sequence[FormQuestion], kept: Mapping[str, Any]) -> FormState:
        """As it was left. Answers that no longer fit these questions are passed over."""
        state = cls(questions)
        for question in questions:
            value = kept.get(question.key)
            if question.kind == "scale" and type(value) is int:
                if question.lowest <= value <= question.highest:
                    state.answers[question.key] = value
            elif isinstance(value, str) and (question.kind == "text" or value in question.options):
                state.answers[question.key] = value
        return state

    def to_kept(self) -> dict[str, int | str]:
        return {key: value for key, value in self.answers.items() if value != ""}

    @property
    def missing(self) -> tuple[FormQuestion, ...]:
        """The questions that must be answered yet."""
        return missing(self.questions, self.answers)

    def press(self, question: FormQuestion, digit: int) -> bool:
        """Answer by a digit. Whether it is an answer."""
        meant = answer_for_digit(question, digit)
        if meant is not None:
            self.answers[question.key] = meant
        return meant is not None

    def step(self, question: FormQuestion, by: int) -> None:
        """To the next (1) or the previous (-1) answer; the first step goes to the near end of the scale."""
        values = self.values(question)
        now = self.answers.get(question.key)
        if now in values:
            at = max(0, min(len(values) - 1, values.index(now) + by))
        else:
            at = 0 if by > 0 else len(values) - 1
        if values:
            self.answers[question.key] = values[at]

    @staticmethod
    def values(question: FormQuestion) -> list[int | str]:
        """The answers of a scale or choice, in order."""
        if question.kind == "scale":
            return list(range(question.lowest, question.highest + 1))
        return list(question.options)


QUIET = 0.3
PATIENCE = 0.7


class DraftState(StrEnum):
    """Whether what was typed is on disk."""

    CLEAN = "clean"
    WAITING = "waiting"
    WRITTEN = "written"
    FAILED = "failed"


class DraftKeeper:
    """Calls `save`, one call at a time and in order, `QUIET` seconds after the last `touch`, but at most `PATIENCE`
    seconds after the first unsaved change.

    `noticed` is called at every change of state, with the error if there was one.
    """

    def __init__(
        self,
        save: Callable[[], Awaitable[None]],
        noticed: Callable[[DraftState, BaseException | None], None],
        *,
        quiet: float = QUIET,
        patience: float = PATIENCE,
    ) -> None:
        self._save = save
        self._noticed = noticed
        self._quiet, self._patience = quiet, patience
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._dirty = False
        self._since = 0.0
        self.state = DraftState.CLEAN

    def touch(self) -> None:
        """Something changed. Call it on the running loop."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._dirty:
            self._dirty, self._since = True, now
        self._cancel_timer()
        due = min(now + self._quiet, self._since + self._patience)
        self._timer = loop.call_at(due, self._due)
        self._become(DraftState.WAITING)

    async def flush(self) -> None:
        """Write now what is not yet written, and wait for it. Raises what `save` raises."""
        self._cancel_timer()
        while self._dirty or self._running:
            await asyncio.shield(self._start())

    async def forget(self) -> None:
        """What is not yet written need not be written any more; waits for a write that runs."""
        self._cancel_timer()
        self._dirty = False
        if self._running:
            await asyncio.wait([self._start()])
        self._cancel_timer()
        self._dirty = False
        self._become(DraftState.CLEAN)

    @property
    def _running(self) -> bool:
        return self._writing is not None and not self._writing.done()

    def _due(self) -> None:
        self._timer = None
        if self._running:
            self._timer = asyncio.get_running_loop().call_later(self._quiet, self._due)
        elif self._dirty:
            self._start()

    def _start(self) -> asyncio.Task[None]:
        """The write that runs, or a new one; a waiter that is cancelled does not end it."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())
            # `noticed` has told of an error: nobody else need wait for the task.
            self._writing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._writing

    async def _write(self) -> None:
        self._dirty = False
        try:
            await self._save()
        except BaseException as error:
            self._dirty = True
            self._become(DraftState.FAILED, error)
            raise
        self._become(DraftState.WAITING if self._dirty else DraftState.WRITTEN)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _become(self, state: DraftState, error: BaseException | None = None) -> None:
        if state is not self.state or error is not None:
            self.state = state
            self._noticed(state, error)
