"""A trial's record for reading: task and log, prompt sizes of model calls, and tool calls with what they found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.engine.events import Event, Marked, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import Compaction
from cuecard.core.engine.trial import prediction_of
from cuecard.core.evaluation.items import OF_TURN
from cuecard.core.families.registry import facts_of
from cuecard.core.predictions import Prediction
from cuecard.core.records import RunRecord, TrialNote, TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, Judgement

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class OpenedTrial:
    """A trial's effective log in outline: the large texts of events in `left_out` are cut short. `whole`: False if it
    is only the log's beginning. `waiting`: items that the person still has to label.
    """

    run: RunRecord
    trial: TrialRecord
    task: Task
    events: tuple[Event, ...]
    left_out: frozenset[int]
    waiting: frozenset[Item]
    whole: bool = True

    @property
    def prediction(self) -> Prediction:
        return prediction_of(self.events)

    @property
    def hides_verdicts(self) -> bool:
        """Whether the person still has to label something that judges decide."""
        return any(item.kind not in OF_TURN for item in self.waiting)

    @property
    def hides_decisions(self) -> bool:
        """Whether the person still has to label something that the trial's user decided."""
        return any(item.kind in OF_TURN for item in self.waiting)


@dataclass(frozen=True)
class TrialJudgements:
    """The newest judgement of each judge, the baseline last; and everybody's notes, oldest first."""

    judgements: tuple[Judgement, ...]
    notes: tuple[TrialNote, ...]


def open_trial(
    workspace: Workspace, trial_id: int, person: str = "", first: int | None = None
) -> OpenedTrial:
    """The trial as `person` may see it; with `first` at most that many events from its beginning, for a quick first
    view. Raises `NotFound`.
    """
    trial = workspace.runs.trial(trial_id)
    runs = workspace.runs
    outline = runs.outline(trial_id) if first is None else runs.beginning(trial_id, first)
    waiting = workspace.label_sets.waiting(person, trial_id) if person else ()
    return OpenedTrial(
        run=workspace.runs.get(trial.run_id),
        trial=trial,
        task=workspace.tasks.revision(trial.task_id, trial.revision).task,
        events=outline.events,
        left_out=frozenset(outline.left_out),
        waiting=frozenset(waiting),
        whole=first is None or len(outline.events) < first,
    )


def opinions(workspace: Workspace, trial_id: int) -> TrialJudgements:
    newest: dict[str, Judgement] = {}
    for record in workspace.verdicts.of_trial(trial_id):
        newest.setdefault(record.judgement.judge.name, record.judgement)
    judgements = sorted(newest.values(), key=lambda found: found.judge.baseline)
    notes = workspace.trial_notes.of([trial_id])
    return TrialJudgements(judgements=tuple(judgements), notes=tuple(notes))


def note_seen(workspace: Workspace, trial_id: int, items: Iterable[Item], person: str) -> None:
    """Save that `person` has seen the decisions on these items: later labels on them are not blind."""
    if person:
        workspace.verdicts.note_reveals([(trial_id, item) for item in items], person)


class CallSize(Frozen):
    """One model call of the agent, `number` from 1, with the server's token counts (0 if it sent none). `scope`: the
    team member that called, "" for the agent itself; `part`: `conclusion` for the final prediction.
    """

    number: int
    seq: int
    turn: int
    part: str
    scope: str
    model: str
    prompt: int
    cached: int
    completion: int
    reasoning: int


class ContextCut(Frozen):
    """A compaction of the agent's context. Prompt tokens: `before`, the `limit` to stay under, and `after` in the next
    call of the same scope (None without one).
    """

    seq: int
    turn: int
    scope: str
    strategy: str
    before: int
    limit: int
    kept: int
    dropped: int
    after: int | None


class ContextSize(Frozen):
    """The agent's calls and compactions in the order of the log."""

    calls: tuple[CallSize, ...]
    cuts: tuple[ContextCut, ...]

    @property
    def largest(self) -> int:
        """The largest prompt, in tokens."""
        sizes = [call.prompt for call in self.calls]
        return max([*sizes, *(cut.before for cut in self.cuts)], default=0)

    @property
    def limit(self) -> int | None:
        """The token limit to stay under, if a compaction recorded it."""
        return max((cut.limit for cut in self.cuts), default=None)

    def until(self, seq: int) -> ContextSize:
        """As it stood when event `seq` had happened."""
        return ContextSize(
            calls=tuple(call for call in self.calls if call.seq <= seq),
            cuts=tuple(cut for cut in self.cuts if cut.seq <= seq),
        )


