"""Independent golds that were handed in: who may see them, comparison with the author's, and adjudication."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import JsonValue

from cuecard.annotate.authoring.edit import TaskEdit, as_task
from cuecard.annotate.authoring.merge import woven
from cuecard.annotate.independent_gold.alignment import align, in_columns_of
from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Element,
    ElementKind,
    GoldAgreement,
    Take,
    agreement_of,
)
from cuecard.core.contributions import GoldBuilt
from cuecard.core.errors import FileProblems, NotAllowed, NotFound
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import _, ngettext
from cuecard.core.records import ASIDE
from cuecard.core.review import TaskLog
from cuecard.core.tasks.models import Gold, Task
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.core.records import Revision
    from cuecard.store.workspace import Workspace


Takes = Mapping[str, Take]
"""Which side's version is taken, by `Element.key`."""
ItemT = TypeVar("ItemT")


def take_of(element: Element, takes: Takes) -> Take | None:
    """The side taken for an element; by default the author's where both agree, else None until somebody decides."""
    take = takes.get(element.key)
    if take is not None and take in element.takes:
        return take
    return "author" if element.status == "agreed" else None


def undecided(alignment: Alignment, takes: Takes) -> list[Element]:
    return [element for element in alignment.elements if take_of(element, takes) is None]


def all_of(alignment: Alignment, side: Take) -> dict[str, Take]:
    """All elements decided for one side, as far as possible."""
    found: dict[str, Take] = {}
    for element in alignment.elements:
        if (take := element.settled(side)) is not None:
            found[element.key] = take
    return found


def adjudicated(author: Gold, second: Gold, alignment: Alignment, takes: Takes) -> dict[str, Any]:
    """The author's gold as JSON, changed as decided. Order, stages, sources and notes remain the author's unless it has
    none; what only the second gold has is inserted behind its predecessor there. Raises `ValueError` while an element
    is undecided. The result is not validated: it may be empty.
    """
    if undecided(alignment, takes):
        raise ValueError("something is still to be decided")
    decided = _Decided(alignment, takes)
    match author, second:
        case Graph(), Graph():
            return _graph(author, second, decided)
        case Table(), Table():
            return _table(author, second, decided)
        case CheckpointChain(), CheckpointChain():
            return _chain(author, second, decided)
        case FactWorld(), FactWorld():
            return _world(author, second, decided)
        case _:
            raise ValueError("two golds of one family can be made one")


@dataclass(frozen=True)
class _Decided:
    alignment: Alignment
    takes: Takes

    def of(self, kind: ElementKind) -> list[tuple[Element, Take]]:
        return [
            (element, take_of(element, self.takes) or "author")
            for element in self.alignment.elements
            if element.kind == kind
        ]

    def answer(self) -> Take:
        answers = self.of("answer")
        return answers[0][1] if answers else "author"


