"""Packing and merging from the shell: what is said, and the exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from apart import fresh, small_task
from cuecard.core.engine.events import Limits
from cuecard.store.workspace import Workspace


def test_two_people_pack_and_merge(cuecard: Callable[..., Any], tmp_path: Path) -> None:
    ana, ben = (("--db", f"{name}.db", "--as", name) for name in ("Ana", "Ben"))
    with fresh(tmp_path / "Ana.db") as workspace, fresh(tmp_path / "Ben.db"):
        workspace.tasks.save(small_task(title="\x1b[31mA [red]task"), author="Ana")
        workspace.drafts.save("t", "Ana", 1, {"id": "t"})
    packed = cuecard(*ana, "pack", "-o", "ana.cuepack")
    assert packed.code == 0
    assert "1  revisions" in packed.out
    assert "1 draft stays here" in packed.err
    assert cuecard(*ana, "pack", "--json", "--since", "2100-01-01").code == 1

    dry = cuecard(*ben, "merge", "ana.cuepack", "--dry-run")
    assert dry.code == 0
    assert "What would be merged" in dry.out
    assert "\x1b" not in dry.out
    assert "A [red]task" in dry.out
    merged = cuecard(*ben, "merge", ".", "--json")
    assert (merged.code, merged.data["added"]) == (0, {"revision": 1, "task": 1})
    assert cuecard(*ben, "merge", "ana.cuepack", "--json").data["known"] == {"revision": 1}

    for name in ("Ana", "Ben"):
        with Workspace.open(tmp_path / f"{name}.db") as workspace:
            workspace.tasks.save(small_task(title=f"{name}'s"), author=name, base=1)
    assert cuecard(*ben, "pack", "-o", "ben.cuepack").code == 0
    clash = cuecard(*ana, "merge", "ben.cuepack")
    assert clash.code == 1
    assert "stand side by side" in " ".join(clash.out.split())
    assert cuecard(*ana, "merge", "ben.cuepack", "--json").data["clashes"][0]["kind"] == "forks"

    Path("ben.cuepack").write_bytes(b"\x1f\x8bno")
    refused = cuecard(*ana, "merge", "ana.cuepack", "ben.cuepack", "absent")
    assert refused.code == 2
    assert "ben.cuepack: is damaged" in refused.err
    assert "absent: " in refused.err
    assert "Nothing was merged" in refused.err
    told = cuecard(*ana, "merge", "ben.cuepack", "--json")
    assert (told.code, told.data["problems"][0]["file"]) == (2, "ben.cuepack")

    with Workspace.open(tmp_path / "Ana.db") as workspace:
        workspace.runs.create(
            name="Night run", kind="grid", created_by="Ana", samples=1, limits=Limits()
        )
    whole = cuecard(*ana, "pack", "--run", "1", "-o", "run.cuepack")
    assert (whole.code, whole.err) == (0, "")
    assert "): 1 run." in whole.out
    assert cuecard(*ana, "pack", "--run", "9").code == 1
    assert cuecard(*ana, "pack", "--run", "1", "--since", "2026-01-01").code == 2
    taken = cuecard(*ben, "merge", "run.cuepack", "--json").data
    assert taken["added"]["run"] == 1
    again = cuecard(*ben, "merge", "run.cuepack")
    assert [line.split() for line in again.out.splitlines() if "runs" in line] == [
        ["runs", "0", "1"]
    ]


def test_revisions_of_others_in_a_pack_are_told_before_they_are_merged(
    cuecard: Callable[..., Any], tmp_path: Path
) -> None:
    """Ben hands on a revision that he says Ana saved, to Cho, who has only Ana's first one."""
    ana, ben, cho = (("--db", f"{name}.db", "--as", name) for name in ("Ana", "Ben", "Cho"))
    with (
        fresh(tmp_path / "Ana.db") as first,
        fresh(tmp_path / "Ben.db"),
        fresh(tmp_path / "Cho.db"),
    ):
        first.tasks.save(small_task(), author="Ana")
    cuecard(*ana, "pack", "-o", "ana.cuepack")
    told = cuecard(*cho, "merge", "ana.cuepack")
    assert "signed by" not in told.out + told.err
    with fresh(tmp_path / "Ben.db") as second:
        second.exchange.import_([_bundle(tmp_path / "Ana.db", "Ana")], by="Ben")
        second.tasks.save(small_task(title="Not Ana's"), author="Ana", base=1)
        second.tasks.save(small_task(title="Ben's"), author="Ben", base=2)
    cuecard(*ben, "pack", "-o", "ben.cuepack")

    said = "Packed by Ben, signed by Ana: 2 revisions, 1 new here."
    for words in (("--dry-run",), ()):
        merged = cuecard(*cho, "merge", "ben.cuepack", *words)
        assert (merged.code, merged.err.splitlines()[0]) == (0, said)
    again = cuecard(*cho, "merge", "ben.cuepack", "--dry-run", "--json")
    assert again.data["signed_for"] == [
        {"packed_by": "Ben", "author": "Ana", "revisions": 2, "new": 0}
    ]


def _bundle(path: Path, person: str) -> Any:
    with Workspace.open(path) as workspace:
        return workspace.exchange.bundle(person)
