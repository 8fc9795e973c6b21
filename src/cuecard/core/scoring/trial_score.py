"""The measures of one trial, and the figures that tables and error analysis read of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

from pydantic_core import CoreSchema, from_json
from pydantic_core.core_schema import no_info_plain_validator_function

from cuecard.core.engine.events import Concluded, Event, Marked, Termination, TrialEnded
from cuecard.core.engine.messages import Compaction
from cuecard.core.engine.trial import prediction_of
from cuecard.core.engine.trial_log import (
    agent_model_replies,
    agent_tool_answers,
    agent_turns,
    user_turns,
)
from cuecard.core.errors import error_text
from cuecard.core.families.checkpoints.score import StepRecord
from cuecard.core.i18n import _
from cuecard.core.plugins import captured_output
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.scoring.measures import MEASURES
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.text import questions
from cuecard.core.verdicts import Decision, Judgement, Measure, Measures, count, share


def score_interaction(task: Task, events: Sequence[Event]) -> tuple[Measure, ...]:
    """The interaction measures of one trial (after VibeSearchBench's interaction statistics).

    `agent_messages`: the agent's model calls before the conclusion, since each of them writes a message (without a
    model, its turns and tool calls); `message_ratio`: agent messages per user turn. `done`: 1 if the user had nothing
    left to say. `stages_disclosed`: distinct stages disclosed; `stage_share`: their share of the persona's stages
    (undefined without a persona). `dismissive`: user turns, the last one aside, that disclose nothing after a reply that
    asked a question; `redirects`: those after a reply without one; both as shares of the user's answers. Tokens are the
    agent's as the server counted them, with n = its model calls.
    """
    known = range(1, len(task.stages) + 1)
    stages = {turn.reply.stage for turn in user_turns(events) if turn.reply.stage in known}
    replies = agent_model_replies(events)
    users = len(user_turns(events))
    messages = _agent_messages(events)
    dismissive, redirects, answers = _undisclosing_turns(task, events)
    nobody = _("the user never answered")
    return (
        count("agent_turns", len(agent_turns(events))),
        count("user_turns", users),
        count("agent_messages", messages),
        share("message_ratio", messages, users, _("the user said nothing")),
        count("compactions", len(compactions(events))),
        _done(events),
        count("stages_disclosed", len(stages), len(known)),
        share("stage_share", len(stages), len(known), _("the task has no stages")),
        share("dismissive", dismissive, answers, nobody),
        share("redirects", redirects, answers, nobody),
        count("tool_calls", len(agent_tool_answers(events))),
        count("prompt_tokens", sum(r.reply.usage.prompt for r in replies), len(replies)),
        count("completion_tokens", sum(r.reply.usage.completion for r in replies), len(replies)),
        count("cached_tokens", sum(r.reply.usage.cached for r in replies), len(replies)),
        count("reasoning_tokens", sum(r.reply.usage.reasoning for r in replies), len(replies)),
    )


def tool_calls_by_name(events: Sequence[Event]) -> dict[str, int]:
    """How often the agent called each tool, by name."""
    return dict(Counter(answered.call.name for answered in agent_tool_answers(events)))


def compactions(events: Sequence[Event]) -> list[Compaction]:
    """The compactions of the agent's context, in order."""
    marks = (event.body.mark for event in events if isinstance(event.body, Marked))
    return [mark for mark in marks if isinstance(mark, Compaction)]


def _agent_messages(events: Sequence[Event]) -> int:
    called = [r for r in agent_model_replies(events) if r.part == "agent" and not r.scope]
    return len(called) or len(agent_turns(events)) + len(agent_tool_answers(events))


def _done(events: Sequence[Event]) -> Measure:
    ends = [event.body.termination for event in events if isinstance(event.body, TrialEnded)]
    if not ends:
        return Measure("done", None, 0, _("the trial has not ended"))
    return count("done", ends[-1] in (Termination.USER_DONE, Termination.ANSWERED))


def _undisclosing_turns(task: Task, events: Sequence[Event]) -> tuple[int, int, int]:
    """How many user turns disclose nothing, after a question of the agent and after none; and all the user's answers."""
    asked: dict[int, bool] = {
        turn.turn: bool(questions(turn.reply.text)) for turn in agent_turns(events)
    }
    answers = [turn for turn in user_turns(events) if turn.turn - 1 in asked]
    if not task.stages:
        return 0, 0, 0
    barren = [turn for turn in answers if turn.reply.stage is None and not turn.reply.done]
    dismissive = sum(asked[turn.turn - 1] for turn in barren)
    return dismissive, len(barren) - dismissive, len(answers)


