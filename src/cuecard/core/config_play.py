"""Live sessions, as `cuecard.yaml` can set them: who listens, what the card shows, what is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cuecard.core.config_review import DimensionKey, Problem
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen, Name


class FormQuestion(Frozen):
    """One question at the end of a session. `key` is stored with the answers; texts are shown as they
    are. `scale`: whole numbers from `lowest` to `highest`, whose ends mean `low` and `high`; `choice`:
    one of `options`; `text`: any words. The scale with the key `satisfaction` is held against the scores.
    """

    key: DimensionKey
    label: Name
    kind: Literal["scale", "choice", "text"] = "scale"
    lowest: Annotated[int, Field(ge=0, le=1)] = 1
    highest: Annotated[int, Field(ge=2, le=10)] = 7
    low: str = ""
    high: str = ""
    options: tuple[Name, ...] = ()
    required: bool = True

    @model_validator(mode="after")
    def _has_options(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError(_("a choice needs two options or more"))
        return self


class PlayConfig(Frozen):
    """`form`: the questions after a session, () for the embedded ones. `shadows`: users that listen and
    say what they would have said; never shown before the person has decided. `later`: what the card
    shows of stages to come. `judge`, `world`: by name.
    """

    form: tuple[FormQuestion, ...] = ()
    shadows: tuple[Name, ...] = ()
    later: Literal["titles", "nothing", "lines"] = "titles"
    judge: Name = "lexical"
    world: Name = "closed"


def play_problems(
    play: PlayConfig, users: Collection[str], judges: Collection[str], worlds: Collection[str]
) -> Iterator[Problem]:
    """Names that stand for nothing in the configuration, and keys or names that stand twice."""
    keys = [question.key for question in play.form]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            reason = _("the key {key} is already taken in this list").format(key=key)
            yield ("play", "form", index, "key"), reason
    for index, name in enumerate(play.shadows):
        if name not in users:
            reason = _("there is no user {name} here; known users: {names}")
            yield ("play", "shadows", index), reason.format(name=name, names=_listed(users))
        elif name in play.shadows[:index]:
            yield ("play", "shadows", index), _("{name} is listed twice").format(name=name)
    if play.judge not in judges:
        reason = _("there is no judge {name} here; known judges: {names}")
        yield ("play", "judge"), reason.format(name=play.judge, names=_listed(judges))
    if play.world not in worlds:
        reason = _("there is no world {name} here; known worlds: {names}")
        yield ("play", "world"), reason.format(name=play.world, names=_listed(worlds))


def _listed(names: Collection[str]) -> str:
    return ", ".join(names) or "-"
