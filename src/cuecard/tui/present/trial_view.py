"""The state of the Trial screen: which pane, up to which event, by which judge."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Literal

from cuecard.annotate.labelling.views import without_decisions
from cuecard.annotate.results.errors.blame import none_to_blame
from cuecard.annotate.results.trial_against_gold import (
    GROUPINGS,
    Against,
    AnswerAgainst,
    GraphAgainst,
    Grouping,
    TableAgainst,
    against_gold,
)
from cuecard.annotate.results.trial_disclosure import (
    EffectiveLog,
    MentionResult,
    StageSeen,
    StepSeen,
    given_parts,
    parts_of,
    seq_of,
    stage_until,
    stages_seen,
    steps_seen,
)
from cuecard.annotate.results.trial_record import (
    ContextSize,
    HitLog,
    OpenedTrial,
    TrialJudgements,
    context_size,
    hit_log,
)
from cuecard.core.engine.events import Event, UserSpoke
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.items import VerdictView, verdict_views
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.registry import chain_of
from cuecard.core.i18n import _, headed, ngettext
from cuecard.core.records import TrialNote, first_judge
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind, Judgement, Measure
from cuecard.tui.present import trial_gold
from cuecard.tui.present import trial_summary as trial_verdicts
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.keyboard import after, hint
from cuecard.tui.present.labels import player_label
from cuecard.tui.present.transcript import entries_of
from cuecard.tui.present.trial_gold import TableView, table_view
from cuecard.tui.present.trial_panes import (
    PaneText,
    context_text,
    hits_text,
    stages_text,
    steps_text,
)
from cuecard.tui.present.trial_places import Stepping, notes_text, words_of_place
from cuecard.tui.present.trial_summary import verdict_counts, verdict_lines


class JudgedTrial:
    """`opinions` come after the trial. `only`: the items whose verdicts are shown, None for all."""

    def __init__(self, opened: OpenedTrial) -> None:
        self.opened = opened
        self.opinions: TrialJudgements | None = None
        self.verdicts_shown: trial_verdicts.Shown = "all"
        self.gold_shown: trial_gold.Shown = "all"
        self.grouping: Grouping = "stage" if opened.task.stages else "relation"
        self.only: tuple[Item, ...] | None = None
        self._judge = first_judge(opened.run.plan)
        self._seen: set[str] = set()

    def take(self, opinions: TrialJudgements) -> None:
        self.opinions = opinions
        self._forget_judge()

    @cached_property
    def hits(self) -> HitLog:
        return hit_log(self.opened.task, self.opened.events)

    @property
    def judges(self) -> tuple[PlayerRef, ...]:
        found = self.opinions.judgements if self.opinions else ()
        return tuple(judgement.judge for judgement in found)

    @property
    def judgement(self) -> Judgement | None:
        """Of the judge that was chosen, at first the first."""
        found = self.opinions.judgements if self.opinions else ()
        chosen = (judgement for judgement in found if judgement.judge.name == self._judge)
        return next(chosen, found[0] if found else None)

    def next_judge(self) -> None:
        names = [judge.name for judge in self.judges]
        if self.judgement:
            self._judge = after(self.judgement.judge.name, names)
            self._forget_judge()

    def sees(self, judgement: Judgement) -> bool:
        """Remember that these verdicts are shown; whether that is so for the first time."""
        before = len(self._seen)
        self._seen.add(judgement.judge.name)
        return len(self._seen) > before

    @cached_property
    def verdicts(self) -> tuple[VerdictView, ...]:
        judgement = self.judgement
        if judgement is None:
            return ()
        return verdict_views(self.opened.task, self.opened.prediction, judgement)

    @cached_property
    def against(self) -> Against:
        opened = self.opened
        return against_gold(opened.task, opened.prediction, self.judgement, self.hits)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        judgement = self.judgement
        opened = self.opened
        return score_trial(opened.task, opened.events, judgement) if judgement else ()

    @property
    def table(self) -> TableView | None:
        against = self.against
        return table_view(against, self.gold_shown) if isinstance(against, TableAgainst) else None

    def next_filter(self, pane: str) -> None:
        if pane == "verdicts" and self.only is not None:
            self.only = None
        elif pane == "verdicts":
            self.verdicts_shown = after(self.verdicts_shown, trial_verdicts.SHOWN)
        elif pane == "gold":
            self.gold_shown = after(self.gold_shown, trial_gold.SHOWN)

    def next_grouping(self) -> None:
        self.grouping = after(self.grouping, GROUPINGS)

    def gold_text(self) -> PaneText:
        against = self.against
        if isinstance(against, GraphAgainst):
            return trial_gold.graph_text(self.opened.task, against, self.grouping, self.gold_shown)
        if isinstance(against, AnswerAgainst):
            return trial_gold.answer_text(against)
        return PaneText("")

    def verdict_text(self) -> PaneText:
        lines = verdict_lines(self.verdicts, self.verdicts_shown, self.only)
        return PaneText(self._verdict_note(), lines)

    def _verdict_note(self) -> str:
        judgement = self.judgement
        if judgement is None:
            if self.opened.trial.termination is None:
                return _("A trial is judged when it has ended.")
            return hint(_("Nobody has judged this trial yet: {MENU} j has it judged."))
        who = player_label(judgement.judge)
        if len(self.judges) > 1:
            at = self.judges.index(judgement.judge) + 1
            who += " · " + _("judge {n} of {all}").format(n=at, all=len(self.judges))
        shown = _(trial_verdicts.SHOWN_LABEL[self.verdicts_shown])
        if self.only is not None:
            shown = _("only what this turn names: {n}").format(n=len(self.only))
        return f"{who}\n{verdict_counts(self.verdicts)} · {shown}"

    def _forget_judge(self) -> None:
        for name in ("verdicts", "against", "measures"):
            self.__dict__.pop(name, None)


PaneName = Literal["stages", "gold", "verdicts", "hits", "context", "notes", "measures"]
_OF_VERDICTS = ("gold", "verdicts", "measures")


class TrialState(JudgedTrial):
    """`whole` holds events with their large texts, by number."""

    def __init__(self, opened: OpenedTrial, person: str) -> None:
        super().__init__(opened)
        self.person = person
        self.whole: dict[int, Event] = {}
        self.stepping: Stepping | None = None
        self.uncovered = False

    def reopen(self, opened: OpenedTrial) -> None:
        """The trial went on: what was chosen stays."""
        self.opened = opened
        for name in ("events", "entries", "stages", "steps", "hits", "context"):
            self.__dict__.pop(name, None)
        self._forget_judge()
        if self.stepping:
            self.stepping = Stepping(self.events, opened.task, self.stepping.at)

    def complete(self, events: Sequence[Event]) -> None:
        """Take in events with their large texts."""
        self.whole |= {event.seq: event for event in events}
        self.__dict__.pop("entries", None)

    # What happened

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The effective log as this person may see it."""
        events = self.opened.events
        return without_decisions(events) if self.hides_decisions else events

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The whole transcript."""
        return entries_of(self._read, self.opened.task, self._left_out)

    @property
    def shown_entries(self) -> Sequence[Entry]:
        """The transcript up to the moment that is shown."""
        if self.stepping is None:
            return self.entries
        return self.stepping.entries(self.entries, self._read, self._left_out)

    @cached_property
    def stages(self) -> tuple[StageSeen, ...]:
        return stages_seen(self.opened.task.stages, self.events)

    @cached_property
    def steps(self) -> tuple[StepSeen, ...]:
        return steps_seen(self.chain, self.events) if self.chain else ()

    @cached_property
    def context(self) -> ContextSize:
        return context_size(self.opened.events)

    @property
    def chain(self) -> CheckpointChain | None:
        """The steps through which the user led, if there were any."""
        return chain_of(self.opened.task)

    # What must not be seen yet

    @property
    def hides_decisions(self) -> bool:
        return self.opened.hides_decisions and not self.uncovered

    def covers(self, pane: str) -> bool:
        """Whether the person is still to label, in a labelling set, what the pane would show."""
        if self.uncovered:
            return False
        if pane in _OF_VERDICTS:
            return self.opened.hides_verdicts
        if pane == "notes":
            return len(self.notes) < len(self._every_note)
        return pane == "stages" and self.opened.hides_decisions

    @property
    def notes(self) -> tuple[TrialNote, ...]:
        """Those that may be seen: what others wrote can tell what was decided."""
        if self.uncovered or not self.opened.waiting:
            return self._every_note
        return tuple(note for note in self._every_note if note.person == self.person)

    @property
    def _every_note(self) -> tuple[TrialNote, ...]:
        return self.opinions.notes if self.opinions else ()

    @property
    def none_to_blame(self) -> str:
        """See `annotate.results.errors.blame.none_to_blame`; whether it failed is covered with the verdicts."""
        if self.covers("verdicts"):
            return _covered(len(self.opened.waiting))
        return none_to_blame(self.opened, self.opinions.judgements if self.opinions else ())

    def uncover(self) -> None:
        self.uncovered = True
        for name in ("events", "entries", "stages", "steps"):
            self.__dict__.pop(name, None)

    # Panes

    @property
    def now(self) -> int | None:
        """The event up to which everything is shown; None: to the end."""
        return self.stepping.seq if self.stepping else None

    def text(self, pane: PaneName) -> PaneText:
        """A pane of lines; `table` gives the gold pane of a table."""
        opened, now = self.opened, self.now
        if self.covers(pane):
            return PaneText(_covered(len(opened.waiting)))
        match pane:
            case "stages":
                return self._stages(now)
            case "hits":
                hits = self.hits if now is None else self.hits.until(now)
                return hits_text(opened.task, hits)
            case "context":
                return context_text(self.context if now is None else self.context.until(now))
            case "notes":
                return notes_text(self.notes, self.person, self.words_of, self.seq_of)
            case "verdicts":
                return self.verdict_text()
            case "gold":
                return self.gold_text()
            case "measures":
                return PaneText("")

    # Places

    def seq_of(self, place: str) -> int | None:
        return seq_of(place, self.events, self.stages, self.steps)

    def words_of(self, place: str) -> str:
        return words_of_place(place, self.opened.task, self.events)

    def place_of(self, entry: Entry) -> str:
        """Where a note on an entry of the transcript is pinned."""
        if self.stepping:
            return f"event/{self.stepping.seq}"
        if entry.role == "user":
            return f"turn/{entry.turn}"
        return f"event/{entry.events[0]}" if entry.events else ""

    def find(self, effective: EffectiveLog, item: Item) -> MentionResult | None:
        """Where an item was first named; of an answer that was never named, the one that was given."""
        opened = self.opened
        supporting = next(
            (v.verdict.supporting for v in self.verdicts if v.verdict.item == item), ()
        )
        found = effective.first(
            parts_of(opened.task, item, opened.prediction, supporting), self.now
        )
        if found is None and item.kind is ItemKind.ANSWER:
            found = effective.first(given_parts(opened.prediction), self.now)
        return found

    def turn_of(self, seq: int) -> frozenset[int]:
        """The events of the turn that event `seq` is of."""
        turns = {event.seq: getattr(event.body, "turn", None) for event in self.opened.events}
        return frozenset(at for at, turn in turns.items() if turn == turns.get(seq))

    def items_in(self, effective: EffectiveLog, seqs: Collection[int]) -> tuple[Item, ...]:
        """The items with a verdict that these events name, as far as agent and tools go."""
        opened = self.opened
        items = [view.verdict for view in self.verdicts]
        parts = [
            (v.item, parts_of(opened.task, v.item, opened.prediction, v.supporting)) for v in items
        ]
        return effective.items_in(seqs, parts)

    def _stages(self, now: int | None) -> PaneText:
        user = self.opened.trial.user
        if self.chain:
            steps = [step if now is None else step.until(now) for step in self.steps]
            return steps_text(self.chain, steps, user)
        seen = [stage if now is None else stage_until(stage, now) for stage in self.stages]
        return stages_text(self.opened.task.stages, seen, user)

    @property
    def _read(self) -> list[Event]:
        if not self.whole:
            return list(self.events)
        hidden = self.hides_decisions
        return [
            event
            if hidden and isinstance(event.body, UserSpoke)
            else self.whole.get(event.seq, event)
            for event in self.events
        ]

    @property
    def _left_out(self) -> frozenset[int]:
        return self.opened.left_out - self.whole.keys()


def _covered(waiting: int) -> str:
    text = ngettext(
        "You are still to label {n} item of this trial in a labelling set. What was decided stays covered"
        " until you have, or until you press {REVEAL}: labels that you give after that count as not blind.",
        "You are still to label {n} items of this trial in a labelling set. What was decided stays covered"
        " until you have, or until you press {REVEAL}: labels that you give after that count as not blind.",
        waiting,
    )
    return hint(text, n=waiting)


MOST = 600


def finding_text(state: TrialState, place: str, entry: Entry) -> str:
    """What stands under the cursor; of a verdict, with what the judge said."""
    lines = [one_line("".join(piece.text for piece in entry.head), MOST)]
    lines += [one_line(paragraph.text, MOST) for paragraph in entry.body]
    if place.startswith("verdict/"):
        lines = lines[:1] + _of_judge(state, place.removeprefix("verdict/"))
    return "\n".join(filter(None, lines))


def _of_judge(state: TrialState, key: str) -> list[str]:
    try:
        item = Item.of_key(key)
    except ValueError:
        return []
    view = next((view for view in state.verdicts if view.verdict.item == item), None)
    judgement = state.judgement
    if view is None or judgement is None:
        return []
    said = one_line(view.verdict.rationale, MOST) or _("no reason was given")
    lines = [headed(one_line(judgement.judge.name, 40), said)]
    lines += [f"← {one_line(each.cell or each.text, 200)}" for each in view.supporting]
    return lines
