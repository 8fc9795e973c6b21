"""Revisions that were saved side by side, brought together by three-way merge."""

from __future__ import annotations

from pathlib import Path

from apart import Clock, fresh, small_task
from cuecard.annotate.authoring.merge import Merging
from cuecard.annotate.sharing.merging import fork_of, join_fork
from cuecard.annotate.waiting import pending_for
from cuecard.core.contributions import Submitted


def test_a_fork_is_joined_over_what_both_stand_on(tmp_path: Path) -> None:
    clock = Clock()
    with fresh(tmp_path / "a.db") as ana, fresh(tmp_path / "b.db") as ben:
        ana.tasks.save(small_task(notes="first"), author="Ana", at=clock())
        ana.tasks.save(small_task(notes="second"), author="Ana", at=clock())
        assert fork_of(ana, "t", "Ana") is None
        ben.exchange.import_([ana.exchange.bundle("Ana")], by="Ben")
        ana.tasks.save(small_task(notes="second", title="Ana's"), author="Ana", at=clock())
        ben.tasks.save(small_task(notes="Ben's"), author="Ben", at=clock())
        ana.exchange.import_([ben.exchange.bundle("Ben")], by="Ana")

        waiting = pending_for(ana, "Ana")
        assert ([task.id for task in waiting.forked], waiting.to_submit) == (["t"], ())
        assert pending_for(ana, "Cho").forked == ()
        fork = fork_of(ana, "t", "Ana")
        assert fork is not None
        assert (fork.head, fork.other, fork.base_number, fork.more) == (4, 3, 2, 0)
        # Ana saved the older of the two, so hers is that one.
        assert (fork.mine.authors, fork.theirs.authors) == (("Ana",), ("Ben",))
        merged = Merging(fork.base, fork.mine.data, fork.theirs.data).merge()
        assert not merged.conflicts
        joined = join_fork(ana, fork, merged.data, "Ana", " together ")
        assert (joined.task.title, joined.task.notes, joined.number) == ("Ana's", "Ben's", 5)
        assert fork_of(ana, "t", "Ana") is None
        assert [task.id for task in pending_for(ana, "Ana").to_submit] == ["t"]
        tips = {node.number: node for node in ana.reviews.log("t").revisions}
        assert set(tips[5].parents) == {tips[3].uid, tips[4].uid}


def test_tasks_that_were_begun_apart_under_one_id_are_joined(tmp_path: Path) -> None:
    clock = Clock()
    with fresh(tmp_path / "a.db") as ana, fresh(tmp_path / "b.db") as ben:
        ana.tasks.save(small_task(title="One"), author="Ana", at=clock())
        ben.tasks.save(small_task(title="Other"), author="Ben", at=clock())
        ben.reviews.act("t", "Ben", Submitted(), at=clock())
        ana.exchange.import_([ben.exchange.bundle("Ben")], by="Ana")
        fork = fork_of(ana, "t", "Cho")
        assert fork is not None
        assert (fork.base_number, fork.mine.revision.task.title) == (0, "Other")
        # The head is in review: a stranger does not learn who wrote it.
        assert fork.mine.authors == ()
        outcome = Merging(fork.base, fork.mine.data, fork.theirs.data).merge()
        (clash,) = outcome.conflicts
        chosen = Merging(fork.base, fork.mine.data, fork.theirs.data).merge({clash.key: "theirs"})
        joined = join_fork(ana, fork, chosen.data, "Ana")
        assert joined.task == small_task(title="One")
        # What says the same as one of them still brings them together.
        assert fork_of(ana, "t", "Ana") is None
