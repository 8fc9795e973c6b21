"""When and why the user disclosed what, and where in a trial an item was found or said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from cuecard.core.engine.events import AgentSpoke, Event, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus, Flag
from cuecard.core.engine.trial_log import is_search
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.checkpoints.score import ADVANCED, checkpoint_of
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.predictions import Prediction, answer_of, triples_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import CueKind, Stage, Task
from cuecard.core.text import contains_term, normalise, occurrences, one_line, questions, sentences
from cuecard.core.verdicts import Item, ItemKind

WORDS = 280
"""How many characters of the agent's words are kept."""


class CueEvidence(Frozen):
    """The agent's words behind a decision on a cue. `how`: a person selected them (`evidence`); they contain a term of
    the cue (`terms`); or it is unknown which ones counted, and they are the reply's beginning (`reply`). `seq`: the
    reply's event, None if there was none.
    """

    text: str = ""
    how: Literal["evidence", "terms", "reply", ""] = ""
    seq: int | None = None


class UnmetTurn(Frozen):
    """A user turn in which the stage's cue was found not met."""

    turn: int
    seq: int
    reason: str


class StageSeen(Frozen):
    """A stage of a trial, `number` from 1. `turn` and `seq`: of the user's words that disclosed it, None if it was not;
    `reason`: given by the simulator or person. `cue_met` is also None if the cue was left open (`unsure`) or not
    considered.
    """

    number: int
    turn: int | None = None
    seq: int | None = None
    cue_met: bool | None = None
    unsure: bool = False
    edited: bool = False
    reason: str = ""
    flags: tuple[Flag, ...] = ()
    met: CueEvidence = CueEvidence()
    pushes: tuple[UnmetTurn, ...] = ()


class Reading(Frozen):
    """The status given to an agent's turn at a checkpoint, in the user's turn `turn`. `searches`: how many the agent
    made in the turn.
    """

    turn: int
    seq: int
    status: CheckpointStatus
    reason: str
    met: CueEvidence
    searches: int


class StepSeen(Frozen):
    """A checkpoint of a trial, `index` from 0, with its statuses in order. `clue_seq`: the user's words that gave the
    clue; `advanced_seq`: those that let the agent go on; None if there are none.
    """

    index: int
    readings: tuple[Reading, ...] = ()
    clue_seq: int | None = None
    advanced_seq: int | None = None

    def until(self, seq: int) -> StepSeen:
        """The checkpoint as it stood when event `seq` had happened."""
        return StepSeen(
            index=self.index,
            readings=tuple(r for r in self.readings if r.seq <= seq),
            clue_seq=_by_then(self.clue_seq, seq),
            advanced_seq=_by_then(self.advanced_seq, seq),
        )


def stages_seen(stages: Sequence[Stage], events: Sequence[Event]) -> tuple[StageSeen, ...]:
    """Every stage in order. `pushes`: turns before it in which its cue was not met."""
    spoken = [(e.seq, e.body) for e in events if isinstance(e.body, UserSpoke)]
    replies = _replies(events)
    found: list[StageSeen] = []
    since = 0
    for number, stage in enumerate(stages, start=1):
        at = next((i for i, (_s, said) in enumerate(spoken) if said.reply.stage == number), None)
        reached = not found or found[-1].turn is not None
        waited = spoken[since : len(spoken) if at is None else at] if reached else []
        pushes = tuple(
            UnmetTurn(turn=said.turn, seq=seq, reason=said.reply.reason)
            for seq, said in waited
            if said.reply.cue_met is False
        )
        if at is None:
            found.append(StageSeen(number=number, pushes=pushes))
            continue
        seq, said = spoken[at]
        reply = said.reply
        found.append(
            StageSeen(
                number=number,
                turn=said.turn,
                seq=seq,
                cue_met=reply.cue_met,
                unsure=reply.unsure,
                edited=reply.edited,
                reason=reply.reason,
                flags=reply.flags,
                met=_met(said, stage, replies),
                pushes=pushes,
            )
        )
        since = at + 1
    return tuple(found)


def stage_until(stage: StageSeen, seq: int) -> StageSeen:
    """The stage as it stood when event `seq` had happened."""
    pushes = tuple(push for push in stage.pushes if push.seq <= seq)
    if stage.seq is None or stage.seq > seq:
        return StageSeen(number=stage.number, pushes=pushes)
    return stage


