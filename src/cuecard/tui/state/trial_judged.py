"""What judges made of a trial: verdicts, the prediction beside the gold, measures; one judge at a time."""

from __future__ import annotations

from functools import cached_property

from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.verdicts import Item, Judgement
from cuecard.lab.trial_view import VerdictView, verdict_views
from cuecard.results.trial.against_gold import (
    GROUPINGS,
    Against,
    AnswerAgainst,
    GraphAgainst,
    Grouping,
    against_gold,
)
from cuecard.results.trial.hit_log import HitLog, hit_log
from cuecard.results.trial.opening import OpenedTrial, Opinions
from cuecard.results.trial.table_against_gold import TableAgainst
from cuecard.tui.state import trial_gold, trial_verdicts
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.trial_lines import PaneText
from cuecard.tui.state.trial_table import TableView, table_view
from cuecard.tui.state.trial_verdicts import verdict_counts, verdict_lines


class JudgedTrial:
    """`opinions` come after the trial. `only`: the items whose verdicts are shown, None for all."""

    def __init__(self, opened: OpenedTrial) -> None:
        self.opened = opened
        self.opinions: Opinions | None = None
        self.verdicts_shown: trial_verdicts.Shown = "all"
        self.gold_shown: trial_gold.Shown = "all"
        self.grouping: Grouping = "stage" if opened.task.stages else "relation"
        self.only: tuple[Item, ...] | None = None
        self._judge = ""
        self._seen: set[str] = set()

    def take(self, opinions: Opinions) -> None:
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
            at = names.index(self.judgement.judge.name)
            self._judge = names[(at + 1) % len(names)]
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
            shown = trial_verdicts.SHOWN
            self.verdicts_shown = shown[(shown.index(self.verdicts_shown) + 1) % len(shown)]
        elif pane == "gold":
            wanted = trial_gold.SHOWN
            self.gold_shown = wanted[(wanted.index(self.gold_shown) + 1) % len(wanted)]

    def next_grouping(self) -> None:
        self.grouping = GROUPINGS[(GROUPINGS.index(self.grouping) + 1) % len(GROUPINGS)]

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
            return _("Nobody has judged this trial yet: j has it judged.")
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
