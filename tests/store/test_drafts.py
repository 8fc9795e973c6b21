from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from cuecard.core.errors import Conflict, NotFound
from cuecard.core.tasks.base import Origin
from cuecard.core.tasks.models import Task
from cuecard.store.codec import from_json, to_json, to_json_in_pieces
from cuecard.store.workspace import Workspace

DRAFTED = Origin(
    kind="triples", by="模型\0", items=3, prompt="h", at=datetime(2026, 1, 2, tzinfo=UTC)
)


def test_drafts_are_kept_per_person_and_task(workspace: Workspace) -> None:
    data: dict[str, JsonValue] = {
        "id": "t",
        "title": "",
        "gold": {"rows": [["é", None, 1.5, True]]},
    }
    saved = workspace.drafts.save("t", "Ann", 0, data)
    assert saved.data == data
    workspace.drafts.save("t", "Bob", 3, {"id": "t"})
    large: dict[str, JsonValue] = {"notes": "汉字\n" * 5000}
    workspace.drafts.save("t", "Ann", 1, large)
    found = workspace.drafts.get("t", "Ann")
    assert found is not None
    assert (found.base, found.data) == (1, large)
    long: dict[str, JsonValue] = {
        "gold": {"rows": [["é", str(n)] for n in range(999)]},
        "\ud83d": 1,
    }
    assert from_json(to_json_in_pieces(long)) == long
    assert to_json_in_pieces(data) == to_json(data)
    workspace.drafts.save("t", "Ann", 2, data)
    again = workspace.drafts.get("t", "Ann")
    assert again is not None
    assert (again.base, again.data) == (2, data)
    assert again.updated_at >= saved.updated_at
    workspace.drafts.discard("t", "Ann")
    workspace.drafts.discard("t", "Ann")
    assert workspace.drafts.get("t", "Ann") is None
    bobs = workspace.drafts.get("t", "Bob")
    assert bobs is not None
    assert bobs.base == 3


def test_a_persons_drafts_the_last_edited_first(workspace: Workspace) -> None:
    for task_id in ("a", "b", "a"):
        workspace.drafts.save(task_id, "Ann", 0, {"id": task_id})
    assert [draft.task_id for draft in workspace.drafts.of("Ann")] == ["a", "b"]
    assert workspace.drafts.of("Bob") == []


def test_a_draft_keeps_what_a_machine_drafted_and_whether_it_was_left(workspace: Workspace) -> None:
    workspace.drafts.save("t", "Ann", 0, {"id": "t"}, origins=(DRAFTED,))
    draft = workspace.drafts.get("t", "Ann")
    assert draft is not None
    assert (draft.origins, draft.left_at) == ((DRAFTED,), None)
    workspace.drafts.leave("t", "Ann")
    left = workspace.drafts.get("t", "Ann")
    assert left is not None
    assert left.left_at is not None
    assert left.updated_at == draft.updated_at
    assert workspace.drafts.save("t", "Ann", 0, {"id": "t"}).left_at is None
    assert workspace.drafts.save("t", "Ann", 0, {"id": "t"}, left=True).left_at is not None
    workspace.drafts.leave("absent", "Ann")


def test_what_was_thrown_away_can_be_had_back(
    workspace: Workspace, make_task: Callable[..., Task]
) -> None:
    drafts = workspace.drafts
    drafts.save("new", "Ann", 0, {"id": "new", "notes": "行" * 9000}, origins=(DRAFTED,))
    drafts.throw_away("new", "Ann")
    drafts.throw_away("new", "Ann")
    assert drafts.get("new", "Ann") is None
    [thrown] = drafts.thrown("Ann")
    assert drafts.thrown("Ann", "new") == [thrown]
    assert drafts.thrown("Bob") == drafts.thrown("Bob", "new") == []
    back = drafts.recall(thrown.id)
    assert (back.data, back.origins, back.base) == (thrown.data, (DRAFTED,), 0)
    with pytest.raises(Conflict):
        drafts.recall(thrown.id)
    with pytest.raises(NotFound):
        drafts.recall(99)
    assert drafts.thrown("Ann") == []
    assert drafts.thrown("Ann", "new") == [thrown]

    workspace.tasks.save(make_task(), author="Ann")
    drafts.save("t", "Ann", 1, {"id": "t", "title": "first"})
    drafts.throw_away("t", "Ann")
    drafts.save("t", "Ann", 1, {"id": "t", "title": "second"})
    drafts.throw_away("t", "Ann")
    assert drafts.thrown("Ann") == []
    assert [d.data["title"] for d in drafts.thrown("Ann", "t")] == ["second", "first"]


def test_the_history_of_a_draft_is_kept_beside_it_and_goes_with_it(workspace: Workspace):
    drafts = workspace.drafts
    steps = {"changed": True, "done": [{"path": ["title"], "diff": {"in": {"title": {"v": "a"}}}}]}
    drafts.keep("t", "Ann", 1, {"id": "t"}, history=steps)
    kept, draft = drafts.history("t", "Ann"), drafts.get("t", "Ann")
    assert (kept.data, kept.base, kept.updated_at) == (steps, 1, draft.updated_at)
    assert [each.task_id for each in drafts.of("Ann")] == ["t"]
    assert drafts.history("t", "Bob") is None
    drafts.discard("t", "Ann", base=2, history=steps)
    assert (drafts.get("t", "Ann"), drafts.history("t", "Ann").base) == (None, 2)
    drafts.discard("t", "Ann")
    assert drafts.history("t", "Ann") is None