def steps_seen(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepSeen, ...]:
    """Every checkpoint in order, with statuses as scores count them."""
    replies = _replies(events)
    searches: dict[int, int] = defaultdict(int)
    readings: dict[int, list[Reading]] = defaultdict(list)
    for event in events:
        body = event.body
        if isinstance(body, ToolAnswered) and body.part != "user" and is_search(body):
            searches[body.turn] += 1
        if not isinstance(body, UserSpoke) or body.turn == 0 or body.reply.status is None:
            continue
        index = checkpoint_of(body, len(chain.steps))
        if index is not None:
            readings[index].append(
                Reading(
                    turn=body.turn,
                    seq=event.seq,
                    status=body.reply.status,
                    reason=body.reply.reason,
                    met=_met(body, None, replies),
                    searches=searches.get(body.turn - 1, 0),
                )
            )
    return tuple(_step(chain, index, readings[index]) for index in range(len(chain.steps)))


def _step(chain: CheckpointChain, index: int, readings: Sequence[Reading]) -> StepSeen:
    ambiguous = chain.steps[index].ambiguity is not None
    right = CheckpointStatus.AMBIGUITY_DETECTED
    clue = (r.seq for r in readings if ambiguous and r.status is right)
    advanced = (r.seq for r in readings if r.status in ADVANCED)
    return StepSeen(
        index=index,
        readings=tuple(readings),
        clue_seq=next(clue, None),
        advanced_seq=next(advanced, None),
    )


def _replies(events: Sequence[Event]) -> dict[int, tuple[int, str]]:
    """The agent's replies by turn, with their events' numbers."""
    return {
        e.body.turn: (e.seq, e.body.reply.text) for e in events if isinstance(e.body, AgentSpoke)
    }


def _met(said: UserSpoke, stage: Stage | None, replies: dict[int, tuple[int, str]]) -> CueEvidence:
    if said.turn - 1 not in replies:
        return CueEvidence()
    seq, text = replies[said.turn - 1]
    evidence = said.reply.evidence
    if evidence:
        return CueEvidence(text=one_line(evidence.text, WORDS), how="evidence", seq=seq)
    if stage and said.reply.cue_met and stage.cue.terms:
        parts = questions(text) if stage.cue.kind is CueKind.ASKS else sentences(text)
        held = (p for p in parts if any(contains_term(p, term) for term in stage.cue.terms))
        if (words := next(held, None)) is not None:
            return CueEvidence(text=one_line(words, WORDS), how="terms", seq=seq)
    return CueEvidence(text=one_line(text, WORDS), how="reply", seq=seq)


def _by_then(seq: int | None, now: int) -> int | None:
    return seq if seq is not None and seq <= now else None


Names = tuple[str, ...]
"""Names of one thing, any of which may be found."""


class MentionResult(Frozen):
    """The first event that names an item: what the agent said (`said`), or what a tool answered. `whole`: it
    names every part of it; otherwise only the parts in `terms`.
    """

    seq: int
    turn: int
    said: bool
    whole: bool
    terms: tuple[str, ...]


class _Text(NamedTuple):
    seq: int
    turn: int
    said: bool
    text: str