def score_trial(task: Task, events: Sequence[Event], judgement: Judgement) -> tuple[Measure, ...]:
    """The family's measures, then `unjudged`, the interaction measures and those of other packages, of which one that
    fails is undefined; every name occurs once.

    The prediction is read from the log. For a prediction without a log see `score_prediction`.
    """
    family = _score_family(task, prediction_of(events), events, judgement)
    ours = (*family, *score_interaction(task, events))
    names = {measure.name for measure in ours}
    own = [name for name in MEASURES if name not in names]
    return (*ours, *(_score_own(name, task, events, judgement) for name in own))


def judged_by_end(task: Task) -> bool:
    """Whether verdicts change no measure of the task's trials that needs more of a log than its end; see `rejudged`."""
    from cuecard.core.families.registry import family_of

    return family_of(task).of_end and not MEASURES


def rejudged(
    task: Task, end: Sequence[Event], judgement: Judgement, before: Sequence[Measure]
) -> tuple[Measure, ...]:
    """`score_trial` by other verdicts, where `judged_by_end`: what no verdict changes is as in `before`."""
    found = {each.name: each for each in _score_family(task, prediction_of(end), end, judgement)}
    return tuple(found.get(each.name, each) for each in before)


def _score_own(name: str, task: Task, events: Sequence[Event], judgement: Judgement) -> Measure:
    try:
        with captured_output([]):
            return replace(MEASURES[name].of(task, events, judgement), name=name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others: what it raises is data
        return Measure(name, None, 0, error_text(error))


def score_prediction(
    task: Task, prediction: Prediction, judgement: Judgement
) -> tuple[Measure, ...]:
    """The family's measures and `unjudged` for a prediction that was produced elsewhere.

    Without a log there are no turns, tools and tokens; the FCR and hit rate of a facts task and the steps of a
    checkpoint task, which are read from the log, are undefined or left out.
    """
    measures = _score_family(task, prediction, (), judgement)
    from cuecard.core.families.registry import family_of

    needs_log = family_of(task).of_log
    return tuple(measure for measure in measures if measure.name not in needs_log)


def _score_family(
    task: Task, prediction: Prediction, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    from cuecard.core.families.registry import family_of

    return family_of(task).score(task, task.gold, prediction, events, judgement)


SCHEME = 4
"""To be raised with every change of what figures hold or how they are counted: stored figures of another scheme are
computed again."""
MAX_K = 64
RAW = 300
Key = TypeVar("Key", str, int)

HandedIn = Literal["triples", "table", "answer", "unusable", "nothing"]
"""What the agent handed in. `unusable`: a format failure; `nothing`: the trial holds no conclusion."""


class Tally(NamedTuple):
    """Numbers of gold items by decision."""

    yes: int = 0
    no: int = 0
    unjudged: int = 0

    @property
    def judged(self) -> int:
        return self.yes + self.no

    @classmethod
    def __get_pydantic_core_schema__(cls, *_asked: object) -> CoreSchema:
        # What was read shares equal ones, which takes half of the memory and of the time.
        return no_info_plain_validator_function(_read_tally)


@lru_cache(maxsize=4096)
def _tally(yes: int, no: int, unjudged: int) -> Tally:
    return Tally(yes, no, unjudged)


def _read_tally(told: Sequence[int]) -> Tally:
    try:
        return _tally(*told)
    except TypeError as error:
        raise ValueError(str(error)) from error


class GraphFigures(Frozen):
    """Counts of a graph trial. `gold`: gold triples; `predicted`: predicted ones, None where nothing readable was handed
    in. `relations`: decisions on gold triples by relation; `stages`: by the stage that they answer (only triples that
    name one). `invalid`: normalised relations of predicted triples that support no gold triple.
    """

    gold: int
    predicted: int | None
    relations: dict[str, Tally]
    stages: dict[int, Tally]
    invalid: dict[str, int]


class TableFigures(Frozen):
    """Counts of a table trial. `usable`: whether the prediction is a table with the required columns (None: the
    judgement does not say); `reason`: why not. Rows are counted after duplicates by key were dropped; `joined`: rows of
    both sides with the same key. `columns`: decisions on cells of joined rows by column, without key columns.
    """

    usable: bool | None
    reason: str
    gold_rows: int
    predicted_rows: int
    joined: int
    columns: dict[str, Tally]


class FactFigures(Frozen):
    """Counts of a facts trial. For each of the first `MAX_K` tool calls, `hits`: whether it matched a fact, and `fresh`:
    how many of the world's `facts` it matched for the first time.
    """

    facts: int
    hits: tuple[bool, ...]
    fresh: tuple[int, ...]


class StepFigures(Frozen):
    """A reached checkpoint, and the type of its ambiguity ("" for an unambiguous one)."""

    record: StepRecord
    ambiguity: str


class Details(Frozen):
    """What error analysis reads of one trial. `tools`: the agent's
    calls by tool. `raw`: the beginning of an unusable prediction (at most `RAW` characters); `reason`: why it is
    unusable. The figures of other families are None. `statuses`: the agent's turns by `CheckpointStatus`.
    """

    tools: dict[str, int]
    handed_in: HandedIn
    reason: str = ""
    raw: str = ""
    graph: GraphFigures | None = None
    table: TableFigures | None = None
    facts: FactFigures | None = None
    steps: tuple[StepFigures, ...] | None = None
    statuses: dict[str, int] = {}


def _read_details(body: str) -> Details:
    told = from_json(body)
    graph = told["graph"]
    if graph is None:
        return Details.model_validate_json(body)
    # As they were written, without checks: they have many tallies, and tables read those of thousands of trials.
    graph["relations"] = {name: _tally(*tally) for name, tally in graph["relations"].items()}
    graph["stages"] = {int(stage): _tally(*tally) for stage, tally in graph["stages"].items()}
    return Details.unchecked(**{**told, "graph": GraphFigures.unchecked(**graph)})


class TrialFigures:  # noqa: PLW1641 - holds dictionaries
    """Everything that tables and error analysis read of one trial. `measures`: as of `score_trial`. Kept figures
    (`read`) give their `details` when they are first asked for: most tables need none.
    """

    __slots__ = ("_details", "beside", "measures")

    def __init__(self, measures: Measures, details: Details | str) -> None:
        self.measures = measures
        self._details = details
        # What was counted of this trial and others together, by whoever counts; it is gone when they are.
        self.beside: dict[object, object] | None = None

    @classmethod
    def read(cls, body: str) -> TrialFigures:
        """As `kept` gave them."""
        numbers, names, details = body.split("\n", 2)
        values, counts, reasons = from_json(numbers)  # In a quarter of the time of `json`.
        told = _reasons(reasons or "[]")
        return cls(Measures(_names(names), values, counts, told), details)

    @property
    def kept(self) -> str:
        """A line of numbers, one of names, one of details: what is the same in every trial is read once."""
        told = self.measures
        reasons = [[at, reason] for at, reason in sorted(told.reasons.items())]
        numbers = [list(told.values), list(told.counts), json.dumps(reasons) if reasons else ""]
        return "\n".join(
            (json.dumps(numbers), json.dumps(told.names), self.details.model_dump_json())
        )

    @property
    def details(self) -> Details:
        if isinstance(self._details, str):
            self._details = _read_details(self._details)
        return self._details

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrialFigures):
            return NotImplemented
        return (tuple(self.measures), self.details) == (tuple(other.measures), other.details)

    @property
    def tools(self) -> dict[str, int]:
        return self.details.tools

    @property
    def handed_in(self) -> HandedIn:
        return self.details.handed_in

    @property
    def reason(self) -> str:
        return self.details.reason

    @property
    def raw(self) -> str:
        return self.details.raw

    @property
    def graph(self) -> GraphFigures | None:
        return self.details.graph

    @property
    def table(self) -> TableFigures | None:
        return self.details.table

    @property
    def facts(self) -> FactFigures | None:
        return self.details.facts

    @property
    def steps(self) -> tuple[StepFigures, ...] | None:
        return self.details.steps

    @property
    def statuses(self) -> dict[str, int]:
        return self.details.statuses

    @property
    def unusable(self) -> str:
        """Why nothing of the prediction could be scored; empty where something could."""
        if self.table is not None and self.table.usable is False:
            return self.reason or self.table.reason
        return self.reason

    def measure(self, name: str) -> Measure | None:
        at = self.measures.places.get(name)
        return None if at is None else self.measures[at]

    def value(self, name: str) -> float | None:
        told = self.measures
        at = told.places.get(name)
        return None if at is None else told.values[at]


@lru_cache(maxsize=1024)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=1024)
def _reasons(text: str) -> Mapping[int, str]:
    return dict(json.loads(text))


def figures_of(task: Task, events: Sequence[Event], judgement: Judgement) -> TrialFigures:
    """The figures of a trial on `task` from its effective log, whose long texts may be cut (`Archive.outline`)."""
    from cuecard.core.families.registry import family_of

    prediction = prediction_of(events)
    unusable = prediction if isinstance(prediction, UnusablePrediction) else None
    own = family_of(task).figures(task.gold, prediction, events, judgement)
    details = Details(
        tools=tool_calls_by_name(events),
        handed_in=_handed_in(prediction, events),
        reason=unusable.reason if unusable else "",
        raw=unusable.raw[:RAW] if unusable else "",
    )
    measures = Measures.of(score_trial(task, events, judgement))
    return TrialFigures(measures, details.model_copy(update=own))


def _handed_in(prediction: Prediction, events: Sequence[Event]) -> HandedIn:
    if not any(isinstance(event.body, Concluded) for event in events):
        return "nothing"
    return prediction.kind


def tallies(counts: Mapping[Key, Counter[Decision]]) -> dict[Key, Tally]:
    return {
        key: Tally(
            yes=found[Decision.YES], no=found[Decision.NO], unjudged=found[Decision.UNJUDGED]
        )
        for key, found in counts.items()
    }
