"""A checkpoint chain as a ladder: one rung a step, and what each still lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_
from cuecard.core.tasks import Difficulty

# How many ambiguous steps a difficulty has (FORMATS: discobench).
_DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")

QUESTION, TARGET = N_("the question"), N_("the target")
CANDIDATES, CLUE, LOGIC = N_("two candidates"), N_("the clue"), N_("the logic")


@dataclass(frozen=True)
class Rung:
    """`ambiguity` is its type, empty where the step is plain. `missing` names what has to be
    written before the task can be saved, marked with `N_`.
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
    """`means` is the difficulty that so many ambiguous steps have; None where there is none such."""

    steps: int
    ambiguous: int
    means: Difficulty | None
    says: str

    @property
    def agrees(self) -> bool:
        """Whether the task says no difficulty, or the one that it has."""
        return not self.says or self.says == self.means


def counts_of(edit: TaskEdit) -> ChainCounts:
    """How long the chain is, and how hard."""
    steps = edit.items(ops.STEPS)
    ambiguous = sum(isinstance(step.get("ambiguity"), dict) for step in steps)
    means = _DIFFICULTIES[ambiguous - 1] if 0 < ambiguous <= len(_DIFFICULTIES) else None
    return ChainCounts(len(steps), ambiguous, means, str(edit.get(("difficulty",)) or ""))


def _blank(thing: Mapping[str, Any], field: str) -> bool:
    return not str(thing.get(field) or "").strip()
