"""Building an independent gold: who may, what of the task they get, and the draft that is kept until it is handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from cuecard.annotate.authoring.edit import TaskEdit, as_task
from cuecard.annotate.authoring.session import OpenedEdit, recall_history
from cuecard.annotate.families.registry import ANNOTATE, built_twice
from cuecard.core.contributions import Claimed, Contribution, GoldBuilt, Reviewed, TaskState
from cuecard.core.errors import Conflict, FileProblem, FileProblems, NotAllowed
from cuecard.core.i18n import _
from cuecard.core.records import ASIDE_GOLD
from cuecard.core.review import TaskLog, standing_of
from cuecard.core.tasks.models import Task
from cuecard.core.text import without_terms
from cuecard.core.users.leaks import KnownTexts, bare_number, counts, fold

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


COVER = "[…]"
"""Replaces names of gold in the author's brief; its length does not depend on the name's."""


def blank_for(task: Task) -> dict[str, Any]:
    """The data of `task` with an empty gold and without anything that discloses the author's gold."""
    cover = _Cover(task)
    persona = task.persona
    return {
        "id": task.id,
        "title": cover(task.title),
        "language": task.language,
        "domain": cover(task.domain),
        "difficulty": task.difficulty,
        "query": task.query,
        "sub_queries": [cover(query) for query in task.sub_queries],
        "persona": {
            "name": persona.name,
            "identity": cover(persona.identity),
            "initial_query": persona.initial_query,
            "stages": [
                {
                    "title": cover(stage.title),
                    "cue": {"kind": stage.cue.kind.value, "text": COVER, "terms": []},
                    "line": cover(stage.line),
                    "not_met": "",
                }
                for stage in persona.stages
            ],
            "behaviour": "",
        }
        if persona
        else None,
        "gold": built_twice(task.family).blank(task.gold, cover),
        "sources": [],
        "notes": "",
        "silenced": [],
        "foreign": None,
    }


