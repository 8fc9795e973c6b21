"""The history of a task in review names its author only to those who may know."""

from __future__ import annotations

from cuecard.annotate.authoring.session import versions_of
from cuecard.core.contributions import Retired, Submitted
from cuecard.store.workspace import Workspace


def test_a_reader_learns_the_author_when_the_reviews_are_over(
    workspace: Workspace, make_task
) -> None:
    workspace.tasks.save(make_task(), author="ann", message="by ann")
    workspace.tasks.save(make_task(note="more"), author="ann", base=1)

    def told(person: str) -> list[tuple[int, str, str, int]]:
        versions = versions_of(workspace, "t", person)
        return [(v.number, v.author, v.message, v.before) for v in versions]

    open_ = [(2, "ann", "", 1), (1, "ann", "by ann", 0)]
    assert told("bob") == open_
    workspace.reviews.act("t", "ann", Submitted())
    assert told("bob") == [(2, "", "", 1), (1, "", "", 0)]
    assert told("ann") == open_
    workspace.reviews.act("t", "ann", Retired())
    assert told("bob") == open_
    assert versions_of(workspace, "never saved", "bob") == []
