"""Schemas of models' replies with drafts, parsed leniently; an invalid entry is dropped without the others."""

from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, OnErrorOmit, model_validator

from cuecard.core.text import storable
from cuecard.core.users.asking import for_models

_YES = frozenset(("yes", "y", "true", "1", "是"))
_KINDS = {"start": "start", "mention": "mentions", "ask": "asks", "complete": "completes"}
_AMBIGUITIES = ("entity", "version", "criteria", "factual")


def _text(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        return value
    text = storable(value).strip()
    # Weak models hand the form back as it was shown to them.
    return "" if not text.strip(".… ") else text


def _texts(value: object) -> object:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return []
    texts = (_text(item) for item in cast(list[object], value))
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text))


def _numbers(value: object) -> object:
    items = cast(list[object], value) if isinstance(value, list) else [value]
    return [n for n in map(_number, items) if n is not None]


def _number(value: object) -> object:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value.strip())
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _bool(value: object) -> object:
    return str(value).strip().casefold() in _YES


def _cue_kind(value: object) -> object:
    word = str(value).strip().casefold()
    return next((kind for start, kind in _KINDS.items() if word.startswith(start)), "mentions")


def _ambiguity(value: object) -> object:
    word = str(value).strip().casefold()
    return word if word in _AMBIGUITIES else "entity"


def _fact_kind(value: object) -> object:
    word = str(value).strip().casefold()
    return "rule" if word in ("rule", "convention", "规则", "约定") else "fact"


Words = Annotated[str, BeforeValidator(_text)]
Wanted = Annotated[str, BeforeValidator(_text), Field(min_length=1)]
Listed = Annotated[list[str], BeforeValidator(_texts)]
Numbers = Annotated[list[int], BeforeValidator(_numbers)]
MaybeNumber = Annotated[int | None, BeforeValidator(_number)]


class _Drafted(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True, json_schema_extra=for_models)


class DraftTriple(_Drafted):
    sentence: Words = ""
    head: Wanted
    relation: Wanted
    tail: Wanted
    stage: MaybeNumber = None


class DraftTriples(_Drafted):
    """No triple at all is an answer: not every part of a page says something."""

    triples: list[OnErrorOmit[DraftTriple]]

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: object) -> object:
        return _under("triples", data, "head")


class DraftStage(_Drafted):
    title: Words = ""
    cue_kind: Annotated[
        Literal["start", "mentions", "asks", "completes"], BeforeValidator(_cue_kind)
    ] = "mentions"
    cue: Words = ""
    terms: Listed = []
    line: Wanted
    not_met: Words = ""
    triples: Numbers = []


class DraftPersona(_Drafted):
    name: Words = ""
    identity: Words = ""
    initial_query: Words = ""
    behaviour: Words = ""
    stages: list[OnErrorOmit[DraftStage]]

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.stages and not self.identity:
            raise ValueError("no stages")
        return self


class DraftStep(_Drafted):
    question: Wanted
    target: Wanted
    aliases: Listed = []
    ambiguous: Annotated[bool, BeforeValidator(_bool)] = False
    type: Annotated[
        Literal["entity", "version", "criteria", "factual"], BeforeValidator(_ambiguity)
    ] = "entity"
    logic: Words = ""
    candidates: Listed = []
    clue: Words = ""
    terms: Listed = []


class DraftChain(_Drafted):
    opening: Words = ""
    steps: Annotated[list[OnErrorOmit[DraftStep]], Field(min_length=1)]
    final_answer: Words = ""
    final_aliases: Listed = []
    forbidden: Listed = []


class DraftFact(_Drafted):
    key: Wanted
    value: Wanted
    kind: Annotated[Literal["fact", "rule"], BeforeValidator(_fact_kind)] = "fact"
    entity: Words = ""
    attribute: Words = ""
    unit: Words = ""


class DraftWorld(_Drafted):
    query: Words = ""
    facts: Annotated[list[OnErrorOmit[DraftFact]], Field(min_length=1)]
    derivation: Words = ""
    answer: Words = ""
    answer_aliases: Listed = []


class DraftText(_Drafted):
    index: MaybeNumber
    text: Wanted


class DraftTexts(_Drafted):
    texts: Annotated[list[OnErrorOmit[DraftText]], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: object) -> object:
        return _under("texts", data, "text")


def _under(name: str, data: object, mark: str) -> object:
    """Models forget the outer object, or write one for each entry. `mark`: a field of an entry."""
    if isinstance(data, dict):
        fields = cast(dict[str, object], data)
        return {name: [fields]} if name not in fields and mark in fields else fields
    if not isinstance(data, list):
        return data
    whole = cast(list[object], data)
    entries: list[object] = []
    for entry in whole:
        inner = cast(dict[str, object], entry).get(name) if isinstance(entry, dict) else None
        entries += cast(list[object], inner) if isinstance(inner, list) else [entry]
    # Else any list in a model's prose would pass for an answer.
    usable = any(isinstance(entry, dict) and mark in entry for entry in entries)
    return {name: entries} if usable else whole
