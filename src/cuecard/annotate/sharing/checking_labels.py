"""What must hold of labels, and of what goes with them, before any of it is taken from a pack."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from cuecard.annotate.sharing.checking import (
    foreign,
    name_problem,
    unstorable_problem,
    when_problems,
)
from cuecard.core.i18n import _
from cuecard.core.parts import CheckpointStatus
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.label_records import LabelValue
from cuecard.store.shared import (
    SharedAdjudication,
    SharedLabel,
    SharedLabelSet,
    SharedReveal,
)

_UID = re.compile(r"[0-9a-f]{32}")
_TRIAL = re.compile(r"[\w\-]{1,64}")
_LONGEST_KEY = 10_000
_MOST_INDEX = 10**9
_MOST_RATERS = 1000


def label_problems(label: SharedLabel, person: str) -> Iterator[str]:
    if label.person != person:
        yield foreign(label.person, person)
    yield from _item_problems(label.trial, label.item, label.value)
    if not math.isfinite(label.seconds) or label.seconds < 0:
        yield _("the time that a label took must be a number of seconds")
    yield from when_problems(label.at)
    yield unstorable_problem(label.model_dump())


def reveal_problems(reveal: SharedReveal, person: str) -> Iterator[str]:
    if reveal.person != person:
        yield foreign(reveal.person, person)
    yield from _item_problems(reveal.trial, reveal.item)
    yield from when_problems(reveal.at)
    yield unstorable_problem(reveal.model_dump())


def adjudication_problems(decision: SharedAdjudication, person: str) -> Iterator[str]:
    if decision.by != person:
        yield foreign(decision.by, person)
    yield from _item_problems(decision.trial, decision.item, decision.value)
    yield from when_problems(decision.at)
    yield unstorable_problem(decision.model_dump())


def label_set_problems(drawn: SharedLabelSet, person: str) -> Iterator[str]:
    if drawn.by != person:
        yield foreign(drawn.by, person)
    if not _UID.fullmatch(drawn.uid):
        yield _("this cannot be the uid of a labelling set")
    for item in drawn.items:
        yield from _item_problems(item.trial, item.item)
        if not 0 < item.probability <= 1:
            yield _("an item is drawn with a probability above 0 and at most 1")
        if not 0 < item.raters <= _MOST_RATERS:
            yield _("an item needs labels of at least one person")
        yield from (name_problem(name) for name in item.people)
    yield from when_problems(drawn.at)
    yield unstorable_problem(drawn.model_dump())


def _item_problems(
    trial: str, key: str, value: LabelValue | CheckpointStatus | None = None
) -> Iterator[str]:
    if not _TRIAL.fullmatch(trial):
        yield _("this cannot be a trial's uid: {id}").format(id=one_line(trial, 40))
    item = _item(key)
    if item is None:
        yield _("this cannot be an item of a trial")
    elif isinstance(value, CheckpointStatus) and item.kind is not ItemKind.STATUS:
        yield _("only the status of a checkpoint is called {value}").format(value=value.value)


def _item(key: str) -> Item | None:
    """The item of a key in its one form; None for what is none."""
    try:
        item = Item.of_key(key) if len(key) <= _LONGEST_KEY else None
    except ValueError:
        return None
    return item if item and item.key == key and 0 <= item.index < _MOST_INDEX else None
