from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cuecard.core.contributions import (
    Restored,
    Retired,
    ReviewDecision,
    Reviewed,
    Submitted,
    TaskState,
    revision_uid,
)
from cuecard.core.errors import Conflict, NotFound
from cuecard.core.tasks.base import Origin
from cuecard.core.tasks.models import Task, content_hash
from cuecard.store.workspace import Workspace

MakeTask = Callable[..., Task]


def test_every_sample_comes_back_equal(workspace: Workspace, samples: tuple[Task, ...]) -> None:
    for task in samples:
        saved = workspace.tasks.save(task, author="Ann", message="import")
        assert (saved.number, saved.hash) == (1, content_hash(task))
    assert workspace.tasks.count() == len(samples)
    for task in samples:
        found = workspace.tasks.revision(task.id)
        assert found.task == task
        assert found.message == "import"


def test_saving_the_same_content_again_changes_nothing(
    workspace: Workspace, make_task: MakeTask
) -> None:
    first = workspace.tasks.save(make_task(), author="Ann", base=0)
    for base in (None, 0, 1, 7):
        assert workspace.tasks.save(make_task(), author="Bob", base=base) == first
    assert workspace.tasks.revisions("t") == [first]
    assert not workspace.people.exists("Bob")


def test_the_second_of_two_savers_is_told_and_overwrites_nothing(
    workspace: Workspace, make_task: MakeTask
) -> None:
    workspace.tasks.save(make_task(), author="Ann", base=0)
    workspace.tasks.save(make_task(title="Ann's"), author="Ann", message="clearer", base=1)
    with pytest.raises(Conflict) as caught:
        workspace.tasks.save(make_task(title="Bob's"), author="Bob", base=1)
    assert "Ann saved revision 2" in caught.value.message
    assert "clearer" in caught.value.message
    assert [r.task.title for r in workspace.tasks.revisions("t")] == ["Ann's", "Task t"]
    merged = workspace.tasks.save(make_task(title="Bob's"), author="Bob", base=2)
    assert merged.number == 3


def test_a_new_task_does_not_take_an_id_that_is_in_use(
    workspace: Workspace, make_task: MakeTask
) -> None:
    workspace.tasks.save(make_task(), author="Ann", base=0)
    with pytest.raises(Conflict):
        workspace.tasks.save(make_task(title="other"), author="Bob", base=0)
    with pytest.raises(NotFound):
        workspace.tasks.save(make_task("absent"), author="Bob", base=3)


def test_an_import_takes_the_next_number(workspace: Workspace, make_task: MakeTask) -> None:
    workspace.tasks.save(make_task(), author="Ann")
    again = workspace.tasks.save(make_task(title="v2"), author="Ann")
    back = workspace.tasks.save(make_task(), author="Ann")
    assert (again.number, back.number) == (2, 3)
    assert workspace.tasks.revision("t", 1).task == make_task()


def test_what_is_not_there_is_not_found(workspace: Workspace, make_task: MakeTask) -> None:
    workspace.tasks.save(make_task(), author="Ann")
    for call in (
        lambda: workspace.tasks.revision("absent"),
        lambda: workspace.tasks.revision("absent", 1),
        lambda: workspace.tasks.revision("t", 2),
        lambda: workspace.tasks.revisions("absent"),
        lambda: workspace.reviews.act("absent", "Ann", Retired()),
        lambda: workspace.tasks.save(make_task(title="v2"), author="Ann", also=(7,)),
    ):
        with pytest.raises(NotFound):
            call()


