"""Task, Persona and Stage."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticSerializationError, to_json

from cuecard.core.i18n import N_
from cuecard.core.tasks.base import ID_PATTERN, Frozen, Name, Text, Url, check_storable
from cuecard.core.tasks.gold import FAMILIES as FAMILIES
from cuecard.core.tasks.gold import AnyGold, Family
from cuecard.core.tasks.gold import Gold as Gold

TaskLanguage = Literal["en", "zh"]
Difficulty = Literal["easy", "medium", "hard"]


class CueKind(StrEnum):
    """When a stage may be disclosed."""

    START = "start"
    MENTIONS = "mentions"
    ASKS = "asks"
    COMPLETES = "completes"


CUE_WORDS: Final[dict[str, str]] = {
    "start": N_("conversation starts"),
    "mentions": N_("the reply mentions"),
    "asks": N_("the agent asks"),
    "completes": N_("a milestone is complete"),
}


LANGUAGE_WORDS: Final[dict[str, str]] = {"en": N_("English"), "zh": N_("Chinese")}
DIFFICULTY_WORDS: Final[dict[str, str]] = {
    "easy": N_("easy"),
    "medium": N_("medium"),
    "hard": N_("hard"),
}


class Cue(Frozen):
    """The condition that an agent's reply must meet before the stage's line is said.

    `text` describes it for people and models. `terms`, if given, is what the scripted user tests: the cue is met when
    the reply (for `asks`: a question in it) contains any one of them.
    """

    kind: CueKind
    text: Name
    terms: tuple[Name, ...] = ()


class Stage(Frozen):
    """One step of disclosure: the cue, the line that is said once it is met, and what to say until then (`not_met`)."""

    title: Name
    cue: Cue
    line: Text
    not_met: str = ""


class Persona(Frozen):
    """Whom the user part plays: identity, the vague first query, ordered stages, behaviour."""

    name: str = ""
    identity: Text
    initial_query: Text
    stages: Annotated[tuple[Stage, ...], Field(min_length=1)]
    behaviour: str = ""


class Source(Frozen):
    """A page that supports the task's gold answer."""

    url: Url
    note: str = ""


class Silenced(Frozen):
    """A finding of the linter that the author has decided to ignore, with the reason.

    `code` is the rule's. `about` quotes the element of the task (instead of giving its place), so that the finding stays
    silenced when the element moves, and no longer is when it is rewritten.
    """

    code: Annotated[str, Field(pattern=r"^[A-Z][0-9]{3}$")]
    about: str = ""
    reason: Name


class Foreign(Frozen):
    """Fields of another benchmark's file that have no place here; written back on export."""

    format: Name
    fields: dict[str, JsonValue] = {}


class Task(Frozen):
    """One unit of a benchmark. `query` is the fully specified request; see `opening` for what
    the user says first.
    """

    id: Annotated[str, Field(pattern=ID_PATTERN)]
    title: Name
    language: TaskLanguage
    domain: str = ""
    difficulty: Difficulty | None = None
    query: Text
    sub_queries: tuple[Name, ...] = ()
    persona: Persona | None = None
    gold: AnyGold
    sources: tuple[Source, ...] = ()
    notes: str = ""
    silenced: tuple[Silenced, ...] = ()
    foreign: Foreign | None = None

    @model_validator(mode="after")
    def _stages_exist(self) -> Task:
        count = len(self.persona.stages) if self.persona else 0
        if problem := self.gold.problem(count):
            raise ValueError(f"gold.{problem}")
        return self

    @model_validator(mode="after")
    def _storable(self) -> Task:
        # Only what other programs wrote may hold numbers and nest; of texts the encoder tells in a tenth of the time.
        try:
            plain = self.foreign is None and b"\\u0000" not in to_json(self)
        except PydanticSerializationError:
            plain = False
        if not plain:
            check_storable(self.model_dump())
        return self

    @property
    def family(self) -> Family:
        return self.gold.family

    @property
    def opening(self) -> str:
        """What the user says first: the persona's initial query, the ambiguous question, or the query."""
        if self.persona:
            return self.persona.initial_query
        return self.gold.opens_with or self.query

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.persona.stages if self.persona else ()


def content_hash(task: Task) -> str:
    """SHA-256 over the task's canonical JSON (sorted keys, defaults included), as 64 hex digits.

    Fields that were added later are left out while they have their defaults, so that older tasks keep their hashes.
    """
    data = task.model_dump(mode="json")
    if not data["silenced"]:
        del data["silenced"]
    for triple in data["gold"].get("triples", ()):
        if not triple["note"]:
            del triple["note"]
    canonical = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
