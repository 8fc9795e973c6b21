"""Quality probes as data: their settings, the tasks they apply to, and their results."""

from typing import Annotated, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from cuecard.core.config_schema import Config, QcConfig
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.families.checkpoints.gold import Checkpoint
from cuecard.core.families.registry import chain_of, facts_of
from cuecard.core.i18n import _
from cuecard.core.players import DEFAULT_WORLD, kind_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import CueKind, Stage, Task

ProbeName = Literal["closed_book", "open_book", "ambiguity", "laws", "with_facts"]
PROBES: tuple[ProbeName, ...] = get_args(ProbeName)
ATTEMPTS: tuple[ProbeName, ...] = ("closed_book", "open_book", "with_facts")
"""Probes in which a model attempts the task and is judged; in the others an examiner is shown the task."""

_GOOD_WHEN_RIGHT: tuple[ProbeName, ...] = ("laws", "with_facts")

Why = Literal["", "not_applicable", "no_model", "open", "failed", "unusable", "unjudged"]
"""Why there is no result: the probe says nothing about such tasks; no model can be called; the trial has
not ended; a call failed; the examiner gave no usable answer; the judge has not decided.
"""


class ProbeResult(Frozen):
    """One attempt at a task, one examination of it, or the reason why there was none.

    `run_id`, `trial_id`: where it is recorded, None where nothing was played. `model`: the name in the
    configuration, "" for our own rules. `baseline`: an embedded player tried, or the world was one that
    answers from the gold; that is no evidence about models.

    `right` depends on the probe. closed_book, open_book, with_facts: whether `score` (0 to 1) reached the bar.
    ambiguity: whether the ambiguity can be resolved without retrieval; `score` is the share of candidates or stages
    that were named unseen. laws: whether the facts are consistent and plausible. It is None if there is a reason in
    `skipped` and `why`.

    `findings`: what was found, for people. `cost`: None where the model has no price.
    """

    probe: ProbeName
    run_id: int | None = None
    trial_id: int | None = None
    model: str = ""
    baseline: bool = False
    sample: int = 0
    score: float | None = None
    right: bool | None = None
    findings: tuple[str, ...] = ()
    skipped: str = ""
    why: Why = ""
    cost: float | None = None

    @property
    def flagged(self) -> bool | None:
        """Whether this result speaks against the task; None if it says nothing."""
        if self.right is None:
            return None
        return self.right is not (self.probe in _GOOD_WHEN_RIGHT)


class ProbeOutcome(Frozen):
    """What `run_probe` did: its run, None where there was nothing to play, and the results by task.

    `left_open`: trials that wait to be resumed. `halt`: why the run stopped before its end. `problems`:
    what went wrong with players or judges, each once. `spent`: what workers spent on it, which no event told.
    """

    probe: ProbeName
    run_id: int | None = None
    results: dict[str, tuple[ProbeResult, ...]] = {}
    left_open: int = 0
    halt: str = ""
    problems: tuple[str, ...] = ()
    spent: float = 0.0


EXAMINER = "examiner"
"""The kind of an agent that looks at a task instead of trying it."""


class ProbeSetting(Frozen):
    """How a probe's trials are played. `baseline`: the offline agent plays, as there is no model. `search_calls`: most
    tool calls of an attempt that has tools. `right_at`: the score from which an attempt counts as right.
    """

    name: ProbeName
    baseline: bool = False
    search_calls: int = 25
    right_at: float = 0.8


class ExamSetting(Frozen):
    """Whose exam a run is (`core.exam`). `stamp`: a hash of the judge's model, prompts and settings; `seed` and `scheme`: by
    which its inputs are made.
    """

    judge: PlayerRef
    stamp: str
    seed: int = 0
    scheme: int = 1


def samples_of(probe: ProbeName, qc: QcConfig) -> int:
    """How many attempts each model makes; an examination is made once."""
    match probe:
        case "closed_book":
            return qc.closed_book
        case "open_book":
            return qc.open_book
        case "with_facts":
            return qc.with_facts
        case "ambiguity" | "laws":
            return 1


def models_of(probe: ProbeName, config: Config) -> tuple[str, ...]:
    """The names of the models that attempt the task, or of the one that examines it; empty if there are no models."""
    if probe in ("ambiguity", "laws"):
        examiner = config.qc.examiner or next(iter(config.models), "")
        return (examiner,) if examiner else ()
    return config.qc.models or tuple(config.models)


