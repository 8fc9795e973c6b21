"""What travels and what stays: labels, effort, signatures; and who learns what from a merge."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from apart import Clock, PausedByPerson, fresh, picture, small_task
from cuecard.core.contributions import Commented, ReviewDecision, Reviewed, Submitted
from cuecard.core.errors import Conflict
from cuecard.core.label_records import LabelValue
from cuecard.core.records import TrialRecord
from cuecard.core.verdicts import Judgement
from cuecard.store.bundle_records import LeftOut, SharedEffort
from cuecard.store.workspace import Workspace

Judged = Callable[..., Judgement]


@pytest.fixture
def spaces(tmp_path: Path) -> Iterator[list[Workspace]]:
    """Three empty workspaces."""
    with ExitStack() as stack:
        yield [stack.enter_context(fresh(tmp_path / f"{n}.db")) for n in range(3)]


def _carry(source: Workspace, person: str, target: Workspace, by: str = "Eve"):
    return target.exchange.import_([source.exchange.bundle(person)], by=by)


def _labels(workspace: Workspace) -> list[tuple[int, str, str]]:
    return [(label.verdict_id, label.person, label.value) for label in workspace.verdicts.labels()]


def test_labels_travel_by_trial_and_item(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    judged: Judged,
    tmp_path: Path,
    spaces: list[Workspace],
) -> None:
    if workspace.url.startswith("postgres"):
        pytest.skip("a copy is a file")
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 3))
    there = tmp_path / "copy.db"
    with sqlite3.connect(workspace.public_url) as source, sqlite3.connect(there) as target:
        source.backup(target)
    target.close()
    with Workspace.open(there) as copy:
        first, second, third = (item.verdict_id for item in copy.verdicts.queue("Ana"))
        workspace.verdicts.label(first, "Ben", LabelValue.NO, "no!")
        copy.verdicts.label(first, "Ana", LabelValue.YES)
        workspace.verdicts.label(second, "Ana", LabelValue.UNSURE)
        copy.verdicts.label(second, "Ana", LabelValue.NO, "on second thoughts")
        workspace.verdicts.add(trial.id, judged("b", 4))
        fourth = next(r for r in workspace.verdicts.records() if r.item.index == 3)
        workspace.verdicts.label(fourth.verdict_id, "Ben", LabelValue.YES)

        report = _carry(workspace, "Ben", copy)
        # Also what was not judged here: it counts as soon as it is.
        assert [(a.added, a.known) for a in report.arrived if a.kind == "label"] == [(2, 0)]
        _carry(workspace, "Ana", copy)
        _carry(copy, "Ana", workspace)
        # What Ana said last counts in both, though it came in the other order.
        assert {who: value for v, who, value in _labels(copy) if v == second} == {
            "Ana": LabelValue.NO
        }
        assert [label for label in _labels(workspace) if label[0] in (first, second, third)] == (
            _labels(copy)
        )
        assert [label.value for label in workspace.verdicts.history(second, "Ana")] == [
            LabelValue.UNSURE,
            LabelValue.NO,
        ]
        copy.verdicts.add(trial.id, judged("b", 4))
        again = _carry(workspace, "Ben", copy)
        assert [(a.added, a.known) for a in again.arrived if a.kind == "label"] == [(0, 2)]
        assert "Ben" in [who for _v, who, _value in _labels(copy)[-1:]]
    left = _carry(workspace, "Ben", spaces[0]).left_out
    assert left == (LeftOut(person="Ben", trial=trial.uid, reason="no_trial", count=2),)


def test_effort_that_was_moved_back_is_still_there(spaces: list[Workspace]) -> None:
    here, there, _third = spaces
    here.effort.add("old", "Ana", "page", 1, "https://example.org")
    here.effort.move("old", "Ana", "new")
    here.effort.move("new", "Ana", "old")
    for _time in range(2):
        _carry(here, "Ana", there)
        assert there.effort.of("old") == here.effort.of("old") != []
        assert there.effort.of("new") == here.effort.of("new") == []
    entry = SharedEffort.model_validate(
        {**here.effort.of("old")[0].model_dump(), "at": datetime(2026, 1, 1, tzinfo=UTC)}
    )
    bundle = PausedByPerson("Ana", (entry, entry))
    report = there.exchange.import_([bundle, bundle], by="Eve")
    assert [(a.added, a.known) for a in report.arrived if a.kind == "effort"] == [(2, 0)]


def test_the_same_revision_saved_twice_has_two_authors(spaces: list[Workspace]) -> None:
    """Also when one of them saved it in two workspaces, whichever comes first."""
    ana, ben, eve = spaces
    clock = Clock()
    for workspace, author in ((ana, "Ana"), (ben, "Ben"), (eve, "Ana")):
        workspace.tasks.save(small_task(), author=author, message=f"by {author}", at=clock())
    _carry(ben, "Ben", eve)
    _carry(ana, "Ana", eve)
    _carry(ana, "Ana", ben)
    _carry(eve, "Ana", ben)
    _carry(ben, "Ben", ana)
    _carry(ben, "Ana", ana)
    assert picture(ana) == picture(ben) == picture(eve)
    (node,) = ana.reviews.log("t").revisions
    assert set(node.authors) == {"Ana", "Ben"}
    assert ana.tasks.authors("t") == ben.tasks.authors("t") == {"Ana", "Ben"}
    assert eve.tasks.summaries()[0].author == "Ana"


def test_two_reviews_of_one_person_are_a_clash_without_a_name(spaces: list[Workspace]) -> None:
    """Who merges must not learn who reviewed what as long as the reviews are not in."""
    ana, ben, also_ben = spaces
    clock = Clock()
    ana.tasks.save(small_task(), author="Ana", at=clock())
    ana.reviews.act("t", "Ana", Submitted(), at=clock())
    for workspace in (ben, also_ben):
        _carry(ana, "Ana", workspace, "Ben")
        body = Reviewed(ratings={}, decision=ReviewDecision.APPROVE)
        workspace.reviews.act("t", "Ben", body, at=clock())
        report = _carry(workspace, "Ben", ana, "Cho")
    (clash,) = report.clashes
    assert (clash.kind, clash.people, report.clashes_before) == ("double", (), ())
    assert report.new_clashes == (clash,)
    assert ana.exchange.import_([], by="Ben").clashes == ()
    assert _carry(also_ben, "Ben", ana, "Ben").clashes[0].people == ("Ben",)
    # Both are kept; the first counts.
    assert len(ana.reviews.log("t").contributions) == 3
    assert ana.reviews.standing("t").now.reviewers == ("Ben",)
    assert ana.reviews.visible_to("Cho", "t") == []


def test_forks_are_told_and_joined(spaces: list[Workspace]) -> None:
    ana, ben, _eve = spaces
    clock = Clock()
    ana.tasks.save(small_task(), author="Ana", at=clock())
    _carry(ana, "Ana", ben, "Ben")
    ben.tasks.save(small_task(title="Ben's"), author="Ben", base=1, at=clock())
    ana.tasks.save(small_task(title="Ana's"), author="Ana", base=1, at=clock())
    report = _carry(ben, "Ben", ana, "Ana")
    assert [(clash.kind, clash.revisions) for clash in report.clashes] == [("forks", (2, 3))]
    assert [summary.revision for summary in ana.tasks.summaries()] == [2]
    ana.tasks.save(small_task(title="Both"), author="Ana", base=2, also=(3,), at=clock())
    assert ana.reviews.standing("t").forks == ()
    report = _carry(ana, "Ana", ben, "Ben")
    assert (report.clashes, report.moved[0].title) == ((), "Both")
    assert picture(ana) == picture(ben)


def test_a_shared_workspace_is_merged_into_while_others_write(
    spaces: list[Workspace], tmp_path: Path
) -> None:
    """Two connections to one database: what both do is there, once."""
    ana, shared, alone = spaces
    clock = Clock()
    ana.tasks.save(small_task(), author="Ana", at=clock())
    _carry(ana, "Ana", shared)
    for n in range(12):
        ana.tasks.save(small_task(title=f"title {n}"), author="Ana", at=clock())
        ana.reviews.act("t", "Ana", Commented(place="title", text=f"note {n}"), at=clock())
    bundle = ana.exchange.bundle("Ana")
    with Workspace.open(tmp_path / "1.db") as second, ThreadPoolExecutor(2) as pool:

        def write() -> None:
            for n in range(12):
                body = Commented(place="", text=f"said {n}")
                second.reviews.act("t", "Ben", body, revision=1)

        writing = pool.submit(write)
        merging = [pool.submit(shared.exchange.import_, [bundle], by="Eve") for _time in range(4)]
        added = [future.result().added for future in merging]
        writing.result()
        # The first merge took all of it.
        assert sorted(added) == [0, 0, 0, 24]
        log = second.reviews.log("t")
        assert (len(log.revisions), len(log.contributions)) == (13, 24)
        assert second.tasks.revision("t").task.title == "title 11"
        with pytest.raises(Conflict):
            second.tasks.save(small_task(title="late"), author="Ben", base=1)
        for person in ("Ana", "Ben"):
            _carry(second, person, alone)
        assert picture(alone) == picture(shared)
