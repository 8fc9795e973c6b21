"""What the tools of authors, reviewers and evaluators know of each family: one `AnnotateFamily`, looked up by name.

Another package's family is made known by `ANNOTATE.register(name, AnnotateFamily(...))`, after the engine's part
(`core.families.registry`). A part that is left out is an error of the type checker, and a `TypeError` when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from cuecard.core.families.registry import MissingPart, Parts
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.gold import Family, G

if TYPE_CHECKING:
    from cuecard.annotate.authoring.schema import Links, Shape
    from cuecard.annotate.independent_gold.matching import GoldComparer
    from cuecard.annotate.lint.case import Case
    from cuecard.annotate.lint.codes import Finding
    from cuecard.annotate.results import PaperTable
    from cuecard.annotate.results.trial_against_gold import Against
    from cuecard.annotate.results.trial_record import HitLog
    from cuecard.core.engine.events import Event
    from cuecard.core.engine.messages import CheckpointStatus
    from cuecard.core.i18n import Language
    from cuecard.core.predictions import Prediction
    from cuecard.core.scoring.trial_score import TrialFigures
    from cuecard.core.tasks.base import OriginKind
    from cuecard.core.tasks.models import Task
    from cuecard.core.validation import Place
    from cuecard.core.verdicts import Decision, Item, Judgement


Decided = Mapping[str, "Decision | CheckpointStatus | None"]
"""What a machine decided, by the item's key; None: it did not decide."""


@dataclass(frozen=True)
class Dimension:
    """`key` is stored with reviews and never changes; translate `label` and `help` when shown."""

    key: str
    label: str
    help: str


@dataclass(frozen=True)
class GoldElement:
    """An item of gold: its place in the task, and for a triple what it says by its parts, and its relation."""

    path: Place
    parts: tuple[str, ...] = ()
    relation: str = ""


class GoldAnswer(NamedTuple):
    """What gold says at one place. `key`: of the item, or `step/1`, `fact/0` for what is found while a trial is played;
    `asked`: what is asked there, for people; `values`: all that is right there; `beside`: names of what it is said of, of which
    its page names one too. `single`: nothing else can be right there.
    """

    key: str
    path: Place
    asked: str
    values: tuple[str, ...]
    beside: tuple[str, ...] = ()
    single: bool = True
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answers(Generic[G]):
    """Gold as answers at places. `told`: of each prediction, what stands there at the places with these keys, right
    or wrong, by key (more does no harm); `played`: what is found while a trial is played, by key, from its whole log (None:
    nothing is).
    """

    gold: Callable[[G], tuple[GoldAnswer, ...]]
    told: Callable[
        [G, Iterable[Prediction], Collection[str]], Iterator[Mapping[str, Sequence[str]]]
    ]
    played: Callable[[G, Sequence[Event]], Mapping[str, bool]] | None = None


class Cause(StrEnum):
    """Why a trial failed, in the order in which causes are checked; `UNJUDGED` is no failure."""

    API_ERROR = "api_error"
    CONTEXT_OVERFLOW = "context_overflow"
    ERROR_LOOP = "error_loop"
    EMPTY_RESPONSE = "empty_response"
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"
    UNJUDGED = "unjudged"
    FORMAT_FAILURE = "format_failure"
    NOTHING_HANDED_IN = "nothing_handed_in"
    OUT_OF_TURNS = "out_of_turns"
    COLUMNS_UNMAPPED = "columns_unmapped"
    GUESSED = "guessed"
    ASKED_WRONGLY = "asked_wrongly"
    NEVER_FOUND = "never_found"
    STOPPED_EARLY = "stopped_early"
    WRONG_ANSWER = "wrong_answer"
    MISSING_ROWS = "missing_rows"
    WRONG_CELLS = "wrong_cells"
    TOO_LITTLE = "too_little"
    TOO_MUCH = "too_much"


@dataclass(frozen=True)
class Errors:
    """What goes wrong in tasks of a family. `count` are fields of an arm's `ArmErrors`, from its judged trials and the
    last call of a fixed cohort's curves; `columns` and `notes` those of the table of errors, translated.
    """

    count: Callable[[Any, int | None], Mapping[str, Any]]
    columns: Callable[[], Sequence[tuple[str, Callable[[Any], Any]]]]
    notes: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, kw_only=True)
class AnnotateFamily(Generic[G]):
    """All that is known of a family where tasks are written, reviewed, labelled and compared.

    Authoring: `drafts` are what a model can draft, the gold first; `persona`: a new task begins with one; `blank` is
    the gold of a new task; `independent` is what building it a second time needs (None: it is not built twice);
    `written` is gold as far as it is written, from a draft's data. `fields` are those of gold as authors call them;
    `staged` is the list of it whose items say which stage they answer ("": none does), `links` what else of it refers
    to something by where that stands (`Links`: nothing). `guidelines` are for authors who
    read a language; `lint` are the rules that find what is
    wrong with it.

    Reviewing and labelling: `dimensions` are what reviewers rate; `stratum` is what they check some of each of (None:
    items that stand together); `element` is where an item stands, None where the gold has no such item; `terms` are what to look for in a dialogue that tells about an item, the
    most telling first. `answers` is gold by places, for what trials say of it. `decided` are the items that scores follow from besides those that the judge decided, with what
    the machine decided; `corrected` is a judgement with people's decisions in place of the judge's, by the item's key.

    Results: `cause` is why a trial has failed; `against` is what was handed in beside the gold; `compared` are
    the measures of a comparison of designs; `paper` is the main table of its paper.
    """

    drafts: tuple[OriginKind, ...]
    persona: bool
    blank: Callable[[], dict[str, Any]]
    independent: GoldComparer[G] | None
    written: Callable[[Mapping[str, Any]], G]
    fields: Mapping[str, Shape]
    staged: str
    links: type[Links]
    guidelines: Callable[[Language], str]
    lint: tuple[Callable[[Case], Iterable[Finding]], ...]

    dimensions: tuple[Dimension, ...]
    stratum: Callable[[G, int], Hashable]
    element: Callable[[G, Item], GoldElement | None]
    terms: Callable[[G, Item, Prediction], tuple[str, ...]]
    answers: Answers[G]
    decided: Callable[[G, Sequence[Event], Judgement], Decided]
    corrected: Callable[[G, Judgement, Mapping[str, Decision]], Judgement]

    cause: Callable[[TrialFigures], Cause]
    against: Callable[[G, Prediction, Judgement | None, HitLog], Against]
    compared: tuple[str, ...]
    paper: PaperTable
    errors: Errors


ANNOTATE: Parts[AnnotateFamily[Any]] = Parts(
    "part in the tools of authors and evaluators",
    {name: f"cuecard.annotate.families.{name}:{name.upper()}" for name in SHIPPED},
    "cuecard.families.annotate",
)
"""What these tools know of each family, by its name."""


def built_twice(family: Family) -> GoldComparer[Any]:
    """What building gold of the family a second time needs. Raises `MissingPart` where it is not built twice."""
    found = ANNOTATE[family].independent
    if found is None:
        raise MissingPart(f"gold of the family {family!r} is not built twice")
    return found


def element_of(task: Task, item: Item) -> GoldElement | None:
    """Where an item of gold stands; None where this revision of the task has no such item."""
    return ANNOTATE[task.family].element(task.gold, item)
