"""Splitting, merging and counting the stages of a persona, and what the steps of a checkpoint chain still lack."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import STAGES, insert_item
from cuecard.annotate.authoring.task_data import blank_stage
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.i18n import N_
from cuecard.core.tasks.models import Difficulty
from cuecard.core.text import is_cjk, normalise, sentences

FEWEST, MOST = 8, 20
ASKS_LOW, ASKS_HIGH = 0.2, 0.4


def split_stage(edit: TaskEdit, index: int, at: int) -> None:
    """Split a stage's line at character `at` into two stages.

    The second one gets an empty cue. The triples stay with the first. One undo step. Raises `LookupError`.
    """
    stage = _stage(edit, index)
    line = str(stage.get("line", ""))
    first, second = line[:at].rstrip(), line[at:].lstrip()
    with edit.together((*STAGES, index + 1)):
        edit.set((*STAGES, index, "line"), first)
        title = _numbered(str(stage.get("title", "")))
        following = {**blank_stage(), "title": title, "line": second}
        insert_item(edit, STAGES, index + 1, following)


def merge_stage(edit: TaskEdit, index: int) -> None:
    """Merge a stage with the next one: lines are joined, terms and triples united. The result is disclosed when the
    first would have been, or, if that waits for a reply, at either cue. One undo step. Raises `LookupError` if there is
    no next stage.
    """
    first, second = _stage(edit, index), _stage(edit, index + 1)
    gone = index + 2
    with edit.together((*STAGES, index)):
        merged = {
            **first,
            "cue": _merged_cue(_cue(first), _cue(second)),
            "line": joined(str(first.get("line", "")), str(second.get("line", ""))),
            "not_met": str(first.get("not_met", "")) or str(second.get("not_met", "")),
        }
        edit.set((*STAGES, index), merged)
        edit.delete((*STAGES, index + 1))
        if path := ops.staged(edit):
            edit.set(path, [_renumbered(item, gone) for item in edit.items(path)])


def joined(first: str, second: str) -> str:
    """Two lines said as one; Chinese needs no blank between them."""
    first, second = first.rstrip(), second.lstrip()
    if not first or not second:
        return first or second
    if "\n" in first or "\n" in second:
        return f"{first}\n{second}"
    return f"{first}{second}" if is_cjk(first[-2:]) or is_cjk(second[0]) else f"{first} {second}"


def split_points(line: str) -> list[int]:
    """Where a line may be split: the positions, in characters, at which its sentences begin, without the first."""
    points: list[int] = []
    end = 0
    for sentence in sentences(line):
        start = line.find(sentence, end)
        if start > 0 and line[:start].strip():
            points.append(start)
        end = max(start, end) + len(sentence)
    return points


def asks_in(line: str) -> int:
    """How many things a line asks the agent for, as the linter counts them."""
    from cuecard.annotate.lint.wording import count_asks

    return count_asks(line)


def length_of(line: str, language: str) -> int:
    """Words of an English line, characters (without blanks) of a Chinese one."""
    return len("".join(line.split())) if language == "zh" else len(line.split())


@dataclass(frozen=True)
class StageFigures:
    """Measures of one stage: the `length` of its line (`length_of`), what it asks for (`asks_in`), and its triples."""

    length: int
    asks: int
    triples: int


@dataclass(frozen=True)
class StageCounts:
    """Measures of all stages. `kinds`: stages by kind of cue; `unasked`: items of gold that belong to no stage, None if
    none could.
    """

    stages: tuple[StageFigures, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    unasked: int | None = None

    @property
    def enough(self) -> bool:
        """Whether there are as many stages as a good persona has."""
        return FEWEST <= len(self.stages) <= MOST

    def share(self, kind: str) -> float:
        """The share of stages with this kind of cue, 0 to 1."""
        return self.kinds.get(kind, 0) / len(self.stages) if self.stages else 0.0

    @property
    def asks_balanced(self) -> bool:
        """Whether the share of stages that wait for the agent to ask is in the recommended range."""
        return ASKS_LOW <= self.share("asks") <= ASKS_HIGH


def stage_counts(data: Mapping[str, Any]) -> StageCounts:
    """The figures of a task's stages, complete or not."""
    persona, gold = data.get("persona"), data.get("gold")
    stages = _dicts(cast(dict[str, Any], persona).get("stages")) if persona else []
    given = cast(dict[str, Any], gold) if isinstance(gold, dict) else {}
    family = ANNOTATE.get(str(given.get("family")))
    staged = family.staged if family else ""
    answered = Counter(item.get("stage") for item in _dicts(given.get(staged)))
    language = str(data.get("language", "en"))
    lines = [str(stage.get("line", "")) for stage in stages]
    figures = tuple(
        StageFigures(length_of(line, language), asks_in(line), answered[number])
        for number, line in enumerate(lines, start=1)
    )
    kinds = Counter(str(_cue(stage).get("kind", "")) for stage in stages)
    unasked = answered[None] if staged else None
    return StageCounts(figures, dict(kinds), unasked)


