from __future__ import annotations

from pydantic import JsonValue

from cuecard.store.workspace import Workspace


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