def world_of(probe: ProbeName, config: Config) -> str:
    """The world of the probe `open_book`: the one that the configuration names for probes, else its first web world,
    else the closed world. The other probes have no tools.
    """
    if probe != "open_book":
        return DEFAULT_WORLD
    webs = (
        name
        for name, world in config.worlds.items()
        if kind_of("world", world.kind).source == "web"
    )
    return config.qc.world or next(webs, DEFAULT_WORLD)


def not_applicable(probe: ProbeName, task: Task) -> str:
    """Why the probe says nothing about the task; "" if it does."""
    match probe:
        case "closed_book":
            return ""
        case "open_book":
            clear = _("the user opens with the full query: there is nothing to clarify")
            return clear if task.opening == task.query else ""
        case "ambiguity":
            return _not_examinable(task)
        case "laws" | "with_facts":
            return "" if facts_of(task) else _("only tasks over a world of facts have laws")


def ambiguous_steps(task: Task) -> tuple[tuple[int, Checkpoint], ...]:
    """The steps that are ambiguous on purpose, with their numbers from 1."""
    chain = chain_of(task)
    numbered = enumerate(chain.steps if chain else (), 1)
    return tuple((number, step) for number, step in numbered if step.ambiguity is not None)


def later_stages(task: Task) -> tuple[tuple[int, Stage], ...]:
    """The stages that are not disclosed by the opening, with their numbers from 1."""
    numbered = enumerate(task.stages, 1)
    return tuple((n, stage) for n, stage in numbered if stage.cue.kind is not CueKind.START)


def _not_examinable(task: Task) -> str:
    if chain_of(task):
        return "" if ambiguous_steps(task) else _("no step is ambiguous")
    if task.persona is None:
        return _("the user says everything at once: nothing is ambiguous on purpose")
    return "" if later_stages(task) else _("the persona has no stage beyond the opening")


class StepExamined(Frozen):
    """The examination of one ambiguous step (number from 1). `readings`, `error`: the examiner's answer to the question
    alone; `named`: which of the `candidates` were among the readings. The other fields: its answers when it knew the
    candidates; None without a usable answer.
    """

    step: int
    factual: bool = False
    candidates: tuple[str, ...]
    readings: tuple[str, ...] | None = None
    named: tuple[str, ...] = ()
    error: str = ""
    enumerable: bool | None = None
    error_recognisable: bool | None = None
    error_found: bool | None = None
    reason: str = ""


class ChainExamined(Frozen):
    kind: Literal["chain"] = "chain"
    steps: tuple[StepExamined, ...]


class StageGuessed(Frozen):
    """A stage (number from 1) that was foreseen, and the guess that foresaw it."""

    stage: int
    by: str


class NeedExamined(Frozen):
    """The examination of a persona. `guesses`: what the examiner expected after the opening; `guessed`: which of the
    later `stages` (numbers from 1) were among the guesses. None without a usable answer.
    """

    kind: Literal["need"] = "need"
    stages: tuple[int, ...]
    guesses: tuple[str, ...] | None = None
    guessed: tuple[StageGuessed, ...] | None = None
    reason: str = ""


class FactsAgainst(Frozen):
    """Facts (numbers from 1), and what is wrong with them, or with all of them together."""

    facts: tuple[int, ...]
    reason: str


class LawsExamined(Frozen):
    """The examination of a world of facts: contradictions and implausible facts. None without a usable answer."""

    kind: Literal["laws"] = "laws"
    contradictions: tuple[FactsAgainst, ...] | None = None
    implausible: tuple[FactsAgainst, ...] | None = None


Examination = Annotated[ChainExamined | NeedExamined | LawsExamined, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[Examination] = TypeAdapter(Examination)


def written(examination: Examination) -> str:
    """The examination as indented JSON, which is handed in."""
    return examination.model_dump_json(indent=2)


def read_examination(text: str) -> Examination | None:
    """The reverse of `written`; None for anything else."""
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError:
        return None


def says_nothing(examination: Examination) -> bool:
    """Whether the examiner gave no usable answer at all."""
    match examination:
        case ChainExamined(steps=steps):
            return all(step.enumerable is None and step.readings is None for step in steps)
        case NeedExamined(guessed=guessed):
            return guessed is None
        case LawsExamined(contradictions=contradictions):
            return contradictions is None
