"""The registry of families in core: one `CoreFamily` for each, looked up by the family's name.

Our own families are imported on first use, and so is one that another package names by entry point in `cuecard.families`.
A program makes one known by `register`:

    register(CoreFamily(name="ranking", gold=Ranking, label="Ranking tasks", ...))

A missing part is an error of the type checker, and a `TypeError` at run time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from cuecard.core.plugins import imported, load, registered
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.gold import FAMILIES, GROUP, Family, G, gold_class, register_gold

if TYPE_CHECKING:
    from cuecard.core.agents.briefing import Approach, PublicTask
    from cuecard.core.agents.offline_search import Notes, Searcher
    from cuecard.core.config_players import Settings
    from cuecard.core.engine.events import Event
    from cuecard.core.engine.messages import AgentReply, Dialogue
    from cuecard.core.engine.step_context import CallContext
    from cuecard.core.families.checkpoints.gold import CheckpointChain
    from cuecard.core.families.facts.gold import Fact
    from cuecard.core.judges.model_asking import ModelAsks
    from cuecard.core.predictions import Prediction
    from cuecard.core.rescoring import Carry, ItemChange
    from cuecard.core.tasks.models import Task
    from cuecard.core.verdicts import GoldItem, Item, Judged, Judgement, Measure
    from cuecard.core.worlds.background import Secrets
    from cuecard.core.worlds.finding import Index
    from cuecard.core.worlds.statements import Statement

P = TypeVar("P")
R = TypeVar("R")


class MissingPart(LookupError):
    """A family's gold is registered, but this part of the program has nothing registered for it."""


class Parts(Mapping[Family, P]):
    """A registry of what one part of the program needs of every family. `shipped`: our own families' objects, as
    `module:name`; those of other packages are registered by hand, or as entry points of `group` by the family's name.

    Reading it, or iterating over it, raises `MissingPart` for a family whose gold is registered and that has nothing
    here, so that no table made from it leaves a family out.
    """

    def __init__(self, what: str, shipped: Mapping[Family, str], group: str) -> None:
        self._what = what
        self.group = group
        self._shipped = dict(shipped)
        self._parts: dict[Family, P] = {}

    def register(self, name: Family, part: P) -> None:
        """Register the part of a family. Raises `ValueError` if the name is no family's, or is taken."""
        if name not in FAMILIES:
            raise ValueError(f"there is no family {name!r}; register its gold first")
        if name in self._parts or name in self._shipped:
            raise ValueError(f"{self._what} of the family {name!r} is registered already")
        self._parts[name] = part

    def forget(self, name: Family) -> None:
        del self._parts[name]

    def __getitem__(self, name: Family) -> P:
        part = self._parts.get(name)
        if part is None:
            part = self._load(name)
            self._parts[name] = part
        return part

    def _load(self, name: Family) -> P:
        if name not in FAMILIES:
            raise KeyError(name)
        if name in self._shipped:
            return imported(self._shipped[name])
        if name in registered(self.group):
            return load(registered(self.group)[name])
        raise MissingPart(f"the family {name!r} has no {self._what}")

    def __iter__(self) -> Iterator[Family]:
        return iter(FAMILIES)

    def __len__(self) -> int:
        return len(FAMILIES)

    def each(self, get: Callable[[P], R]) -> Mapping[Family, R]:
        """A live mapping from each family's name to one attribute of its part."""
        return _Column(self, get)


class _Column(Mapping[Family, R]):
    def __init__(self, parts: Parts[P], get: Callable[[P], R]) -> None:
        self._parts: Parts[Any] = parts
        self._get: Callable[[Any], R] = get

    def __getitem__(self, name: Family) -> R:
        return self._get(self._parts[name])

    def __iter__(self) -> Iterator[Family]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


