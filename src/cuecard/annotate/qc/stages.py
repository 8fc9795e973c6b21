"""The eight stages, in their order: what each is called and which probes it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cuecard.core.i18n import N_
from cuecard.core.probes.results import ProbeName

StageName = Literal[
    "structure",
    "closed_book",
    "open_book",
    "ambiguity",
    "laws",
    "difficulty",
    "agreement",
    "verdict",
]
STAGES: tuple[StageName, ...] = get_args(StageName)

StageState = Literal["open", "skipped", "passed", "flagged"]
"""`open`: not run. `skipped`: there is a reason why it says nothing."""


@dataclass(frozen=True)
class Stage:
    """`asks`: what is looked for. `probes`: what is played or examined for it; the other stages look at
    what the workspace holds. Translate `label` and `asks` when shown.
    """

    name: StageName
    label: str
    asks: str
    probes: tuple[ProbeName, ...] = ()

    @property
    def number(self) -> int:
        return STAGES.index(self.name) + 1


_STAGES = (
    Stage("structure", N_("Structure"), N_("Does the linter find errors?")),
    Stage(
        "closed_book",
        N_("Closed book"),
        N_("Is a model right without any tool? Then the answer leaks from its memory."),
        ("closed_book",),
    ),
    Stage(
        "open_book",
        N_("Without asking"),
        N_("Is a model right that may search, but not ask? Then the dialogue is not needed."),
        ("open_book",),
    ),
    Stage(
        "ambiguity",
        N_("Ambiguity"),
        N_("Does common sense see the candidates, or the error, before any search?"),
        ("ambiguity",),
    ),
    Stage(
        "laws",
        N_("Laws"),
        N_("Do the facts hold together, and does a model that knows them all reach the answer?"),
        ("laws", "with_facts"),
    ),
    Stage(
        "difficulty",
        N_("Difficulty"),
        N_("Did the author need at least so many minutes and pages?"),
    ),
    Stage(
        "agreement",
        N_("Judge and expert"),
        N_("Do the judge and a person agree on one response, item by item?"),
    ),
    Stage(
        "verdict", N_("Verdict"), N_("What do the stages speak for, and what does a person say?")
    ),
)
STAGE: dict[StageName, Stage] = {stage.name: stage for stage in _STAGES}
STATE_LABEL: dict[StageState, str] = {
    "open": N_("not run"),
    "skipped": N_("skipped"),
    "passed": N_("all clear"),
    "flagged": N_("flagged"),
}