def test_summaries_are_filtered(workspace: Workspace, samples: tuple[Task, ...]) -> None:
    for task in samples:
        workspace.tasks.save(task, author="Ann")
    tasks = workspace.tasks
    assert [s.id for s in tasks.summaries()] == sorted(task.id for task in samples)
    assert {s.family for s in tasks.summaries(family="table")} == {"table"}
    assert {s.language for s in tasks.summaries(language="zh")} == {"zh"}
    workspace.reviews.act("espresso", "Bob", Retired(reason="old"))
    workspace.reviews.act("espresso", "Bob", Retired(reason="twice"))
    assert "espresso" not in {s.id for s in tasks.summaries()}
    assert "espresso" in {s.id for s in tasks.summaries(include_retired=True)}
    assert [s.id for s in tasks.summaries(state=TaskState.RETIRED)] == ["espresso"]
    assert [move.reason for move in workspace.reviews.history("espresso")] == ["old"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["100%", "beta", "straße"]),
        ("BETA", ["beta"]),
        ("ann STRASSE", ["straße"]),
        ("100%", ["100%"]),
        ("1_0", []),
        ("两江", ["beta"]),
        ("\x00", []),
    ],
)
def test_summaries_are_searched(
    workspace: Workspace, make_task: MakeTask, text: str, found: list[str]
) -> None:
    fields: dict[str, dict[str, Any]] = {
        "a": {"title": "100%"},
        "b": {"title": "beta", "domain": "两江"},
        "c": {"title": "straße"},
    }
    for id, values in fields.items():
        workspace.tasks.save(make_task(id, **values), author="Ann")
    assert [summary.title for summary in workspace.tasks.summaries(text=text)] == found


def test_a_new_revision_is_a_draft_again_and_a_retired_task_stays_so(
    workspace: Workspace, make_task: MakeTask
) -> None:
    workspace.tasks.save(make_task(), author="Ann")
    workspace.reviews.act("t", "Ann", Submitted())
    workspace.tasks.save(make_task(title="v2"), author="Bob", base=1)
    assert workspace.reviews.state("t") is TaskState.DRAFT
    moves = [(m.revision, m.state, m.by) for m in workspace.reviews.history("t")]
    assert moves == [
        (1, TaskState.IN_REVIEW, "Ann"),
        (2, TaskState.DRAFT, "Bob"),
    ]
    [summary] = workspace.tasks.summaries()
    assert (summary.author, summary.revision, summary.title) == ("Ann", 2, "v2")
    workspace.reviews.act("t", "Ann", Retired())
    workspace.tasks.save(make_task(title="v3"), author="Bob")
    assert workspace.reviews.state("t") is TaskState.RETIRED


def test_a_retired_task_comes_back_to_where_it_stood(
    workspace: Workspace, make_task: MakeTask
) -> None:
    tasks = workspace.tasks
    tasks.save(make_task(), author="Ann")
    reviews = workspace.reviews
    reviews.act("t", "Ann", Submitted())
    for name in ("Cy", "Di"):
        reviews.act("t", name, Reviewed(ratings={}, decision=ReviewDecision.APPROVE))
    reviews.act("t", "Ann", Retired(reason="old"))
    assert reviews.state("t") is TaskState.RETIRED
    assert tasks.summaries() == []
    reviews.act("t", "Bob", Restored(reason="needed after all"))
    assert reviews.state("t") is TaskState.APPROVED
    assert reviews.history("t")[-1].reason == "needed after all"
    assert [s.id for s in tasks.summaries()] == ["t"]
    reviews.act("t", "Ann", Retired(reason="old"))
    tasks.save(make_task(title="v2"), author="Ann")
    reviews.act("t", "Ann", Restored())
    assert reviews.state("t") is TaskState.DRAFT


def test_revisions_are_named_by_content_and_by_what_they_stand_on(
    workspace: Workspace, make_task: MakeTask
) -> None:
    first = workspace.tasks.save(make_task(), author="Ann")
    second = workspace.tasks.save(make_task(title="v2"), author="Bob", base=1)
    back = workspace.tasks.save(make_task(), author="Ann", base=2)
    nodes = workspace.reviews.log("t").revisions
    assert [node.parents for node in nodes] == [(), (first.uid,), (second.uid,)]
    assert nodes[0].tick < nodes[1].tick < nodes[2].tick
    assert len({first.uid, second.uid, back.uid}) == 3
    assert first.hash == back.hash
    assert first.uid == revision_uid("t", first.hash, ())
    merged = workspace.tasks.save(make_task(), author="Ann", also=(2,))
    assert workspace.reviews.log("t").revisions[-1].parents == tuple(sorted((back.uid, second.uid)))
    assert merged.number == 4


def test_a_revision_says_what_of_it_a_machine_drafted(
    workspace: Workspace, make_task: MakeTask
) -> None:
    drafted = Origin(kind="persona", by="m", items=1, at=datetime(2026, 1, 2, tzinfo=UTC))
    saved = workspace.tasks.save(make_task(), author="Ann", origins=(drafted,))
    workspace.tasks.save(make_task(title="v2"), author="Ann")
    assert saved.origins == (drafted,)
    found = workspace.tasks.revisions("t")
    assert [revision.origins for revision in found] == [(), (drafted,)]
    lines = workspace.tasks.log("t")
    assert [(line.number, line.hash, line.origins) for line in lines] == [
        (revision.number, revision.hash, revision.origins) for revision in found
    ]
    assert workspace.tasks.log("absent") == []