@dataclass(frozen=True, kw_only=True)
class CoreFamily(Generic[G]):
    """Everything that core needs of a family besides its gold (`core.tasks.gold.Gold`).

    Words: `label`, marked for translation ("Graph tasks").

    Scoring: `measures` are the family's measures, the main one first; `headlines` those that result tables show; `main`
    ranks agents; `known_by` is the share of gold that was known, in [0, 1], for probes; `bar` is a measure and the value
    below which a trial has failed; `judged` are those that depend on verdicts; `of_log` those that need a log; `of_end`: none
    needs more than what was handed in. `score` computes them, and `unjudged`, for a prediction; `figures` gives the family's fields of `TrialFigures`.

    Predictions: `handed_in` is their kind; `read` parses one from a text (or returns a reason, marked for translation);
    `read_json` parses one from JSON (raises `ValidationError`); `conclusion` is the prompt that asks for it,
    `from_memory` the one that asks a model without tools for what it knows.

    Judging: `judge` without a model and `ask` with one return None for a prediction of another kind; `judge_prompts`
    are the prompts of `ask`; `refuse` gives `no` for all items, with a reason. `item` is a gold item for people (raises
    `LookupError` or `ValueError` if there is none), `item_text` its line in files, `target` the whole gold as text.

    Playing: `approach` is the agent's prompts and tools by its settings; `columns` are the table columns that the query
    names; `offline` is one turn of the offline agent, `calls` its searches per turn, `conclude` its prediction.
    `statements` are the closed world's, and `index` finds one for a query; `entities`: the subjects of statements are
    secret too; `topics`: background pages are about the statements' attributes.

    Structure of the gold: `chain` gives the steps through which the user leads the agent and releases clues (None: the
    user follows the persona, or asks the query); `facts` the facts of a closed world (none: the task is about the real
    world).

    Changes: `changes` compares two revisions' gold items; `effective` gives the parts of gold that the user or the world
    uses in play, by a name marked for translation; `carry` carries a judgement over to the next revision.
    """

    name: Family
    gold: type[G]
    label: str

    measures: tuple[str, ...]
    headlines: tuple[str, ...]
    main: str
    known_by: str
    bar: tuple[str, float]
    judged: tuple[str, ...]
    of_log: tuple[str, ...]
    of_end: bool = False
    score: Callable[[Task, G, Prediction, Sequence[Event], Judgement], tuple[Measure, ...]]
    figures: Callable[[G, Prediction, Sequence[Event], Judgement], Mapping[str, object]]

    handed_in: Literal["triples", "table", "answer"]
    read: Callable[[str, str], Prediction | str]
    read_json: Callable[[str], Prediction]
    conclusion: str
    from_memory: str

    judge: Callable[[Task, G, Prediction], Judged | None]
    ask: Callable[[ModelAsks, Task, G, Prediction, CallContext], Awaitable[Judged | None]]
    judge_prompts: tuple[str, ...]
    refuse: Callable[[G, str], Judged]
    item: Callable[[Task, G, Item], GoldItem]
    item_text: Callable[[G, Item], str]
    target: Callable[[G], str | tuple[str, ...]]

    approach: Callable[[G, Settings], Approach]
    columns: Callable[[Task, G], tuple[str, ...]]
    offline: Callable[[PublicTask, Dialogue, Searcher], Awaitable[AgentReply]]
    calls: int
    conclude: Callable[[PublicTask, Dialogue, Notes], Prediction]
    statements: Callable[[Task, G], Sequence[Statement]]
    index: Callable[[G, Secrets], Index]
    entities: bool
    topics: bool

    chain: Callable[[G], CheckpointChain | None]
    facts: Callable[[G], tuple[Fact, ...]]

    changes: Callable[[G, G], tuple[ItemChange, ...]]
    effective: Callable[[G], Mapping[str, object]]
    carry: Callable[[Task, Task, Prediction, Judgement | None], Carry]


CORE: Parts[CoreFamily[Any]] = Parts(
    "part in the engine",
    {name: f"cuecard.core.families.{name}.family:{name.upper()}" for name in SHIPPED},
    GROUP,
)
"""The `CoreFamily` of every family, by its name."""


def register(family: CoreFamily[Any]) -> None:
    """Register a family, so that its tasks can be read, played, judged, scored and exported. Raises `ValueError` if it
    does not fit its class of gold, or the name is taken.
    """
    if family.name in FAMILIES and gold_class(family.name) is not family.gold:
        raise ValueError(f"there is a family {family.name!r} already")
    name = register_gold(family.gold)
    if name != family.name:
        raise ValueError(f"{family.gold.__name__} is gold of the family {name!r}")
    CORE.register(name, family)


def family_of(task: Task) -> CoreFamily[Any]:
    """The `CoreFamily` of a task's family."""
    return CORE[task.family]


def chain_of(task: Task) -> CheckpointChain | None:
    """The steps through which the user of a task leads the agent; None where the user does not."""
    return family_of(task).chain(task.gold)


def facts_of(task: Task) -> tuple[Fact, ...]:
    """The facts that a task's world is closed over; none where it has no world of its own."""
    return family_of(task).facts(task.gold)