class EffectiveLog:
    """A searchable log of what the agent said and was told. Made from full events it searches everything; from an
    outline, only the beginnings of large texts.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._texts: list[_Text] = []
        for event in events:
            match event.body:
                case AgentSpoke(turn=turn, reply=reply):
                    self._texts.append(_Text(event.seq, turn, True, normalise(reply.text)))
                case ToolAnswered(turn=turn, part=part, answer=answer) if part != "user":
                    self._texts.append(_Text(event.seq, turn, False, normalise(answer.text)))
                case _:
                    pass

    def first(self, parts: Sequence[Names], until: int | None = None) -> MentionResult | None:
        """The first event that names all of `parts`; else the one that names the last of them that occurs at all. None
        if none does. `until`: later events are ignored.
        """
        wanted = _normalised(parts)
        alone: dict[int, MentionResult] = {}
        for text in self._texts:
            if until is not None and text.seq > until:
                break
            held = [(n, term) for n, names in enumerate(wanted) if (term := _held(text, names))]
            if held and len(held) == len(wanted):
                return _found(text, [term for _n, term in held], whole=True)
            for n, term in held:
                alone.setdefault(n, _found(text, [term], whole=False))
        return alone[max(alone)] if alone else None

    def items_in(
        self, seqs: Collection[int], items: Iterable[tuple[Item, Sequence[Names]]]
    ) -> tuple[Item, ...]:
        """The items whose parts are all named in these events together."""
        texts = [text for text in self._texts if text.seq in seqs]
        return tuple(
            item
            for item, parts in items
            if (wanted := _normalised(parts))
            and all(any(_held(text, names) for text in texts) for names in wanted)
        )


def parts_of(
    task: Task, item: Item, prediction: Prediction, supporting: Sequence[int] = ()
) -> tuple[Names, ...]:
    """The names to search for, the most specific part last: head and tail of a triple, key and value of a cell, the key
    of a row, the answer. What supports it according to the judge counts as another name.
    """
    gold = task.gold
    match item.kind:
        case ItemKind.PREDICTED:
            return _of_predicted(prediction, item.index)
        case ItemKind.TRIPLE if isinstance(gold, Graph):
            triple = gold.triples[item.index]
            head, tail = gold.names_of(triple.head), gold.names_of(triple.tail)
            named = [_of_predicted(prediction, index) for index in supporting]
            return (
                (*head, *(parts[0][0] for parts in named if parts)),
                (*tail, *(parts[1][0] for parts in named if parts)),
            )
        case ItemKind.CELL | ItemKind.ROW if isinstance(gold, Table):
            row = gold.rows[item.index]
            keys = tuple((key,) for key in gold.key_of(row))
            if item.kind is ItemKind.ROW or item.column in gold.unique_columns:
                return keys
            value = row[gold.column_names.index(item.column)]
            return (*keys, (value, *_of_cell(prediction, item.column, supporting)))
        case ItemKind.ANSWER if isinstance(gold, FactWorld):
            return ((gold.answer, *gold.answer_aliases),)
        case ItemKind.ANSWER if isinstance(gold, CheckpointChain):
            return ((gold.final_answer, *gold.final_aliases),)
        case _:
            return ()


def given_parts(prediction: Prediction) -> tuple[Names, ...]:
    """The predicted answer, to be searched for if the right one was never named."""
    answer = answer_of(prediction)
    return () if answer is None else ((answer,),)


def seq_of(
    place: str,
    events: Sequence[Event],
    stages: Sequence[StageSeen] = (),
    steps: Sequence[StepSeen] = (),
) -> int | None:
    """The event of a note's place: `event/17`, `turn/3` (from 0), `stage/2` (from 1), `step/1` (from 0). None for a
    place without an event (a verdict, the whole trial), and for what never happened.
    """
    kind, _slash, rest = place.partition("/")
    if not rest.isdigit():
        return None
    number = int(rest)
    match kind:
        case "event":
            return number if any(event.seq == number for event in events) else None
        case "turn":
            spoken = (e for e in events if isinstance(e.body, UserSpoke | AgentSpoke))
            return next((e.seq for e in spoken if _turn(e) == number), None)
        case "stage":
            return next((stage.seq for stage in stages if stage.number == number), None)
        case "step":
            readings = (step.readings for step in steps if step.index == number)
            return next((found[0].seq for found in readings if found), None)
        case _:
            return None


def _turn(event: Event) -> int:
    return event.body.turn if isinstance(event.body, UserSpoke | AgentSpoke) else -1


def _of_predicted(prediction: Prediction, index: int) -> tuple[Names, ...]:
    triples = triples_of(prediction) or ()
    return ((triples[index].head,), (triples[index].tail,)) if 0 <= index < len(triples) else ()


def _of_cell(prediction: Prediction, column: str, supporting: Sequence[int]) -> Names:
    cells = prediction.cells(column)
    return tuple(cells[index] for index in supporting if 0 <= index < len(cells))


def _normalised(parts: Sequence[Names]) -> list[list[str]]:
    named = ([normalise(name) for name in names] for names in parts)
    return [names for each in named if (names := [name for name in each if name])]


def _held(text: _Text, names: Sequence[str]) -> str:
    """The first of the names that the text contains; "" for none."""
    for name in names:
        if name in text.text and any(True for _span in occurrences(text.text, name)):
            return name
    return ""


def _found(text: _Text, terms: Sequence[str], *, whole: bool) -> MentionResult:
    return MentionResult(
        seq=text.seq, turn=text.turn, said=text.said, whole=whole, terms=tuple(terms)
    )