def test_large_and_odd_text_comes_back_exactly(workspace: Workspace, make_task: MakeTask) -> None:
    odd = make_task(
        title="[red]\x1b[0m\u202e", notes="行" * 50_000 + "\n\t ", query="'; DROP TABLE task"
    )
    workspace.tasks.save(odd, author='O\'Hara "x"', message="'%s' :x ?")
    found = workspace.tasks.revision("t")
    assert found.task == odd
    assert found.message == "'%s' :x ?"


def test_many_tasks_are_saved_together_or_not_at_all(
    workspace: Workspace, make_task: MakeTask
) -> None:
    tasks, first = workspace.tasks, make_task("a")
    dry = tasks.save_all([first, make_task("b")], author="Ann", dry=True)
    assert [(saved.before, saved.number) for saved in dry] == [(0, 1), (0, 1)]
    assert tasks.count() == 0
    assert tasks.save_all([first, make_task("b")], author="Ann") == dry
    other = make_task("a", title="Other")

    def join(given: Task, newest: Task) -> Task:
        return given.model_copy(update={"title": newest.title})

    same = tasks.save_all([other, make_task("b")], author="Bob", join=join)
    assert [(saved.before, saved.number) for saved in same] == [(1, 1), (1, 1)]
    assert not workspace.people.exists("Bob")
    assert [saved.number for saved in tasks.save_all([make_task("b"), other], author="Bob")] == [
        1,
        2,
    ]
    with pytest.raises(Exception, match="id"):
        tasks.save_all([make_task("c"), other.model_copy(update={"id": None})], author="Bob")
    assert [summary.id for summary in tasks.summaries()] == ["a", "b"]


def test_many_are_saved_as_one_after_the_other_would_be(
    workspace: Workspace, make_task: MakeTask
) -> None:
    workspace.tasks.save(make_task("old"), author="Ann")
    given = [
        make_task("old", title="Changed"),
        make_task("new"),
        make_task("other"),
        make_task("new", title="Twice"),
        make_task("other"),
    ]
    dry = workspace.tasks.save_all(given, author="Bob", dry=True)
    assert [(s.task_id, s.before, s.number) for s in dry][:3] == [
        ("old", 1, 2), ("new", 0, 1), ("other", 0, 1)
    ]  # fmt: skip
    assert workspace.tasks.count() == 1
    saved = workspace.tasks.save_all(given, author="Bob", message="import")
    assert [(s.task_id, s.before, s.number) for s in saved] == [
        ("old", 1, 2), ("new", 0, 1), ("other", 0, 1), ("new", 1, 2), ("other", 1, 1)
    ]  # fmt: skip
    newest = list(workspace.tasks.newest(["other", "new", "old"]))
    assert newest == [workspace.tasks.revision(task_id) for task_id in ("other", "new", "old")]
    assert [workspace.reviews.standing(r.task_id).state for r in newest] == [TaskState.DRAFT] * 3
    # As rows they are what a single save leaves.
    workspace.tasks.save(make_task("single"), author="Bob", message="import")
    lines = {s.id: s for s in workspace.tasks.summaries()}
    alike = {"id": "", "title": "", "updated_at": lines["single"].updated_at}
    assert lines["other"].model_copy(update=alike) == lines["single"].model_copy(update=alike)
    with pytest.raises(NotFound):
        list(workspace.tasks.newest(["new", "nowhere"]))


def test_revisions_are_read_together(workspace: Workspace, make_task: MakeTask) -> None:
    for note in ("one", "two", "three"):
        workspace.tasks.save(make_task("a", title=note), author="Ann")
    workspace.tasks.save(make_task("b"), author="Ann")
    wanted = [("b", 1), ("a", 3), ("a", 1)]
    assert list(workspace.tasks.these(wanted)) == [
        workspace.tasks.revision(*unit) for unit in wanted
    ]
    with pytest.raises(NotFound):
        list(workspace.tasks.these([("a", 4)]))
