"""What the engine knows of each family of tasks: one `CoreFamily`, looked up by the family's name.

What ships with us is loaded when it is first asked for. Another package's family is made known by `register`:

    register(CoreFamily(name="ranking", gold=Ranking, label="Ranking tasks", ...))

A part that is left out of it is an error of the type checker, and a `TypeError` when it is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from cuecard.core.tasks.gold import FAMILIES, Family, G, gold_class, register_gold

if TYPE_CHECKING:
    from cuecard.core.agents.briefing import Approach, PublicTask
    from cuecard.core.agents.offline_search import Notes, Searcher
    from cuecard.core.config_players import Settings
    from cuecard.core.engine.events import Event
    from cuecard.core.engine.messages import AgentReply, Dialogue
    from cuecard.core.engine.step_context import CallContext
    from cuecard.core.families.checkpoints.gold import CheckpointChain
    from cuecard.core.families.facts.gold import Fact
    from cuecard.core.gold_changes import ItemChange
    from cuecard.core.judges.model_asking import ModelAsks
    from cuecard.core.rescoring import Carry
    from cuecard.core.tasks.models import Task
    from cuecard.core.verdicts import GoldItem, Item, Judged, Judgement, Measure, Prediction
    from cuecard.core.worlds.background import Secrets
    from cuecard.core.worlds.finding import Index
    from cuecard.core.worlds.statements import Statement

P = TypeVar("P")
R = TypeVar("R")


class MissingPart(LookupError):
    """A family is known, but not to this part of the program."""


class Parts(Mapping[Family, P]):
    """What one part of the program knows of every family. `shipped`: where those of ours are: `module:name`.

    Reading it, or walking over it, fails with `MissingPart` where a family has gold and nothing here: no table that
    is made from it can leave a family out.
    """

    def __init__(self, what: str, shipped: Mapping[Family, str]) -> None:
        self._what = what
        self._shipped = dict(shipped)
        self._parts: dict[Family, P] = {}

    def register(self, name: Family, part: P) -> None:
        """Raises `ValueError` where the name is not that of a family, or is taken."""
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
        if name not in self._shipped:
            raise MissingPart(f"the family {name!r} has no {self._what}")
        module, _colon, attribute = self._shipped[name].partition(":")
        return cast(P, getattr(import_module(module), attribute))

    def __iter__(self) -> Iterator[Family]:
        return iter(FAMILIES)

    def __len__(self) -> int:
        return len(FAMILIES)

    def each(self, get: Callable[[P], R]) -> Mapping[Family, R]:
        """One thing of every family, by the family's name; it grows as families are registered."""
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
    """All that the engine knows of a family, apart from the gold itself (`core.tasks.gold.Gold`).

    Words: `label`, marked for translation ("Graph tasks").

    Scoring: `measures` tell how good a trial was, the first standing for it; `headlines` are those that a table of
    results shows; `main` orders agents; `known_by` is the one that says how much of the gold was known, in [0, 1];
    `bar` is a measure, and what a trial must reach of it not to have failed; `judged` are those that verdicts change;
    `of_log` can only be had from a log. `score` gives them, and `unjudged`, of what was handed in;
    `figures` what figures of a trial hold besides, by the fields of `TrialFigures`.

    Handing in: `handed_in` is the kind of prediction; `read` finds it in a text (a reason, marked for translation,
    where there is none); `read_json` reads it from JSON (raises `ValidationError`); `conclusion` is the prompt that
    asks for it, `from_memory` the one that asks a model without tools for what it knows.

    Judging: `judge` without a model and `ask` with one, None where the prediction is of another kind; `judge_prompts`
    are what `ask` needs; `refuse` says no to everything, with a reason. `item` is a gold item for people (raises
    `LookupError` or `ValueError` where there is none), `item_text` in one line of a file, `target` the whole.

    Playing: `approach` is what an agent is told by the settings of its configuration; `columns` those of a table that
    the query names; `offline` one turn of the offline agent, `calls` its searches in a turn, `conclude` what it hands
    in. `statements` are the closed world's, `index` finds one for a query; `entities`: those that statements are
    about are secret as well; `topics`: what statements say is told of as background.

    What its gold is besides, for whatever plays, examines or shows it: `chain` are the steps through which the user
    leads the agent and releases clues (None: the user follows the persona, or asks the query), `facts` what the world
    is closed over (none: it is about the world as it is).

    Changes: `changes` between two revisions' gold items; `effective`: what the user or the world plays from, by a name
    that is marked for translation; `carry` takes a judgement from one revision to the next.
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


_SHIPPED = ("graph", "table", "checkpoints", "facts")
CORE: Parts[CoreFamily[Any]] = Parts(
    "part in the engine",
    {name: f"cuecard.core.families.{name}.family:{name.upper()}" for name in _SHIPPED},
)
"""What the engine knows of each family, by its name."""


def register(family: CoreFamily[Any]) -> None:
    """Make a family known to the engine: its tasks can be read, played, judged, scored and exported from now on.
    Raises `ValueError` where it does not fit its class of gold, or the name is taken.
    """
    if family.name in FAMILIES and gold_class(family.name) is not family.gold:
        raise ValueError(f"there is a family {family.name!r} already")
    name = register_gold(family.gold)
    if name != family.name:
        raise ValueError(f"{family.gold.__name__} is gold of the family {name!r}")
    CORE.register(name, family)


def family_of(task: Task) -> CoreFamily[Any]:
    """What the engine knows of a task's family."""
    return CORE[task.family]


def chain_of(task: Task) -> CheckpointChain | None:
    """The steps through which the user of a task leads the agent; None where the user does not."""
    return family_of(task).chain(task.gold)


def facts_of(task: Task) -> tuple[Fact, ...]:
    """The facts that a task's world is closed over; none where it has no world of its own."""
    return family_of(task).facts(task.gold)
