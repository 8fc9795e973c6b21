"""The probes of an exam, what one input of it is, and the draws by which it is made: the same task and seed give the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Generic, TypeVar

from cuecard.core.families.registry import Parts
from cuecard.core.i18n import N_, _, beside
from cuecard.core.predictions import Prediction
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.gold import G
from cuecard.core.tasks.models import Family, Task, content_hash
from cuecard.core.tasks.yaml_io import parse_task
from cuecard.core.verdicts import Item

T = TypeVar("T")
SCHEME: Final = 1
"""Of these probes: an exam made with another number is not continued, and not read."""
MOST_TARGETS: Final = 2
"""Target items of one probe in one task; as many again where a table's rules decide without a judge."""
WINDOW: Final = 20
"""Gold items in one input at most, so that an exam of a large graph costs no more than one of a small one."""
PADDING: Final = {"triples": 50, "table": 10}
"""Items of another task that V05 adds."""


class Probe(Frozen):
    """One probe. `right`: the right verdict on its target items; None where verdicts are held against those on another
    input, which must not differ. `fault`: what a judge does that is told by this probe. All marked for translation.
    """

    id: str
    name: str
    right: bool | None
    fault: str

    @property
    def known(self) -> bool:
        return self.right is not None

    @property
    def label(self) -> str:
        """`negated (K26)`, translated."""
        return beside(_(self.name), self.id)


def _yes(id: str, name: str, fault: str) -> Probe:
    return Probe(id=id, name=name, right=True, fault=fault)


def _no(id: str, name: str, fault: str) -> Probe:
    return Probe(id=id, name=name, right=False, fault=fault)


def _same(id: str, name: str, fault: str) -> Probe:
    return Probe(id=id, name=name, right=None, fault=fault)


PROBES: Final[dict[str, Probe]] = {
    probe.id: probe
    for probe in (
        _yes("K01", N_("gold as it stands"), N_("refuses gold itself")),
        _yes("K02", N_("an alias for a name"), N_("blind to aliases")),
        _yes("K03", N_("a name written otherwise"), N_("refuses names written otherwise")),
        _yes("K04", N_("a number written otherwise"), N_("refuses numbers written otherwise")),
        _yes("K05", N_("a date written otherwise"), N_("refuses dates written otherwise")),
        _yes("K06", N_("a unit converted"), N_("refuses converted units")),
        _yes("K07", N_("one item told by two"), N_("refuses what two items tell together")),
        _yes("K08", N_("more said than asked"), N_("refuses what says more than was asked")),
        _no("K20", N_("left out"), N_("accepts what was not handed in")),
        _no("K21", N_("a sibling's value"), N_("accepts another item's value")),
        _no("K22", N_("a sibling's head"), N_("accepts another head")),
        _no("K23", N_("direction turned"), N_("ignores direction")),
        _no("K24", N_("number or date shifted"), N_("ignores numbers")),
        _no("K25", N_("wrong unit"), N_("ignores units")),
        _no("K26", N_("negated"), N_("blind to negation")),
        _no("K27", N_("a filler for a value"), N_("yields to fillers")),
        _no("K28", N_("hedged"), N_("accepts two answers at once")),
        _no("K29", N_("key of the row changed"), N_("joins rows of other keys")),
        _yes("K30", N_("columns shuffled"), N_("loses columns in another order")),
        _yes("K31", N_("column names in another spelling"), N_("loses renamed columns")),
        _no("K32", N_("columns under each other's heads"), N_("ignores heads of columns")),
        _same("V01", N_("the same input twice"), N_("not deterministic")),
        _same("V02", N_("gold reversed"), N_("depends on gold's order")),
        _same("V03", N_("predicted items shuffled"), N_("depends on the order handed in")),
        _same("V04", N_("smaller batches"), N_("depends on the size of a batch")),
        _same("V05", N_("items of another task added"), N_("distracted by other items")),
        _same("V06", N_("words to the judge"), N_("obeys words in the answer")),
        _same("V07", N_("prompt in the other language"), N_("depends on the prompt's language")),
        _same("V08", N_("neutral words added"), N_("swayed by length")),
        _same("V09", N_("first, middle, last"), N_("depends on the place in the list")),
        _same("V10", N_("capitals, blanks, width"), N_("depends on capitals and blanks")),
        _same("V11", N_("a fluent, sure sentence"), N_("swayed by a sure tone")),
    )
}


