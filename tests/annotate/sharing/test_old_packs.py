"""Packs that earlier versions wrote are read, and what is made of them is packed as it was."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from apart import fresh, held, merge_files, packed, picture
from cuecard.annotate.sharing.reading import read_bundle
from cuecard.core.contributions import TaskState

PACKS = Path(__file__).parent / "packs"
"""`first` is by the first version that wrote packs; the others are by the last one that read them whole into memory: what
Ana and Ben did to a task apart, a run with all that can be recorded of its trials, and what Ben said of them.
"""


def test_the_oldest_pack_is_merged(tmp_path: Path) -> None:
    with fresh(tmp_path / "w.db") as workspace:
        report = merge_files(workspace, [PACKS / "first.cuepack"], "Eve")
        added = {arrived.kind: arrived.added for arrived in report.arrived}
        assert added == {"task": 1, "revision": 2, "submitted": 1, "effort": 1}
        assert workspace.reviews.state("t") is TaskState.IN_REVIEW
        assert packed(workspace.exchange.bundle("Ana")) == (PACKS / "first.cuepack").read_bytes()


def test_what_two_people_did_apart_comes_to_the_same_and_is_packed_as_it_was(
    tmp_path: Path,
) -> None:
    pictures = []
    for number, names in enumerate(permutations(("ana", "ben"))):
        with fresh(tmp_path / f"{number}.db") as workspace:
            for name in names:
                report = merge_files(workspace, [PACKS / f"{name}.cuepack"], "Eve")
            assert [clash.kind for clash in report.clashes] == ["forks"]
            pictures.append(picture(workspace))
            for name in names:
                data = packed(workspace.exchange.bundle(name.capitalize()))
                assert data == (PACKS / f"{name}.cuepack").read_bytes()
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("names", [("run", "labels"), ("labels", "run")])
def test_a_run_and_what_was_said_of_it_come_together_in_any_order(
    names: tuple[str, str], tmp_path: Path
) -> None:
    files = [PACKS / f"{name}.cuepack" for name in names]
    with fresh(tmp_path / "w.db") as workspace:
        report = merge_files(workspace, files, "Eve")
        assert [left.kind for left in report.left_out] == []
        (run,) = workspace.runs.all()
        ours = held(workspace.exchange.bundle("Ben")).held
        theirs = held(read_bundle(PACKS / "labels.cuepack")).held
        # Revisions that they played are not theirs.
        assert [record for record in theirs if record not in ours] == []
        whole = held(workspace.exchange.bundle_of_runs("Ana", [run.id]))
        before = held(read_bundle(PACKS / "run.cuepack"))
        assert whole.of("trial") == before.of("trial")
        assert whole.of("payload") == before.of("payload")
        again = merge_files(workspace, files, "Eve")
        assert (again.added, again.left_out) == (0, ())
