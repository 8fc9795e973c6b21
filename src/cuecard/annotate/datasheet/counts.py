"""Figures over tasks: how many of which kind, what they took to write, where they took it from."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from cuecard.annotate.authoring.evidence import evidence_of
from cuecard.annotate.datasheet.material import Material, TaskMaterial
from cuecard.annotate.datasheet.model import (
    Count,
    EffortLine,
    Release,
    ReleasedTask,
    SourceFigures,
    Tally,
    TaskFigures,
)
from cuecard.annotate.review.figures import spread
from cuecard.core.review import TaskState
from cuecard.core.tasks import FAMILIES, Family, Task, content_hash


def task_figures(material: Material) -> TaskFigures:
    in_use = material.in_use
    states = Counter(task.standing.state for task in material.tasks.values())
    return TaskFigures(
        total=len(material.tasks),
        in_use=len(in_use),
        approved=states[TaskState.APPROVED],
        by_state={state: states[state] for state in TaskState},
        by_family=_counts(in_use, lambda task: task.family, FAMILIES),
        by_language=_counts(in_use, lambda task: task.language),
        by_domain=_counts(in_use, lambda task: task.domain.strip()),
        by_difficulty=_counts(
            in_use, lambda task: task.difficulty or "", ("easy", "medium", "hard")
        ),
    )


def release_of(material: Material) -> Release:
    released = tuple(
        ReleasedTask(
            task_id=task_id,
            family=task.task.family,
            revision=task.standing.head,
            hash=content_hash(task.task),
            uid=next(node.uid for node in task.log.revisions if node.number == task.standing.head),
        )
        for task_id, task in sorted(material.tasks.items())
        if task.approved
    )
    lines = "".join(f"{task.task_id}\n{task.hash}\n" for task in released)
    return Release(tasks=released, hash=hashlib.sha256(lines.encode()).hexdigest())


def effort_lines(material: Material) -> tuple[EffortLine, ...]:
    """All tasks in use first, then family by family, those that have any."""
    in_use = material.in_use
    lines = [_effort(None, in_use)]
    for family in FAMILIES:
        if own := [task for task in in_use if task.task.family == family]:
            lines.append(_effort(family, own))
    return tuple(lines)


def source_figures(material: Material) -> SourceFigures:
    addresses: set[str] = set()
    sites: defaultdict[str, set[str]] = defaultdict(set)
    tasks: Counter[str] = Counter()
    without = 0
    for task in material.in_use:
        own = {e.url for e in evidence_of(task.task.model_dump(mode="json")) if e.sound}
        without += not own
        addresses |= own
        tasks.update({site_of(url) for url in own})
        for url in own:
            sites[site_of(url)].add(url)
    lines = [Tally(name=site, n=len(urls), tasks=tasks[site]) for site, urls in sites.items()]
    lines.sort(key=lambda line: (-line.tasks, -line.n, line.name))
    return SourceFigures(addresses=len(addresses), sites=tuple(lines), without=without)


def site_of(url: str) -> str:
    """The host of a web address, without port and a leading `www.`."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return host.removeprefix("www.") or "?"


def _effort(family: Family | None, tasks: list[TaskMaterial]) -> EffortLine:
    told = [task.effort for task in tasks]
    told = [effort for effort in told if effort.seconds or effort.queries or effort.pages]
    return EffortLine(
        family=family,
        minutes=spread([effort.seconds / 60 for effort in told]),
        queries=spread([effort.queries for effort in told]),
        pages=spread([effort.pages for effort in told]),
    )


def _counts(
    tasks: Iterable[TaskMaterial], key: Callable[[Task], str], order: tuple[str, ...] = ()
) -> tuple[Count, ...]:
    """In the given order, then the most frequent first; what does not occur is left out."""
    every: Counter[str] = Counter()
    approved: Counter[str] = Counter()
    for task in tasks:
        every[key(task.task)] += 1
        approved[key(task.task)] += task.approved
    rank = {name: index for index, name in enumerate(order)}
    names = sorted(every, key=lambda name: (rank.get(name, len(rank)), -every[name], name))
    return tuple(Count(name=name, n=every[name], approved=approved[name]) for name in names)