def context_size(events: Sequence[Event]) -> ContextSize:
    """The agent's model calls and compactions, without calls of the user or the world."""
    calls: list[CallSize] = []
    cuts: list[tuple[int, ContextCut]] = []
    for event in events:
        body = event.body
        if isinstance(body, ModelReplied) and body.part != "user" and body.payer != "world":
            usage = body.reply.usage
            calls.append(
                CallSize.from_fields(
                    usage,
                    number=len(calls) + 1,
                    seq=event.seq,
                    turn=body.turn,
                    part=body.part,
                    scope=body.scope.strip("/"),
                    model=body.reply.model or body.model,
                )
            )
        elif isinstance(body, Marked) and isinstance(body.mark, Compaction):
            cuts.append((len(calls), _cut(event.seq, body, body.mark)))
    return ContextSize(calls=tuple(calls), cuts=tuple(_with_next(cuts, calls)))


def _cut(seq: int, body: Marked, mark: Compaction) -> ContextCut:
    scope = body.scope.strip("/")
    return ContextCut.from_fields(mark, seq=seq, turn=body.turn, scope=scope, after=None)


def _with_next(
    cuts: Sequence[tuple[int, ContextCut]], calls: Sequence[CallSize]
) -> list[ContextCut]:
    found: list[ContextCut] = []
    for at, cut in cuts:
        after = next((c.prompt for c in calls[at:] if c.scope == cut.scope and c.prompt), None)
        found.append(cut.model_copy(update={"after": after}))
    return found


class Matched(Frozen):
    """A fact that a query matched. `first`: for the first time. `known`: it is one of the task's facts; others do not
    count for coverage.
    """

    key: str
    first: bool
    known: bool


class HitEntry(Frozen):
    """The agent's `call`-th tool call, from 1. `hit`: None if the world does not record hits of such calls. `found`:
    distinct facts matched so far.
    """

    call: int
    seq: int
    turn: int
    tool: str
    query: str
    ok: bool
    hit: bool | None
    compound: bool
    matched: tuple[Matched, ...]
    reason: str
    found: int

    @property
    def fresh(self) -> int:
        return sum(match.first for match in self.matched)


class HitLog(Frozen):
    """Tool calls and what they found. `facts`: how many the task's world has; None if it is no world of facts, so that
    coverage is undefined and all matched keys count as found.
    """

    facts: int | None
    entries: tuple[HitEntry, ...]

    @property
    def hits(self) -> int:
        return sum(bool(entry.hit) for entry in self.entries)

    @property
    def found(self) -> int:
        return self.entries[-1].found if self.entries else 0

    def coverage(self, entry: HitEntry) -> float | None:
        """The fact coverage rate (FCR) at this call (FORMATS, paraworld)."""
        return entry.found / self.facts if self.facts else None

    def until(self, seq: int) -> HitLog:
        """The log as it stood when event `seq` had happened."""
        return HitLog(facts=self.facts, entries=tuple(e for e in self.entries if e.seq <= seq))


def hit_log(task: Task, events: Sequence[Event]) -> HitLog:
    """Every tool call of the agent in order, refused ones included, as the scores count them."""
    known = {fact.key for fact in facts_of(task)} or None
    found: set[str] = set()
    entries: list[HitEntry] = []
    for event in events:
        body = event.body
        if not isinstance(body, ToolAnswered) or body.part == "user":
            continue
        hit = body.answer.hit
        matched: list[Matched] = []
        for key in dict.fromkeys(hit.matched_fact_keys if hit else ()):
            counts = known is None or key in known
            matched.append(Matched(key=key, first=counts and key not in found, known=counts))
            if counts:
                found.add(key)
        entries.append(
            HitEntry(
                call=len(entries) + 1,
                seq=event.seq,
                turn=body.turn,
                tool=body.call.name,
                query=query_of(body),
                ok=body.answer.ok,
                hit=hit.hit if hit else None,
                compound=bool(hit and hit.is_compound),
                matched=tuple(matched),
                reason=hit.reason if hit else "",
                found=len(found),
            )
        )
    return HitLog(facts=None if known is None else len(known), entries=tuple(entries))


def first_hits(log: HitLog) -> dict[str, HitEntry]:
    """The call that first matched each fact."""
    return {m.key: entry for entry in log.entries for m in entry.matched if m.first}


def query_of(body: ToolAnswered) -> str:
    """The query of a call: the texts among its arguments."""
    call = body.call
    if call.broken:
        return call.broken
    texts: list[str] = []
    for value in call.arguments.values():
        values = value if isinstance(value, list) else [value]
        texts += [text for text in values if isinstance(text, str) and text.strip()]
    return " · ".join(texts)