def _graph(author: Graph, second: Graph, decided: _Decided) -> dict[str, Any]:
    names = _Names(author, second, decided)
    mine = [triple.model_dump(mode="json") for triple in author.triples]
    theirs = [names.translated(triple.model_dump(mode="json")) for triple in second.triples]

    def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        return {**one, "sources": _union(one["sources"], other["sources"])}

    def filled(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        stage = one["stage"] if other["stage"] is None else other["stage"]
        kept = {name: other[name] or one[name] for name in ("sources", "note")}
        return {**other, "stage": stage, **kept}

    triples = _composed(mine, theirs, decided.of("triple"), joined, filled)
    return {"family": "graph", "nodes": names.nodes(triples), "triples": triples}


class _Names:
    """The id and names of each node in the result."""

    def __init__(self, author: Graph, second: Graph, decided: _Decided) -> None:
        self._author, self._second = author, second
        self._listed = {node.id: node.model_dump(mode="json") for node in author.nodes}
        same = decided.alignment.nodes
        self._ids = dict(same)
        free = set(author.node_ids)
        for other in second.node_ids:
            if other not in same:
                name, number = other, 2
                while name in free:
                    name, number = f"{other} ({number})", number + 1
                free.add(name)
                self._ids[other] = name
                self._list(name, *second.names_of(other))
        mine, theirs = author.node_ids, second.node_ids
        for element, take in decided.of("node"):
            if element.author is None or element.second is None:
                continue
            node, other = mine[element.author], theirs[element.second]
            if take == "second":
                self._list(node, *second.names_of(other))
            elif take == "both":
                self._list(node, *_union(author.names_of(node), second.names_of(other)))

    def translated(self, triple: dict[str, Any]) -> dict[str, Any]:
        head, tail = self._ids[triple["head"]], self._ids[triple["tail"]]
        return {**triple, "head": head, "tail": tail}

    def nodes(self, triples: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The listed nodes, without those whose last triple was removed."""
        used = {triple[end] for triple in triples for end in ("head", "tail")}
        before = {end for triple in self._author.triples for end in (triple.head, triple.tail)}
        alone = {node.id for node in self._author.nodes if node.id not in before}
        return [node for node in self._listed.values() if node["id"] in used | alone]

    def _list(self, node_id: str, name: str, *aliases: str) -> None:
        if aliases or name != node_id:
            shown = "" if name == node_id else name
            self._listed[node_id] = {"id": node_id, "name": shown, "aliases": list(aliases)}
        else:
            self._listed.pop(node_id, None)


def _table(author: Table, second: Table, decided: _Decided) -> dict[str, Any]:
    mine = [list(row) for row in author.rows]
    theirs = [list(row) for row in in_columns_of(author, second)]
    rows = decided.of("row")
    for element, take in decided.of("cell"):
        at, other, column = element.author, element.second, element.column
        if at is None or other is None or column is None:
            continue
        if take == "second":
            mine[at][column] = theirs[other][column]
        # A row whose cells were decided one by one stays; it is listed once for all of them.
        if not any(known.author == at for known, _take in rows):
            rows.append((element, "author"))
    made = _composed(mine, theirs, rows, lambda one, _other: one, lambda _one, other: other)
    return {**author.model_dump(mode="json"), "rows": made}


def _chain(author: CheckpointChain, second: CheckpointChain, decided: _Decided) -> dict[str, Any]:
    data, other = author.model_dump(mode="json"), second.model_dump(mode="json")
    steps = _composed(data["steps"], other["steps"], decided.of("step"), _named_too, _sourced)
    return {
        **data,
        "steps": steps,
        **_answer(data, other, decided, "final_answer", "final_aliases"),
    }


def _world(author: FactWorld, second: FactWorld, decided: _Decided) -> dict[str, Any]:
    data, other = author.model_dump(mode="json"), second.model_dump(mode="json")
    facts = _composed(data["facts"], other["facts"], decided.of("fact"), _named_too, _sourced)
    made = {**data, "facts": facts, **_answer(data, other, decided, "answer", "answer_aliases")}
    if decided.answer() == "second" and other["derivation"]:
        made["derivation"] = other["derivation"]
    return made


def _answer(
    data: Mapping[str, Any], other: Mapping[str, Any], decided: _Decided, name: str, aliases: str
) -> dict[str, Any]:
    match decided.answer():
        case "second":
            return {name: other[name], aliases: other[aliases]}
        case "both":
            names = _union([data[name], *data[aliases]], [other[name], *other[aliases]])
            return {name: names[0], aliases: names[1:]}
        case _:
            return {name: data[name], aliases: data[aliases]}


def _named_too(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """One thing with the names and sources of both."""
    name = "target" if "target" in one else "value"
    names = _union([one[name], *one["aliases"]], [other[name], *other["aliases"]])
    sources = _union(one["sources"], other["sources"])
    return {**one, "aliases": names[1:], "sources": sources}


def _sourced(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {**other, "sources": other["sources"] or one["sources"]}


def _composed(
    mine: Sequence[ItemT],
    theirs: Sequence[ItemT],
    decided: Iterable[tuple[Element, Take]],
    joined: Callable[[ItemT, ItemT], ItemT],
    filled: Callable[[ItemT, ItemT], ItemT],
) -> list[ItemT]:
    """The resulting list. `joined` makes one item of an agreed pair if both are taken; `filled` completes the second's
    item with what only the author's has.
    """
    made: dict[int, ItemT] = {}
    behind: dict[int, list[int]] = {}
    for element, take in decided:
        i, j = element.author, element.second
        if j is None and i is not None:
            if take in ("author", "both"):
                made[i] = mine[i]
        elif i is None and j is not None:
            behind[j] = [len(mine) + j]
            if take in ("second", "both"):
                made[len(mine) + j] = theirs[j]
        elif i is not None and j is not None:
            apart = take == "both" and element.status == "differ"
            behind[j] = [i, len(mine) + j] if apart else [i]
            if take == "author":
                made[i] = mine[i]
            elif take == "second":
                made[i] = filled(mine[i], theirs[j])
            elif apart:
                made[i], made[len(mine) + j] = mine[i], theirs[j]
            elif take == "both":
                made[i] = joined(mine[i], theirs[j])
    other = [known for j in range(len(theirs)) for known in behind.get(j, ())]
    return [made[known] for known in woven(range(len(mine)), other, made.keys())]


def _union(one: Sequence[str], other: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*one, *other)))


@dataclass(frozen=True)
class IndependentGold:
    """What `by` built of revision `revision`; `seconds` without idle stretches."""

    uid: str
    by: str
    revision: int
    at: datetime
    seconds: float
    note: str
    gold: Gold


@dataclass(frozen=True)
class Comparison:
    """An independent gold beside the author's. `agreement`: with the revision it was built from; decisions concern
    `task`, the newest revision (`head`). `others`: all golds to be seen. `obstacle`: why `person` may not decide,
    translated, "" if they may. `takes`: what they have decided so far.
    """

    task: Task
    head: int
    second: IndependentGold
    others: tuple[IndependentGold, ...]
    alignment: Alignment
    agreement: GoldAgreement
    person: str
    obstacle: str
    takes: dict[str, Take]


def independent_golds(
    ws: Workspace, task_id: str, person: str, coordinators: Collection[str] = ()
) -> tuple[IndependentGold, ...]:
    """The independent golds that `person` may see now, oldest first: an author and a coordinator all of
    them, who has built one their own and others of the same revision. Raises `NotFound`.
    """
    log = _log(ws, task_id, person, coordinators)
    found: list[IndependentGold] = []
    for entry in sorted(log.contributions, key=lambda entry: entry.order):
        if isinstance(entry.body, GoldBuilt):
            task = ws.tasks.revision(task_id, entry.revision).task
            # What came in a file from elsewhere need not be a gold of this task.
            with contextlib.suppress(FileProblems):
                whole = as_task({**task.model_dump(mode="json"), "gold": entry.body.gold})
                found.append(
                    IndependentGold(
                        uid=entry.uid,
                        by=entry.by,
                        revision=entry.revision,
                        at=entry.at,
                        seconds=entry.body.seconds,
                        note=entry.body.note,
                        gold=whole.gold,
                    )
                )
    return tuple(found)


def compare(
    ws: Workspace,
    task_id: str,
    person: str,
    uid: str = "",
    coordinators: Collection[str] = (),
) -> Comparison:
    """The independent gold `uid`, or the last one, compared with the author's. Raises `NotFound` if there is none that
    `person` may see.
    """
    golds = independent_golds(ws, task_id, person, coordinators)
    chosen = [gold for gold in golds if uid in ("", gold.uid)]
    if not chosen:
        raise NotFound(
            _("There is no independent gold to see"),
            task_id,
            _("Somebody who has not seen the gold can build one: b in the list of tasks."),
        )
    second = chosen[-1]
    head = ws.tasks.revision(task_id)
    built_of = ws.tasks.revision(task_id, second.revision)
    if head.task.family != second.gold.family:
        head = built_of
    alignment = align(head.task.gold, second.gold)
    levels = alignment.levels
    if head.number != second.revision:
        levels = align(built_of.task.gold, second.gold).levels
    return Comparison(
        task=head.task,
        head=head.number,
        second=second,
        others=golds,
        alignment=alignment,
        agreement=agreement_of(levels),
        person=person,
        obstacle=may_not_decide(ws.reviews.log(task_id), person, coordinators),
        takes=_kept(ws, task_id, person, second.uid),
    )


def may_not_decide(log: TaskLog, person: str, coordinators: Collection[str] = ()) -> str:
    """Why `person` may not adjudicate, translated; "" if they may."""
    if person in coordinators or any(person in node.authors for node in log.revisions):
        return ""
    return _("An author of the task or a coordinator decides.")


def keep_takes(ws: Workspace, task_id: str, person: str, uid: str, head: int, takes: Takes) -> None:
    """Save the decisions made so far as a draft."""
    data: dict[str, JsonValue] = {"takes": dict(takes)}
    ws.drafts.keep(_key(task_id, uid), person, head, data)


def adjudicate(
    ws: Workspace, comparison: Comparison, takes: Takes, coordinators: Collection[str] = ()
) -> Revision:
    """Save the decided gold as a new revision; none if it equals the newest.

    Raises `NotAllowed` for who may not, or while an element is undecided, `Conflict` if somebody saved since,
    `FileProblems` if the result is no valid gold. The draft of decisions is kept until it is saved.
    """
    task, second, by = comparison.task, comparison.second, comparison.person
    title = _("The gold cannot be decided yet")
    if reason := may_not_decide(ws.reviews.log(task.id), by, coordinators):
        raise NotAllowed(title, reason)
    if left := len(undecided(comparison.alignment, takes)):
        text = ngettext("{n} thing is undecided.", "{n} things are undecided.", left)
        raise NotAllowed(title, text.format(n=left))
    edit = TaskEdit.of(task, comparison.head)
    edit.set(("gold",), adjudicated(task.gold, second.gold, comparison.alignment, takes))
    message = _("Adjudicated with the independent gold of {person}").format(
        person=one_line(second.by)
    )
    revision = ws.tasks.save(edit.task(), author=by, message=message, base=comparison.head)
    ws.drafts.discard(_key(task.id, second.uid), by)
    return revision


def _log(ws: Workspace, task_id: str, person: str, coordinators: Collection[str]) -> TaskLog:
    if person and person in coordinators:
        return ws.reviews.log(task_id)
    return ws.reviews.seen_log(person, task_id)


def _key(task_id: str, uid: str) -> str:
    return f"{task_id}{ASIDE}decided-{uid}"


def _kept(ws: Workspace, task_id: str, person: str, uid: str) -> dict[str, Take]:
    draft = ws.drafts.get(_key(task_id, uid), person)
    takes = draft.data.get("takes") if draft is not None else None
    return cast(dict[str, Take], takes) if isinstance(takes, dict) else {}
