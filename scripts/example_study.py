"""Build the example study that comes with Cuecard: the sample tasks and twelve small ones, played, judged, labelled and
reviewed by the product's own calls. Everybody in it is made up, every result is of offline baselines, and every run is called
so. Building it twice gives the same rows.

python scripts/example_study.py            builds it, and writes src/cuecard/examples/study.db.xz
python scripts/example_study.py --check    builds it, and says whether the file holds the same rows
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import json
import lzma
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import time_machine

from cuecard.annotate.independent_gold.building import hand_in, open_blank
from cuecard.annotate.labelling.adjudication import adjudicate, disputes
from cuecard.annotate.labelling.effect_rescoring import settled_labels
from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import plan_of
from cuecard.annotate.results.pool import gather
from cuecard.annotate.review.submitting import submit_checked
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL
from cuecard.annotate.samples import load_samples
from cuecard.annotate.sessions import EMBEDDED_FORM, keep_form
from cuecard.annotate.study import STUDY, STUDY_FILE
from cuecard.core.config import EMBEDDED
from cuecard.core.contributions import (
    Claimed,
    Commented,
    GoldCheck,
    PinnedComment,
    Prioritised,
    Rating,
    ReviewDecision,
    Reviewed,
)
from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import Dialogue, UserReply
from cuecard.core.evaluation.plans import RunPlan, RunSettings
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import start_run
from cuecard.core.evaluation.shadow_replay import shadow_trials
from cuecard.core.i18n import set_language
from cuecard.core.label_records import LabelValue
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.users.scripted import ScriptedUser, next_stage
from cuecard.core.verdicts import Decision
from cuecard.store.copies import rows_of, tables
from cuecard.store.workspace import Workspace, database_at

ROOT = Path(__file__).parent.parent
TASKS = ROOT / "scripts" / "study_tasks"
PACKED = ROOT / "src" / "cuecard" / STUDY_FILE
BEGUN = datetime(2026, 10, 5, 8, 30, tzinfo=UTC)
AUTHORS = ("Ada", "Bo")
REVIEWERS = ("Cem", "Dana")
ADJUDICATOR, COORDINATOR = "Eli", "Fay"
AGENTS = ("offline:wordy", "offline:forgetful", "offline:hasty")
JUDGE = "lexical:noisy"
"""Stands for a model: its mistakes are planted."""
LABELLED = 90
WHOLE_TRIALS, WHOLE_SEED = 93, 7
"""Of the 135 whose triples or answers a judge decides; of each agent and family some of every task."""


@contextlib.contextmanager
def counted() -> Iterator[None]:
    """What `uuid4` draws from the system is counted instead, so that the same things get the same names."""
    numbers = itertools.count()

    def drawn(size: int, /) -> bytes:
        return hashlib.shake_256(f"study/{next(numbers)}".encode()).digest(size)

    with mock.patch.object(os, "urandom", drawn):
        yield


def build(path: Path, *, tasks: Sequence[Task] = (), samples: int = 3) -> None:
    """Make the study in a new file. `tasks`: instead of all twenty."""
    set_language("en")
    found = tuple(tasks) or (*load_samples(), *map(load_task, sorted(TASKS.glob("*.yaml"))))
    with (
        time_machine.travel(BEGUN, tick=False) as clock,
        counted(),
        Workspace.open(path, create=True) as workspace,
    ):
        _Study(workspace, clock, found).all(samples)


class _Study:
    """One step after the other, each a while after the last."""

    def __init__(self, workspace: Workspace, clock: Any, tasks: Sequence[Task]) -> None:
        self.ws, self.clock = workspace, clock
        self.tasks = {task.id: task for task in tasks}
        self.dice = random.Random("example study")

    def all(self, samples: int) -> None:
        for name in (*AUTHORS, *REVIEWERS, ADJUDICATOR, COORDINATOR):
            self.ws.people.add(name)
        for n, task in enumerate(self.tasks.values()):
            self.wait(hours=2)
            self.ws.tasks.save(task, author=AUTHORS[n % 2], message="made for demonstration")
            self.ws.effort.add(task.id, AUTHORS[n % 2], "time", 900 + 240 * n)
        self.review()
        self.play()
        led = tuple(t.id for t in self.tasks.values() if t.persona or t.family == "checkpoints")
        self.run("Hasty user", led, "scripted:hasty", 1)
        run = self.run("Three agents", tuple(self.tasks), "scripted", samples)
        self.label(run)
        self.build_gold()
        self.label_trials(run)
        for language in ("zh", "en"):
            set_language(language)
            gather(self.ws, [run.id for run in self.ws.runs.all()])

    def wait(self, **units: float) -> None:
        self.clock.shift(timedelta(**units))

    def review(self) -> None:
        """Tasks in every state: approved, returned, split, under review, waiting, not submitted yet."""
        yes, no = ReviewDecision.APPROVE, ReviewDecision.RETURN
        plans = ((yes, yes), (yes, yes), (yes, yes), (no, no), (yes, no), (yes,), (yes,), (), ())
        for n, (task_id, decisions) in enumerate(zip(sorted(self.tasks), plans, strict=False)):
            author = self.ws.tasks.revision(task_id).author
            self.wait(hours=3)
            submit_checked(self.ws, task_id, author, EMBEDDED_PROTOCOL, "small on purpose")
            for reviewer, decision in zip(REVIEWERS, decisions, strict=False):
                self.wait(hours=5)
                self.ws.reviews.act(task_id, reviewer, self.reviewed(task_id, decision, n))
            if len(decisions) == 1:
                until = self.now + timedelta(days=4000)
                self.ws.reviews.act(task_id, COORDINATOR, Claimed(person="Dana", until=until))
        for task_id in sorted(self.tasks)[:2]:
            text = "Made up for demonstration: is the wording of the query as short as it can be?"
            self.ws.reviews.act(task_id, "Cem", Commented(place="query", text=text))
        self.ws.reviews.act(sorted(self.tasks)[-1], COORDINATOR, Prioritised(priority=1))

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def reviewed(self, task_id: str, decision: ReviewDecision, n: int) -> Reviewed:
        family = self.ws.tasks.revision(task_id).task.family
        keys = [dimension.key for dimension in EMBEDDED_PROTOCOL.dimensions(family)]
        ratings: dict[str, Rating] = dict.fromkeys(keys, "pass")
        comments: tuple[PinnedComment, ...] = ()
        if decision is ReviewDecision.RETURN:
            ratings[keys[n % len(keys)]] = "fail"
            text = "A reader cannot tell which year is meant."
            comments = (PinnedComment(place="query", text=text, dimension=keys[n % len(keys)]),)
        return Reviewed(
            ratings=ratings,
            decision=decision,
            comments=comments,
            checks=(GoldCheck(place="gold", mark="right", opened=()),),
            sample=("gold",),
            seconds=420 + 60 * n,
            protocol=EMBEDDED_PROTOCOL.stamp,
        )

    def run(self, title: str, tasks: tuple[str, ...], user: str, samples: int) -> int:
        """One trial after the other, so that the order of events is always the same; every event takes some seconds."""
        self.wait(days=1)
        plan = RunPlan(
            name=f"{title} {STUDY}",
            tasks=tasks,
            agents=AGENTS,
            samples=samples,
            concurrency=1,
            limits=Limits(),
            settings=RunSettings(user=user, judges=(JUDGE, "lexical")),
        )
        outcome = asyncio.run(
            start_run(self.ws, plan, by=COORDINATOR, on_event=lambda _event: self.wait(seconds=2))
        )
        return outcome.run.id

    def play(self) -> None:
        """Two sessions that a person might have played, and what both simulators would have said in them."""
        for task_id, agent in (("graph-new-planets", AGENTS[0]), ("espresso", AGENTS[2])):
            if task_id not in self.tasks:
                continue
            self.wait(days=1)
            trial = asyncio.run(self.session(task_id, agent))
            scales = [question.key for question in EMBEDDED_FORM if question.kind == "scale"]
            answers: dict[str, int | str] = {key: self.dice.randint(3, 6) for key in scales}
            keep_form(self.ws, trial, "Ada", EMBEDDED_FORM, answers)
            self.ws.trial_notes.add(trial, "Ada", "comment", "turn/2", "It repeats itself here.")

    async def session(self, task_id: str, agent: str) -> int:
        task = self.tasks[task_id]
        card = ScriptedUser(task, patience=2)
        session = await PlaySession.start(self.ws, task_id, by="Ada", agent=agent)
        dialogue = Dialogue()
        seen = 0
        while await session.wait_turn():
            for event in session.events[seen:]:
                if message := getattr(event.body, "message", None):
                    dialogue = dialogue.plus(message)
            seen = len(session.events)
            self.wait(seconds=35)
            reply = card.answer(dialogue) if dialogue.messages else card.opening()
            await session.submit(self.in_own_words(task, dialogue, reply))
        await session.wait()
        await session.close()
        await shadow_trials(
            self.ws, [session.trial.id], ("scripted", "scripted:hasty"), EMBEDDED, concurrency=1
        )
        return session.trial.id

    def in_own_words(self, task: Task, dialogue: Dialogue, reply: UserReply) -> UserReply:
        """People do not read out what the card says, and now and then take a cue for met that is not."""
        if reply.cue_met is False and reply.stage is None and self.dice.random() < 0.2:
            number = next_stage(task.persona, dialogue) if task.persona else None
            if task.persona and number:
                line = task.persona.stages[number - 1].line
                reply = UserReply(text=line, stage=number, cue_met=True)
        if reply.stage is None or self.dice.random() < 0.4:
            return reply
        text = f"Thanks, noted. {reply.text}"
        return reply.model_copy(update={"text": text, "edited": True, "meaning": "kept"})

    def label(self, run: int) -> None:
        """Two people label what the noisy judge decided; each errs now and then. A third decides some of their disputes."""
        self.wait(days=1)
        plan = plan_of(
            {
                "runs": [run],
                "n": min(LABELLED, 20 * len(self.tasks)),
                "strata": ["decision", "family"],
                "overlap": 1,
                "people": list(REVIEWERS),
            }
        )
        drawn = make_set(self.ws, plan, name="Example: is the judge right?", by=COORDINATOR)
        right = self.right(run)
        for item in self.ws.label_sets.items(drawn.id):
            for person, errs in zip(REVIEWERS, (0.06, 0.14), strict=True):
                self.wait(seconds=20)
                yes = right[item.trial_id, item.item.key] is (self.dice.random() >= errs)
                value = LabelValue.YES if yes else LabelValue.NO
                if self.dice.random() < 0.03:
                    value = LabelValue.UNSURE
                comment = "half of it is there" if self.dice.random() < 0.08 else ""
                seconds = self.dice.randint(6, 30)
                self.ws.verdicts.label_item(
                    item.trial_id, item.item, person, value, comment, seconds=seconds
                )
        self.wait(hours=5)
        found = disputes(self.ws, set_id=drawn.id)
        for n, dispute in enumerate(found[: len(found) * 2 // 3]):
            self.wait(minutes=2)
            value = LabelValue.YES if right[dispute.trial_id, dispute.item.key] else LabelValue.NO
            cause = ("alias", "", "gold_wrong", "")[n % 4]
            adjudicate(self.ws, dispute.trial_id, dispute.item, ADJUDICATOR, value, cause, "")

    def right(self, run: int) -> dict[tuple[int, str], bool]:
        """What is covered, by the judge that does not err."""
        return {
            (mark.trial_id, key): letter == Decision.YES.value[0]
            for mark in self.ws.verdict_pages.marks([run], "lexical")
            for key, letter in zip(mark.keys, mark.decisions, strict=True)
        }

    def label_trials(self, run: int) -> None:
        """Two people share whole trials of graphs, checkpoints and facts, a tenth of them in common, so that labels correct F1
        too. The third decides where they differ or cannot tell: a trial counts once all of it is decided.
        """
        self.wait(days=1)
        plan = plan_of(
            {
                "runs": [run],
                "n": WHOLE_TRIALS,
                "by": "trials",
                "kinds": ["triple", "answer"],
                "strata": ["family"],
                "overlap": 0.1,
                "seed": WHOLE_SEED,
                "people": list(REVIEWERS),
            }
        )
        drawn = make_set(self.ws, plan, name="Example: what are the scores?", by=COORDINATOR)
        items = self.ws.label_sets.items(drawn.id)
        right = self.right(run)
        given = {
            (label.trial_id, label.item_key, label.person)
            for label in self.ws.verdicts.item_labels({item.trial_id for item in items})
        }
        for item in items:
            for person, errs in zip(REVIEWERS, (0.01, 0.03), strict=True):
                place = item.trial_id, item.item.key
                if person not in item.people or (*place, person) in given:
                    continue
                self.wait(seconds=10)
                yes = right[place] is (self.dice.random() >= errs)
                value = LabelValue.YES if yes else LabelValue.NO
                seconds = self.dice.randint(4, 15)
                self.ws.verdicts.label_item(
                    item.trial_id, item.item, person, value, seconds=seconds
                )
        self.wait(hours=5)
        settled = settled_labels(self.ws, {item.trial_id for item in items})
        for item in items:
            place = item.trial_id, item.item.key
            if settled[place].value is None:
                self.wait(minutes=1)
                value = LabelValue.YES if right[place] else LabelValue.NO
                adjudicate(self.ws, item.trial_id, item.item, ADJUDICATOR, value, "", "")

    def build_gold(self) -> None:
        """A table that somebody built again, with one cell otherwise and a row less."""
        task_id = "table-planets"
        if task_id not in self.tasks:
            return
        self.wait(days=1)
        opened, _changed = open_blank(self.ws, task_id, "Dana")
        gold = self.tasks[task_id].model_dump(mode="json")["gold"]
        rows = [list(row) for row in gold["rows"][:-1]]
        rows[6][2] = "gas giant"
        data = {**opened.edit.data, "gold": {**gold, "rows": rows}}
        hand_in(self.ws, task_id, "Dana", opened.edit.base, data, "one row is unclear")


def content(path: Path) -> dict[str, list[Any]]:
    """All rows of a workspace by table, as they compare whatever the pages of the file look like."""
    database = database_at(path, create=False)
    try:
        with database.read() as session:
            connection = session.connection()
            return {
                table.name: [tuple(row) for row in rows_of(connection, table)] for table in tables()
            }
    finally:
        database.close()


def pack(built: Path, file: Path) -> None:
    """Compress a workspace's file, without what its pages hold besides rows."""
    compact = built.with_suffix(".compact")
    with contextlib.closing(sqlite3.connect(built)) as connection:
        connection.execute("VACUUM INTO ?", [str(compact)])
    file.write_bytes(lzma.compress(compact.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


def main(words: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "study.db"
        build(built)
        if "--check" not in words:
            pack(built, PACKED)
            print(f"{PACKED.relative_to(ROOT)}: {PACKED.stat().st_size:,} bytes")
            return 0
        kept = Path(folder) / "kept.db"
        kept.write_bytes(lzma.decompress(PACKED.read_bytes()))
        ours, theirs = content(built), content(kept)
        other = [name for name in ours if ours[name] != theirs.get(name)]
        print(json.dumps({"other tables": other}))
        return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
