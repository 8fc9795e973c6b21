"""What is wrong with the words of a user part, whoever plays it: the same tests for people, before they
send, and for simulators, afterwards. Pure functions of the task, the dialogue and the reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from cuecard.core.parts import CheckpointStatus, Dialogue, UserReply
from cuecard.core.phrases import without_terms
from cuecard.core.tasks import CheckpointChain, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise, one_line
from cuecard.core.users.coaching import coached_in
from cuecard.core.users.cues import is_covered
from cuecard.core.users.disclosing import ChainLines, Disclosed, PersonaLines
from cuecard.core.users.leaks import Secrets, chain_things, fold, gold_things, told_in
from cuecard.core.users.moves import ADVANCING
from cuecard.core.users.plain_speech import markdown_in, structures_in
from cuecard.core.users.unanswered import is_left_open, questions_put

_READ, _SHOWN = 20_000, 80


class FaultKind(StrEnum):
    """`leak`: names gold that nobody has said. `forbidden`: says what the user must never say. `early`: says
    the line of the next stage though the speaker decided that its cue is not met. `ahead`: gives away a
    line, clue or question whose turn has not come. `skipped`: discloses another stage than
    the next. `doubled`: says a line again, or two at once. `missing_line`: counts as a stage, or as the
    release of a clue, with words that can hardly mean its line. `markdown`, `structure`: laid out, or asks for triples, tables and the like.
    `coached`: tells the agent what to ask. `ignored`: leaves what the agent asked without any answer.
    """

    LEAK = "leak"
    FORBIDDEN = "forbidden"
    EARLY = "early"
    AHEAD = "ahead"
    SKIPPED = "skipped"
    DOUBLED = "doubled"
    MISSING_LINE = "missing_line"
    MARKDOWN = "markdown"
    STRUCTURE = "structure"
    COACHED = "coached"
    IGNORED = "ignored"


class Fault(Frozen):
    """`found`: the words that show it, shortened."""

    kind: FaultKind
    found: str = ""


class FaultFinder:
    """Finds what is wrong with replies in dialogues of one task; see `faults_in`."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._lines: PersonaLines | ChainLines | None = None
        things = gold_things(task.gold)
        if isinstance(task.gold, CheckpointChain):
            self._lines = ChainLines(task)
            things = chain_things(task.gold)
        elif task.persona is not None:
            self._lines = PersonaLines(task, task.persona)
        self._secrets = Secrets(things)
        staged = task.sub_queries if task.family == "graph" else ()
        self._queries = frozenset(normalise(query) for query in staged)

    def faults(self, before: Dialogue, reply: UserReply) -> tuple[Fault, ...]:
        """As `faults_in`."""
        text = reply.text[:_READ]
        decided = reply.cue_met is not None or reply.unsure
        if not decided and normalise(text) in self._queries:
            # A benchmark's own sub-queries, said one after the other whatever was asked.
            return ()
        disclosed = self._lines.disclosed(text, before, reply) if self._lines else Disclosed()
        forbidden = disclosed.forbidden
        faults = [
            _fault(FaultKind.LEAK, self._leaked(text, before, disclosed)),
            _fault(FaultKind.FORBIDDEN, forbidden),
            _fault(FaultKind.EARLY, self._early(reply)),
            _fault(FaultKind.AHEAD, disclosed.ahead),
            _fault(FaultKind.SKIPPED, disclosed.skipped),
            _fault(FaultKind.DOUBLED, disclosed.doubled),
            _fault(FaultKind.MISSING_LINE, disclosed.missing),
            *self._form(text, before, disclosed),
        ]
        found = tuple(fault for fault in faults if fault is not None)
        if found or not text.strip():
            return found
        ignored = _fault(FaultKind.IGNORED, self._ignored(text, before, reply, disclosed))
        return (ignored,) if ignored else ()

    def _leaked(self, text: str, before: Dialogue, disclosed: Disclosed) -> tuple[str, ...]:
        # What belongs to a fault already told of is not told of twice.
        told = told_in(self.task, before, *disclosed.known)
        return self._secrets.named(without_terms(text, disclosed.forbidden), told)

    def _early(self, reply: UserReply) -> tuple[str, ...]:
        """The number and the title of the stage that is disclosed against the speaker's own decision."""
        if reply.cue_met is not False or reply.stage is None:
            return ()
        stages = self.task.stages
        known = 1 <= reply.stage <= len(stages)
        return (f"{reply.stage} · {stages[reply.stage - 1].title}" if known else str(reply.stage),)

    def _form(self, text: str, before: Dialogue, disclosed: Disclosed) -> list[Fault | None]:
        """How it is said, apart from what the task itself says for this moment."""
        for own in disclosed.own:
            text = text.replace(own, " ") if own else text
        wanted = structures_in(text)
        if wanted:
            told = told_in(self.task, before, *disclosed.known)
            wanted = tuple(word for word in wanted if not told.has(fold(word)))
        return [
            _fault(FaultKind.MARKDOWN, (markdown_in(text),)),
            _fault(FaultKind.STRUCTURE, wanted),
            _fault(FaultKind.COACHED, (coached_in(text),)),
        ]

    def _ignored(
        self, text: str, before: Dialogue, reply: UserReply, disclosed: Disclosed
    ) -> Sequence[str]:
        last = before.last("agent")
        taken_up = reply.status in ADVANCING or reply.status is CheckpointStatus.AMBIGUITY_DETECTED
        if last is None or reply.stage is not None or reply.done or taken_up:
            return ()
        asked = questions_put(last)
        # What a later line is going to say is rightly kept back.
        asked = [q for q in asked if not any(is_covered(q, stage) for stage in disclosed.coming)]
        return asked[:1] if asked and is_left_open(asked, text, disclosed.not_met) else []


_latest: list[FaultFinder] = []


def faults_in(task: Task, before: Dialogue, reply: UserReply) -> tuple[Fault, ...]:
    """What is wrong with `reply`, said after `before`, which ends with the agent's reply (or is empty: the
    opening). The worst first, each kind at most once, with all that it found.

    One error is one fault. A line whose turn has not come is `ahead`, but `doubled` if the reply also
    counts as a stage and says both lines whole; a stage other than the next is `skipped` or, if it was
    disclosed before, `doubled`, and nothing else; names that stand in what is found so are no further
    `leak`. `ignored` is only told of a reply with no other fault. A line in other words of which a person
    was asked and said that it still means the same (`meaning`) is not missing.

    Pure; reads no more than the first 20,000 characters of a reply, and raises nothing, whatever they hold.
    """
    finder = next((known for known in _latest if known.task is task), None)
    if finder is None:
        finder = FaultFinder(task)
        _latest[:] = [finder, *_latest[:7]]
    return finder.faults(before, reply)


def _fault(kind: FaultKind, found: Iterable[str]) -> Fault | None:
    """No fault where nothing was found."""
    words = tuple(dict.fromkeys(each for each in found if each))
    return Fault(kind=kind, found=one_line(", ".join(words), _SHOWN)) if words else None