def _merged_cue(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    if first.get("kind") == "start":
        return first
    known = {normalise(str(term)) for term in _texts(first.get("terms"))}
    more = [t for t in _texts(second.get("terms")) if normalise(t) not in known]
    text, other = str(first.get("text", "")).strip(), str(second.get("text", "")).strip()
    if other and second.get("kind") != "start" and normalise(other) != normalise(text):
        text = f"{text} / {other}" if text else other
    return {**first, "text": text, "terms": [*_texts(first.get("terms")), *more]}


def _renumbered(triple: Any, gone: int) -> Any:
    stage = triple.get("stage")
    moved = isinstance(stage, int) and stage >= gone
    return {**triple, "stage": stage - 1} if moved else triple


def _numbered(title: str) -> str:
    return f"{title} (2)" if title.strip() else ""


def _stage(edit: TaskEdit, index: int) -> dict[str, Any]:
    stages = edit.items(STAGES)
    if not 0 <= index < len(stages) or not isinstance(stages[index], dict):
        raise IndexError(index)
    return cast(dict[str, Any], stages[index])


def _cue(stage: Mapping[str, Any]) -> dict[str, Any]:
    cue = stage.get("cue")
    return cast(dict[str, Any], cue) if isinstance(cue, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]


def _texts(value: Any) -> list[str]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [str(item) for item in items]


# How many ambiguous steps a difficulty has (FORMATS: discobench).
_DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")

QUESTION, TARGET = N_("the question"), N_("the target")
CANDIDATES, CLUE, LOGIC = N_("two candidates"), N_("the clue"), N_("the logic")


@dataclass(frozen=True)
class Rung:
    """One step of a checkpoint chain in short. `ambiguity`: its type, "" for a plain step; `missing`: what must be
    written before the task can be saved (untranslated).
    """

    number: int
    question: str
    target: str
    ambiguity: str
    missing: tuple[str, ...]


def rung_of(edit: TaskEdit, index: int) -> Rung:
    """The rung of one step."""
    step = cast(dict[str, Any], edit.get((*ops.STEPS, index)) or {})
    ambiguity = step.get("ambiguity")
    missing = [
        name for name, field in ((QUESTION, "question"), (TARGET, "target")) if _blank(step, field)
    ]
    kind = ""
    if isinstance(ambiguity, dict):
        about = cast(dict[str, Any], ambiguity)
        kind = str(about.get("type") or "")
        candidates = cast(list[Any], about.get("candidates") or [])
        if sum(bool(str(name).strip()) for name in candidates) < 2:
            missing.append(CANDIDATES)
        missing += [
            name for name, field in ((CLUE, "clue"), (LOGIC, "logic")) if _blank(about, field)
        ]
    return Rung(
        index + 1,
        str(step.get("question") or ""),
        str(step.get("target") or ""),
        kind,
        tuple(missing),
    )


@dataclass(frozen=True)
class ChainCounts:
    """How long and how hard a chain is. `means`: the difficulty that follows from the number of ambiguous steps, None
    if none does; `says`: the difficulty that the task declares, "" for none.
    """

    steps: int
    ambiguous: int
    means: Difficulty | None
    says: str

    @property
    def agrees(self) -> bool:
        """Whether the declared difficulty, if any, is the one that follows."""
        return not self.says or self.says == self.means


def counts_of(edit: TaskEdit) -> ChainCounts:
    """How long the chain is, and how hard."""
    steps = edit.items(ops.STEPS)
    ambiguous = sum(isinstance(step.get("ambiguity"), dict) for step in steps)
    means = _DIFFICULTIES[ambiguous - 1] if 0 < ambiguous <= len(_DIFFICULTIES) else None
    return ChainCounts(len(steps), ambiguous, means, str(edit.get(("difficulty",)) or ""))


def _blank(thing: Mapping[str, Any], field: str) -> bool:
    return not str(thing.get(field) or "").strip()