def same_brief(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two blanks have the same brief, whatever was built in them."""
    return brief_of(one) == brief_of(other)


def brief_of(data: dict[str, Any]) -> dict[str, Any]:
    """The part of a blank that is given, without what is to be built."""
    gold = data["gold"]
    given = ("family", *built_twice(gold["family"]).given)
    return {**data, "gold": {name: gold[name] for name in given}}


class _Cover:
    """Replaces names of gold in texts, unless the query itself uses them."""

    def __init__(self, task: Task) -> None:
        public = KnownTexts((task.query, task.opening))
        self._terms = tuple(
            term
            for names in built_twice(task.family).secret(task.gold)
            if not any(public.has(fold(name)) for name in names if counts(name))
            for term in _terms(names)
        )

    def __call__(self, text: str) -> str:
        return without_terms(text, self._terms, COVER) if text else text


def _terms(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if counts(name):
            yield name
            if number := bare_number(fold(name)):
                yield number


def why_not(log: TaskLog, person: str) -> str:
    """Why `person` may not build an independent gold of the newest revision, translated; "" if they may. Who handed one
    in for an earlier revision has seen the comparison.
    """
    if not person:
        return _("Say who you are first.")
    if standing_of(log).state is TaskState.RETIRED:
        return _("This task is archived.")
    if any(person in node.authors for node in log.revisions):
        return _("You have worked on this task, so you know its gold.")
    for entry in log.contributions:
        match entry.body:
            case Reviewed() if entry.by == person:
                return _("You have reviewed this task, so you know its gold.")
            case Claimed(person=reviewer) if reviewer == person:
                return _("You have had this task to review, so you may have seen its gold.")
            case GoldBuilt() if entry.by == person:
                return _("You have already handed in an independent gold of this task.")
            case _:
                pass
    return ""


def obstacle(ws: Workspace, task_id: str, person: str) -> str:
    """As `why_not`, but also considers the family, and drafts and unfinished reviews in this workspace. Raises `NotFound`."""
    if ANNOTATE[ws.tasks.revision(task_id).task.family].independent is None:
        return _("Gold of this family is not built twice.")
    if reason := why_not(ws.reviews.log(task_id), person):
        return reason
    if ws.drafts.get(task_id, person) is not None:
        return _("You have a draft of this task, so you know its gold.")
    if any(known == task_id for known, _revision in ws.review_forms.of(person)):
        return _("You have begun to review this task, so you know its gold.")
    return ""


def refusal(reason: str) -> NotAllowed:
    return NotAllowed(
        _("You cannot build this gold independently"),
        reason,
        _("Somebody who has seen neither its gold nor its reviews can."),
    )


def only_blind(person: str, revision: int) -> Callable[[TaskLog], None]:
    """A guard for handing a gold in: it raises if `person` is not blind any more, or `revision` not the newest."""

    def guard(log: TaskLog) -> None:
        if reason := why_not(log, person):
            raise refusal(reason)
        if standing_of(log).head != revision:
            raise Conflict(
                _("This is not the newest revision any more"),
                _("Somebody saved this task while you handed in."),
                _("Your gold is kept. Hand it in again."),
            )

    return guard


def gold_key(task_id: str) -> str:
    """The id under which drafts and effort for an independent gold are kept; no task can have it."""
    return f"{task_id}{ASIDE_GOLD}"


def under_way(ws: Workspace, person: str) -> frozenset[str]:
    """The ids of tasks for which `person` is building an independent gold."""
    return frozenset(key.removesuffix(ASIDE_GOLD) for key in ws.drafts.aside(person, ASIDE_GOLD))


def is_under_way(ws: Workspace, task_id: str, person: str) -> bool:
    """Whether `person` is building an independent gold of the task."""
    return ws.drafts.get(gold_key(task_id), person) is not None


def refuse_while_building(ws: Workspace, task_id: str, person: str) -> None:
    """Raises `NotAllowed` for who is building an independent gold of the task, and so must not see its gold."""
    if is_under_way(ws, task_id, person):
        raise NotAllowed(
            _("You are building this task's gold"),
            _("You would see the author's before yours is handed in."),
            _(
                "Go on with yours: Gold twice in the menu of the list of tasks. There you can also give it up."
            ),
        )


def open_blank(ws: Workspace, task_id: str, person: str) -> tuple[OpenedEdit, bool]:
    """An edit of the newest revision's blank with what this person has built so far, and whether the brief has changed
    since. It holds nothing of the author's gold. Raises `NotFound`, and `NotAllowed` if `person` may not build it.
    """
    if reason := obstacle(ws, task_id, person):
        raise refusal(reason)
    head = ws.tasks.revision(task_id)
    blank = blank_for(head.task)
    draft = ws.drafts.get(gold_key(task_id), person)
    if draft is None:
        edit = TaskEdit(blank, base=head.number, saved=blank)
        recall_history(ws, edit, gold_key(task_id), person, None)
        return OpenedEdit(edit, None, None, None), False
    before = blank
    if draft.base != head.number:
        before = blank_for(ws.tasks.revision(task_id, draft.base).task)
    data = moved(draft.data, before, blank)
    edit = TaskEdit(data, base=head.number, saved=blank)
    recall_history(ws, edit, gold_key(task_id), person, draft)
    opened = OpenedEdit(edit, draft.updated_at, None, None, draft.left_at is None)
    return opened, not same_brief(before, blank)


def give_up(ws: Workspace, task_id: str, person: str) -> None:
    """Delete what was built."""
    ws.drafts.discard(gold_key(task_id), person)


def check_built(ws: Workspace, task_id: str, data: Mapping[str, Any]) -> tuple[FileProblem, ...]:
    """What keeps the data from being a valid gold of the newest revision."""
    try:
        built_gold(ws.tasks.revision(task_id).task, data["gold"])
    except FileProblems as error:
        return error.problems
    return ()


def hand_in(
    ws: Workspace, task_id: str, person: str, base: int, data: Mapping[str, Any], note: str = ""
) -> Contribution:
    """Hand in what was built from the brief of revision `base`; it cannot be taken back. Raises `FileProblems` if it is
    no valid gold, `NotAllowed`, and `Conflict` if the brief has changed or somebody saved meanwhile.
    """
    head = ws.tasks.revision(task_id)
    if base != head.number:
        began = blank_for(ws.tasks.revision(task_id, base).task)
        if not same_brief(began, blank_for(head.task)):
            raise Conflict(
                _("The brief has changed"),
                _("Revision {number} asks something else than what you worked from.").format(
                    number=head.number
                ),
                _("Your gold is kept. Open it again and look at the brief."),
            )
    body = GoldBuilt(
        gold=built_gold(head.task, data["gold"]),
        seconds=ws.effort.totals(gold_key(task_id), person).seconds,
        note=note.strip(),
    )
    guard = only_blind(person, head.number)
    entry = ws.reviews.act(task_id, person, body, revision=head.number, guard=guard)
    ws.drafts.discard(gold_key(task_id), person)
    return entry


def built_gold(task: Task, gold: Mapping[str, Any]) -> dict[str, Any]:
    """The built gold, as one of `task`: empty rows are dropped, given parts are the task's. Raises `FileProblems`, with
    places in the gold.
    """
    kind, field = built_twice(task.family), task.gold.field
    whole = task.gold.model_dump(mode="json")
    made = {**kind.fitted(gold, whole), **{name: whole[name] for name in kind.given}}
    made[field] = [item for item in made[field] if _has_text(item)]
    return as_task({**task.model_dump(mode="json"), "gold": made}).gold.model_dump(mode="json")


def moved(
    data: Mapping[str, Any], before: Mapping[str, Any], blank: dict[str, Any]
) -> dict[str, Any]:
    """What was built in `data`, on the blank `before`, transferred to another blank of the task: what is given, and what
    nobody touched, is that blank's.
    """
    gold, given = data["gold"], blank["gold"]
    if gold["family"] != given["family"]:
        return blank
    kind, staged = built_twice(gold["family"]), ANNOTATE[gold["family"]].staged
    made = {
        name: given[name] if name in kind.given or value == before["gold"].get(name) else value
        for name, value in kind.fitted(gold, given).items()
    }
    if staged:
        stages = len(blank["persona"]["stages"]) if blank["persona"] else 0
        made[staged] = [_staged(item, stages) for item in made[staged]]
    return {**blank, "gold": made, "silenced": data.get("silenced", [])}


def extra_columns(gold: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Names of columns that were added to those of the brief; they are not handed in."""
    names = {column["name"] for column in given.get("columns", ())}
    return [c["name"] for c in gold.get("columns", ()) if c["name"] not in names]


def _has_text(value: Any) -> bool:
    match value:
        case str():
            return bool(value.strip())
        case dict() | list():
            parts = cast(dict[str, Any] | list[Any], value)
            return any(map(_has_text, parts.values() if isinstance(parts, dict) else parts))
        case _:
            return False


def _staged(item: dict[str, Any], stages: int) -> dict[str, Any]:
    stage = item["stage"]
    known = not isinstance(stage, int) or stage <= stages
    return item if known else {**item, "stage": None}
