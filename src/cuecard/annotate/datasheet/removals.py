"""What was taken out and why, and what the quality probes led to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import get_args

from cuecard.annotate.datasheet.material import Material, TaskMaterial, entries
from cuecard.annotate.datasheet.model import QcFigures, RetiredTask, SignalLine, Tally
from cuecard.annotate.datasheet.people import Masks
from cuecard.annotate.qc.decision import reasons_of
from cuecard.annotate.qc.signals import SIGNALS, Sign
from cuecard.core.i18n import _
from cuecard.core.review import Action, QcDecided, QcVerdict

_NOT_LOOKED: tuple[Sign, ...] = ("open", "off")
_RAISED: tuple[Sign, ...] = ("some", "most", "found")


def retired_tasks(material: Material, masks: Masks) -> tuple[RetiredTask, ...]:
    return tuple(
        _retired(task_id, task, masks)
        for task_id, task in sorted(material.tasks.items())
        if not task.in_use
    )


def removal_reasons(retired: Iterable[RetiredTask]) -> tuple[Tally, ...]:
    """The most frequent first: the rules behind a confirmed removal, else what the person wrote."""
    tasks: defaultdict[str, set[str]] = defaultdict(set)
    for task in retired:
        said = task.reason or _("no reason was given")
        for reason in reasons_of(task.rules) or (said,):
            tasks[reason].add(task.task_id)
    lines = [Tally(name=name, n=len(found), tasks=len(found)) for name, found in tasks.items()]
    return tuple(sorted(lines, key=lambda line: (-line.n, line.name)))


def qc_figures(material: Material) -> QcFigures:
    newest = [decided for task in material.tasks.values() if (decided := _decision(task))]
    verdicts: Counter[QcVerdict] = Counter(decided.verdict for decided in newest)
    return QcFigures(
        decided=len(newest),
        verdicts={verdict: verdicts[verdict] for verdict in get_args(QcVerdict)},
        overruled=sum(decided.verdict != decided.proposed for decided in newest),
        signals=_signals(newest),
        rules=_tallies(rule for decided in newest for rule in set(decided.rules)),
    )


def _decision(task: TaskMaterial) -> QcDecided | None:
    """The newest one, on whichever revision."""
    bodies = [entry.body for entry in entries(task.log)]
    return next((body for body in reversed(bodies) if isinstance(body, QcDecided)), None)


def _signals(decisions: Iterable[QcDecided]) -> tuple[SignalLine, ...]:
    """In the order of the decision table."""
    looked: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    for decided in decisions:
        for name, sign in decided.signals.items():
            if sign not in _NOT_LOOKED:
                looked[name] += 1
                raised[name] += sign in _RAISED
    rank = {name: index for index, name in enumerate(SIGNALS)}
    names = sorted(looked, key=lambda name: (rank.get(name, len(rank)), name))
    return tuple(SignalLine(name=n, looked=looked[n], raised=raised[n]) for n in names)


def _tallies(names: Iterable[str]) -> tuple[Tally, ...]:
    found = Counter(names)
    order = sorted(found, key=lambda name: (-found[name], name))
    return tuple(Tally(name=name, n=found[name], tasks=found[name]) for name in order)


def _retired(task_id: str, task: TaskMaterial, masks: Masks) -> RetiredTask:
    moves = [move for move in task.standing.history if move.action is Action.RETIRE]
    last = moves[-1] if moves else None
    decided = _decision(task)
    removed = decided is not None and decided.verdict == "remove"
    return RetiredTask(
        task_id=task_id,
        family=task.task.family,
        by=masks.name(last.by) if last else "",
        at=last.at if last else None,
        reason=masks.text(last.reason.strip()) if last else "",
        rules=decided.rules if decided and removed else (),
    )
