"""One workspace with a little of everything, the same to the last byte that anybody can see: every day it is made, on every
machine, in every process. The clock stands still but for the steps that are taken here, and what is drawn at random is counted.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import time_machine

from cuecard.annotate.labelling.adjudication import adjudicate, disputes
from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import plan_of
from cuecard.annotate.results.pool import gather
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL
from cuecard.annotate.samples import import_samples, load_samples
from cuecard.annotate.sessions import EMBEDDED_FORM, keep_form
from cuecard.core.contributions import (
    Claimed,
    Commented,
    GoldCheck,
    PinnedComment,
    Prioritised,
    Rating,
    ReviewDecision,
    Reviewed,
    Submitted,
)
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.i18n import current_language, set_language
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from fidelity_planted import planted
from planted_results import AGENTS, GUIDED, plant

BEGUN = datetime(2026, 11, 2, 8, 30, tzinfo=UTC)
TODAY = datetime(2026, 11, 23, 10, 15, tzinfo=UTC)
"""When somebody looks at the workspace."""
COORDINATOR = "Cleo"
LABELLED = 60


@contextmanager
def counted(name: str) -> Iterator[None]:
    """What `uuid4` and others draw from the system is counted instead: the same names wherever the same is done."""
    numbers = itertools.count()

    def drawn(size: int, /) -> bytes:
        text = f"{name}/{next(numbers)}".encode()
        return hashlib.shake_256(text).digest(size)

    with mock.patch.object(os, "urandom", drawn):
        yield


def seed(path: Path) -> None:
    """Make the workspace at `path`."""
    language = current_language()
    set_language("en")
    try:
        with (
            time_machine.travel(BEGUN, tick=False) as clock,
            counted("seed"),
            Workspace.open(path, create=True) as workspace,
        ):
            import_samples(workspace, "Ann")
            clock.shift(timedelta(hours=1))
            sessions = planted(workspace)
            clock.shift(timedelta(days=1))
            # `plant` takes it for its source; one trial after the other, so that the order of events is always the same.
            tasks = tuple(task.id for task in load_samples())
            plan = RunPlan(tasks=tasks, name="source", concurrency=1)
            asyncio.run(start_run(workspace, plan, by="ann"))
            main = plant(workspace, "main", AGENTS)
            clock.shift(timedelta(days=1))
            guided = plant(workspace, "guided", GUIDED, seed=1)
            clock.shift(timedelta(hours=3))
            _after_sessions(workspace, sessions.trials)
            _review(workspace, clock)
            clock.shift(timedelta(days=1))
            _label(workspace, clock, main)
            _label_more(workspace, guided)
            _draft(workspace)
            for spoken in ("zh", "en"):
                set_language(spoken)
                gather(workspace, [run.id for run in workspace.runs.all()])
                gather(workspace, [main, guided])
    finally:
        set_language(language)


def _after_sessions(workspace: Workspace, trials: dict[str, int]) -> None:
    """A form, marks and a note of whoever played, and what the work took."""
    scales = [question.key for question in EMBEDDED_FORM if question.kind == "scale"]
    for n, trial in enumerate(trials.values()):
        answers: dict[str, int | str] = {key: 1 + (n * 3 + at) % 7 for at, key in enumerate(scales)}
        if n % 2 == 0:
            answers["remarks"] = "It asked for | things that I had said, “twice”."
        keep_form(workspace, trial, "Ann", EMBEDDED_FORM, answers)
    workspace.trial_notes.add(
        trials["espresso"], "Ann", "comment", "turn/3", "A long wait, no news."
    )
    workspace.effort.add("espresso", "Ann", "time", 5400)
    workspace.effort.add("espresso", "Ann", "query", 7, "who patented it?")
    workspace.effort.add("table-us-states", "Ann", "page", 3, "https://example.org/states")


def _review(workspace: Workspace, clock: Any) -> None:
    """`facts-night-train`: two reviews that split; `table-us-states`: approved; `espresso`: one review in, one to come;
    `graph-astronomy-zh`: waits.
    """
    for task in ("facts-night-train", "table-us-states", "espresso", "graph-astronomy-zh"):
        workspace.reviews.act(
            task,
            "Ann",
            Submitted(reason="the sources are old", warnings=("L010",), protocol=_stamp()),
        )
        clock.shift(timedelta(minutes=20))
    for task, reviewer, decision in (
        ("facts-night-train", "Ben", ReviewDecision.APPROVE),
        ("facts-night-train", "Chen", ReviewDecision.RETURN),
        ("table-us-states", "Ben", ReviewDecision.APPROVE),
        ("table-us-states", "Chen", ReviewDecision.APPROVE),
        ("espresso", "Ben", ReviewDecision.APPROVE),
    ):
        clock.shift(timedelta(hours=2))
        workspace.reviews.act(task, reviewer, _reviewed(workspace, task, decision))
    until = TODAY + timedelta(hours=30)
    workspace.reviews.act("espresso", COORDINATOR, Claimed(person="Chen", until=until))
    workspace.reviews.act("graph-astronomy-zh", COORDINATOR, Prioritised(priority=1))
    workspace.reviews.act(
        "facts-lunar-station-zh",
        "Chen",
        Commented(place="query", text="问题里的“月台”是指哪一个？"),
    )
    workspace.reviews.set_skills("Ben", languages=("en",), domains=("travel",))


def _stamp() -> str:
    return EMBEDDED_PROTOCOL.stamp


def _reviewed(workspace: Workspace, task: str, decision: ReviewDecision) -> Reviewed:
    family = workspace.tasks.revision(task).task.family
    keys = [dimension.key for dimension in EMBEDDED_PROTOCOL.dimensions(family)]
    ratings: dict[str, Rating] = dict.fromkeys(keys, "pass")
    comments: tuple[PinnedComment, ...] = ()
    if decision is ReviewDecision.RETURN:
        ratings[keys[0]] = "fail"
        comments = (PinnedComment(place="query", text="Which day is it?", dimension=keys[0]),)
    return Reviewed(
        ratings=ratings,
        decision=decision,
        comments=comments,
        checks=(GoldCheck(place="gold", mark="right", opened=("https://example.org/a",)),),
        sample=("gold",),
        seconds=600,
        protocol=_stamp(),
    )


def _label(workspace: Workspace, clock: Any, run: int) -> None:
    """A set of 60 that Ben and Chen label, not always alike, nor always as the judge; Di adjudicates."""
    plan = plan_of(
        {
            "runs": [run],
            "n": LABELLED,
            "strata": ["decision", "family"],
            "overlap": 1,
            "people": ["Ben", "Chen"],
        }
    )
    drawn = make_set(workspace, plan, name="sixty", by=COORDINATOR)
    dice = random.Random(60)
    for item in workspace.label_sets.items(drawn.id):
        judged = "yes" in item.stratum
        for person, errs in (("Ben", 0.1), ("Chen", 0.2)):
            clock.shift(timedelta(seconds=20))
            yes = judged is (dice.random() >= errs)
            value = LabelValue.YES if yes else LabelValue.NO
            comment = "too coarse, “perhaps”" if dice.random() < 0.1 else ""
            workspace.verdicts.label_item(
                item.trial_id, item.item, person, value, comment, seconds=12
            )
    clock.shift(timedelta(hours=5))
    found = disputes(workspace, set_id=drawn.id)
    decided = ((LabelValue.NO, "gold_wrong"), (LabelValue.YES, "alias"), (LabelValue.YES, ""))
    for dispute, (value, cause) in zip(found, decided, strict=False):
        adjudicate(workspace, dispute.trial_id, dispute.item, "Di", value, cause, "as it says")


def _label_more(workspace: Workspace, run: int) -> None:
    """Labels outside of any set, one of them undecided."""
    trial = next(t.id for t in workspace.runs.trials(run) if t.task_id == "espresso")
    for index, value in enumerate((LabelValue.YES, LabelValue.UNSURE, LabelValue.NO)):
        item = Item(kind=ItemKind.TRIPLE, index=index)
        workspace.verdicts.label_item(trial, item, "Eve", value, seconds=5)


def _draft(workspace: Workspace) -> None:
    """As a program kept it that knew fewer fields of a task."""
    revision = workspace.tasks.revision("checkpoints-highest-mountain")
    data = {
        **revision.task.model_dump(mode="json", exclude_defaults=True),
        "title": "The highest mountain, seen otherwise",
    }
    workspace.drafts.save(revision.task_id, "Ann", revision.number, data)