class Target(Frozen):
    """An item of an input that counts. `at`: its name, by which two inputs are held against each other; `right`: the right
    verdict is yes; `rule`: decided by code, whatever judge is examined. `gold` and `given`: as gold has it and as handed in.
    """

    at: str
    item: Item
    right: bool
    rule: bool = False
    gold: str = ""
    given: str = ""


@dataclass(frozen=True)
class ExamInput:
    """What a judge is given: `task` (with at most `WINDOW` items of gold, or gold in another order), and what is handed in.

    `key` names it within its task: `K21`, `V09/last`. `base`: the key of the input whose verdicts must be the same; "" for
    inputs with known answers, and for those that others are held against, whose targets count in no figure of their own.
    """

    key: str
    task: Task
    prediction: Prediction
    targets: tuple[Target, ...]
    base: str = ""

    @property
    def probe(self) -> Probe | None:
        """None for an input that only others are held against."""
        known = PROBES.get(self.key.partition("/")[0])
        return known if known is not None and (known.known or self.base) else None


@dataclass(frozen=True)
class Draw:
    """All choices: by SHA-256 over the hash of the task's revision, the probe, the seed and the item's index."""

    revision: str
    seed: int = 0

    @classmethod
    def of(cls, task: Task, seed: int = 0) -> Draw:
        return cls(content_hash(task), seed)

    def number(self, probe: str, index: int) -> int:
        text = f"{self.revision}\n{probe}\n{self.seed}\n{index}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def order(self, probe: str, items: Sequence[T]) -> list[T]:
        """The items in an order of chance."""
        places = sorted(range(len(items)), key=lambda index: self.number(probe, index))
        return [items[index] for index in places]


def window(count: int, held: Sequence[int]) -> list[int]:
    """The places, ascending, of at most `WINDOW` of so many items: those held, and what follows the first of them."""
    chosen = dict.fromkeys(held)
    start = min(held, default=0)
    for step in range(count):
        if len(chosen) >= WINDOW:
            break
        chosen.setdefault((start + step) % count)
    return sorted(chosen)


@dataclass(frozen=True)
class ExamFamily(Generic[G]):
    """What the exam knows of a family. `inputs` gives those of one task; `others` are tasks of the same family to take other
    items from. `calls`: how many calls a judge on a model makes for one at most, with so many items in a call, if every
    answer can be read. `never`: ids of probes that do not apply to the family.
    """

    inputs: Callable[[Task, G, Draw, Sequence[Task]], Iterator[ExamInput]]
    calls: Callable[[ExamInput, int], int]
    never: tuple[str, ...]


_HERE = "cuecard.core.exam"
EXAMS: Parts[ExamFamily[Any]] = Parts(
    "part in exams of judges",
    {
        "graph": f"{_HERE}.graphs:GRAPH",
        "table": f"{_HERE}.tables:TABLE",
        "checkpoints": f"{_HERE}.answers:CHECKPOINTS",
        "facts": f"{_HERE}.answers:FACTS",
    },
    "cuecard.exams",
)
"""The `ExamFamily` of every family, by its name."""


@cache
def sample_tasks() -> tuple[Task, ...]:
    """The sample tasks, which are the same everywhere: V05 adds their items, and K29 takes their keys."""
    folder = resources.files("cuecard") / "sample_tasks"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return tuple(parse_task(f.read_text(encoding="utf-8"), f.name) for f in files)


def inputs_of(task: Task, *, seed: int = 0) -> tuple[ExamInput, ...]:
    """The inputs of a task's exam. Raises `MissingPart` for a family that has none."""
    part = EXAMS[task.family]
    near = [t for t in sample_tasks() if t.family == task.family and t.id != task.id]
    near.sort(key=lambda other: other.language != task.language)
    return tuple(part.inputs(task, task.gold, Draw.of(task, seed), near))


def never_for(family: Family) -> tuple[str, ...]:
    """Ids of the probes that do not apply to a family."""
    return EXAMS[family].never
