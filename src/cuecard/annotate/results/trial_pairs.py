"""Two trials of one task, or one trial under two judges, side by side: what belongs together, and what differs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from cuecard.annotate.labelling.views import without_decisions
from cuecard.annotate.results.trial_record import OpenedTrial, open_trial, opinions, query_of
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import Usage, UserReply
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.items import VerdictView, verdict_views
from cuecard.core.i18n import _
from cuecard.core.records import UsageRecord, first_judge
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.verdicts import Judgement

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Part = Literal["user", "call", "agent", "handed", "end"]
Pairs = list[tuple[int | None, int | None]]


@dataclass(frozen=True)
class PairedEvent:
    """What happened in one trial: the event's number, its turn, and its text. `answer`: what a tool gave; `reply`: what
    the user part decided.
    """

    seq: int
    turn: int
    text: str
    answer: str = ""
    reply: UserReply | None = None

    @property
    def stage(self) -> int | None:
        """The stage (from 1) or checkpoint (from 0) that it is about."""
        if self.reply is None:
            return None
        return self.reply.stage if self.reply.stage is not None else self.reply.checkpoint

    @property
    def means(self) -> tuple[Hashable, ...]:
        """What two of them have in common where they are the same."""
        reply = self.reply
        decided = (reply.cue_met, reply.status, reply.done) if reply else ()
        return (" ".join(self.text.split()), self.stage, *decided)


class PairLine(NamedTuple):
    """What stands side by side; None where one trial has nothing there."""

    part: Part
    left: PairedEvent | None
    right: PairedEvent | None

    @property
    def differs(self) -> bool:
        return not (self.left and self.right and self.left.means == self.right.means)


@dataclass
class _Turn:
    stage: int | None = None
    user: PairedEvent | None = None
    calls: list[PairedEvent] = field(default_factory=list[PairedEvent])
    agent: PairedEvent | None = None


def align(left: Sequence[int | None], right: Sequence[int | None]) -> Pairs:
    """Pairs two sequences of turns, each given by the stage that it is about (None: by none). A stage that both reach
    stands side by side as long as the order of stages allows it; turns between two such are paired in their order.
    """
    anchors: list[tuple[int, int]] = []
    for stage in sorted({each for each in left if each is not None} & set(right) - {None}):
        here = left.index(stage), right.index(stage)
        if not anchors or (here[0] > anchors[-1][0] and here[1] > anchors[-1][1]):
            anchors.append(here)
    return list(_between(anchors, len(left), len(right)))


def align_calls(left: Sequence[Hashable], right: Sequence[Hashable]) -> Pairs:
    """Pairs two sequences of calls: equal ones, as many as can be in order, and in between others in their order."""
    from rapidfuzz.distance import Indel

    same = [
        (code.src_start + at, code.dest_start + at)
        for code in Indel.opcodes(left, right)
        if code.tag == "equal"
        for at in range(code.src_end - code.src_start)
    ]
    return list(_between(same, len(left), len(right)))


def _between(anchors: Sequence[tuple[int, int]], left: int, right: int) -> Iterator[tuple[int | None, int | None]]:  # fmt: skip
    one = other = 0
    for here, there in [*anchors, (left, right)]:
        for at in range(max(here - one, there - other)):
            yield (
                one + at if one + at < here else None,
                other + at if other + at < there else None,
            )
        if here < left or there < right:
            yield here, there
        one, other = here + 1, there + 1


def dialogue_pairs(left: Sequence[Event], right: Sequence[Event]) -> list[PairLine]:
    """Two effective logs side by side: of each pair of turns the user's words, the agent's calls and its words; last
    what was handed in and how the trials ended.
    """
    (ours, our_last), (theirs, their_last) = _turns(left), _turns(right)
    lines: list[PairLine] = []
    for one, other in align([turn.stage for turn in ours], [turn.stage for turn in theirs]):
        here = ours[one] if one is not None else _Turn()
        there = theirs[other] if other is not None else _Turn()
        lines.append(PairLine("user", here.user, there.user))
        means = [each.means for each in here.calls], [each.means for each in there.calls]
        for a, b in align_calls(*means):
            call = here.calls[a] if a is not None else None
            lines.append(PairLine("call", call, there.calls[b] if b is not None else None))
        lines.append(PairLine("agent", here.agent, there.agent))
    parts: tuple[Part, ...] = ("handed", "end")
    lines += [PairLine(part, our_last.get(part), their_last.get(part)) for part in parts]
    return [line for line in lines if line.left or line.right]


def _turns(events: Sequence[Event]) -> tuple[list[_Turn], dict[Part, PairedEvent]]:
    turns: dict[int, _Turn] = {}
    last: dict[Part, PairedEvent] = {}
    for event in events:
        match event.body:
            case UserSpoke(turn=turn, reply=reply):
                said = PairedEvent(event.seq, turn, reply.text, reply=reply)
                turns.setdefault(turn, _Turn()).user = said
                turns[turn].stage = said.stage
            case AgentSpoke(turn=turn, reply=reply):
                turns.setdefault(turn, _Turn()).agent = PairedEvent(event.seq, turn, reply.text)
            case ToolAnswered(turn=turn, call=call, answer=answer, part=part) as body if part != "user":  # fmt: skip
                text = f"{call.name}: {query_of(body)}"
                turns.setdefault(turn, _Turn()).calls.append(
                    PairedEvent(event.seq, turn, text, answer.text)
                )
            case Concluded(prediction=prediction):
                text = "\n".join(prediction.lines) or prediction.summary(200)
                last["handed"] = PairedEvent(event.seq, max(turns, default=0), text)
            case TrialEnded(termination=termination, detail=detail):
                said = PairedEvent(event.seq, max(turns, default=0), termination.value, detail)
                last["end"] = said
            case _:
                pass
    return [turns[turn] for turn in sorted(turns)], last


class VerdictPair(NamedTuple):
    """What was decided on one gold item; None where it was not decided on."""

    left: VerdictView | None
    right: VerdictView | None

    @property
    def view(self) -> VerdictView:
        found = self.left or self.right
        assert found is not None
        return found

    @property
    def differs(self) -> bool:
        decided = [each.verdict.decision if each else None for each in self]
        return decided[0] != decided[1]


class Amount(NamedTuple):
    """A number of both trials; None where there is none. `payer`: who spent it, "" for a measure."""

    name: str
    payer: str
    left: float | None
    right: float | None

    @property
    def differs(self) -> bool:
        return self.left != self.right


@dataclass(frozen=True)
class Side:
    """One side: a trial with its whole effective log, its newest judgement of each judge, and what was spent on it."""

    opened: OpenedTrial
    judgements: tuple[Judgement, ...]
    usage: tuple[UsageRecord, ...]

    def judged_by(self, judge: str) -> Judgement | None:
        return next((each for each in self.judgements if each.judge.name == judge), None)

    def spent(self) -> dict[tuple[str, str], float | None]:
        """By payer and name: `calls`, `prompt` and `completion` tokens, `cost`; and of the trial `seconds`."""
        found: dict[tuple[str, str], float | None] = {}
        for payer in dict.fromkeys(each.payer for each in self.usage):
            of_payer = [each for each in self.usage if each.payer == payer]
            usage = Usage.total(each.usage for each in of_payer)
            found[payer, "calls"] = float(sum(each.calls for each in of_payer))
            found[payer, "prompt"], found[payer, "completion"] = usage.prompt, usage.completion
            priced = [each.cost for each in of_payer if each.cost is not None]
            found[payer, "cost"] = sum(priced) if priced else None
        trial = self.opened.trial
        took = trial.ended_at - trial.created_at if trial.ended_at else None
        found["", "seconds"] = took.total_seconds() if took else None
        return found


@dataclass(frozen=True)
class TrialPair:
    """`lines` are empty where both sides are one trial, under two judges."""

    left: Side
    right: Side
    lines: tuple[PairLine, ...]

    @property
    def same_trial(self) -> bool:
        return self.left.opened.trial.id == self.right.opened.trial.id

    @property
    def hides_verdicts(self) -> bool:
        """Whether the person has still to label what was decided on either side."""
        return self.left.opened.hides_verdicts or self.right.opened.hides_verdicts

    @property
    def judges(self) -> tuple[tuple[str, str], ...]:
        """Which judges can be held against each other, left and right: the same on two trials, else two of one."""
        ours = [each.judge.name for each in self.left.judgements]
        if self.same_trial:
            return tuple((a, b) for at, a in enumerate(ours) for b in ours[at + 1 :])
        theirs = [each.judge.name for each in self.right.judgements]
        either = [*ours, *(name for name in theirs if name not in ours)]
        first = first_judge(self.left.opened.run.plan)
        either.sort(key=lambda name: (name not in theirs, name != first))
        return tuple((name, name) for name in either)

    def verdicts(self, judges: tuple[str, str]) -> tuple[VerdictPair, ...]:
        """By gold item in gold's order, those of the left first. Of two revisions, items are the same by their text."""
        alike = self.left.opened.task.gold == self.right.opened.task.gold
        found: dict[Hashable, list[VerdictView | None]] = {}
        for place, (side, name) in enumerate(zip((self.left, self.right), judges, strict=True)):
            judgement = side.judged_by(name)
            opened = side.opened
            views = verdict_views(opened.task, opened.prediction, judgement) if judgement else ()
            for view in views:
                item = view.verdict.item
                key = item.key if alike else (item.kind, item.column, view.gold.text)
                found.setdefault(key, [None, None])[place] = view
        return tuple(VerdictPair(left, right) for left, right in found.values())

    def amounts(self, judges: tuple[str, str] | None) -> tuple[Amount, ...]:
        """Measures by these judges, then what each payer spent, of two trials."""
        both: list[dict[tuple[str, str], float | None]] = []
        for side, name in zip((self.left, self.right), judges or ("", ""), strict=True):
            judgement, opened = side.judged_by(name), side.opened
            measured = score_trial(opened.task, opened.events, judgement) if judgement else ()
            of_side = {("", each.name): each.value for each in measured}
            both.append(of_side if self.same_trial else {**of_side, **side.spent()})
        keys = dict.fromkeys([*both[0], *both[1]])
        return tuple(
            Amount(name, payer, both[0].get((payer, name)), both[1].get((payer, name)))
            for payer, name in keys
        )


def load_pair(workspace: Workspace, left: int, right: int, person: str = "") -> TrialPair:
    """Two trials (or twice the same) as `person` may see them. Raises `NotFound`, and `NotAllowed` for trials of
    different tasks.
    """
    sides: list[Side] = []
    usage = workspace.runs.usage_of({left, right})
    for trial_id in (left, right):
        opened = open_trial(workspace, trial_id, person, 1)
        events = tuple(workspace.runs.events(trial_id))
        events = without_decisions(events) if opened.hides_decisions else events
        opened = replace(opened, events=events, left_out=frozenset(), whole=True)
        spent = tuple(each for each in usage if each.trial_id == trial_id)
        sides.append(Side(opened, opinions(workspace, trial_id).judgements, spent))
    ours, theirs = (side.opened for side in sides)
    if ours.trial.task_id != theirs.trial.task_id:
        told = f"{ours.task.title} · {theirs.task.title}"
        hint = _("Mark two trials of the same task.")
        raise NotAllowed(_("These trials are of different tasks"), told, hint)
    lines = () if left == right else tuple(dialogue_pairs(ours.events, theirs.events))
    return TrialPair(sides[0], sides[1], lines)
