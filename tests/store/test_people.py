from __future__ import annotations

import pytest

from cuecard.core.errors import CuecardError
from cuecard.store.workspace import Workspace


def test_people_are_names(workspace: Workspace) -> None:
    assert workspace.people.all() == []
    ann = workspace.people.add("  Ann Lee ")
    workspace.people.add("王小明")
    assert ann.name == "Ann Lee"
    assert workspace.people.add("Ann Lee") == ann
    assert [person.name for person in workspace.people.all()] == ["Ann Lee", "王小明"]
    assert workspace.people.exists("王小明")
    assert not workspace.people.exists("ann lee")


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\x1b[31m", "a\x00", "x" * 81, "a\u202eb", "\ud800"]
)
def test_unusable_names_are_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(CuecardError) as caught:
        workspace.people.add(name)
    assert caught.value.hint
    assert workspace.people.all() == []
