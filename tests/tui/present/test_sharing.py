"""What is said about packs and merges: every kind of clash and entry, and hostile names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from cuecard.annotate.sharing.bundle import Header
from cuecard.annotate.sharing.merging import arrived_rows, clash_text, clash_title
from cuecard.annotate.sharing.reading import BundleFile
from cuecard.core.contributions import Body, TaskState
from cuecard.core.errors import FileProblem
from cuecard.core.review import Clash
from cuecard.store.bundle_records import ImportCount, LeftOut, MergeReport, Moved
from cuecard.tui.present.files import entries_of_merge, entries_of_problems, since_of, summary_of

HOSTILE = "\x1b[31m[red]Mal[/]\u202e"


def _texts(entries) -> str:
    return "\n".join(
        part.text for entry in entries for part in (*entry.head, *entry.body, *entry.fold)
    )


@pytest.mark.parametrize("kind", get_args(Clash.model_fields["kind"].annotation))
def test_every_clash_says_what_follows(kind) -> None:
    clash = Clash(task_id="t", kind=kind, revisions=(5, 4), people=(HOSTILE,))
    text = clash_text(clash)
    assert clash_title(clash)
    assert "5" in text
    assert not set("{}\x1b\u202e") & set(text)
    assert "{" not in clash_text(clash.model_copy(update={"people": ()}))


def test_no_kind_of_entry_is_left_out() -> None:
    union, _field = get_args(Body)
    kinds = [body.model_fields["kind"].default for body in get_args(union)]
    rows = arrived_rows(ImportCount(kind=kind, added=1) for kind in [*kinds, "label", "odd"])
    assert sum(added for _label, added, _known in rows) == len(kinds) + 2
    # Only what nobody has thought of yet is called by its own name.
    assert [label for label, _added, _known in rows if label in (*kinds, "odd")] == ["odd"]


def test_a_report_tells_clashes_first_and_what_is_left_out() -> None:
    old = Clash(task_id="old", kind="forks", revisions=(2, 1))
    new = Clash(task_id="new", kind="forks", revisions=(2, 1))
    moved = {"title": HOSTILE, "head_before": 1, "head": 2}
    report = MergeReport(
        dry=True,
        arrived=(ImportCount(kind="reviewed", added=2, known=3),),
        people=(HOSTILE,),
        moved=(
            Moved(task_id="a", before=None, after=TaskState.DRAFT, **moved),
            Moved(task_id="b", before=TaskState.DRAFT, after=TaskState.DRAFT, **moved),
            Moved(task_id="c", before=TaskState.DRAFT, after=TaskState.IN_REVIEW, **moved),
        ),
        left_out=(LeftOut(person=HOSTILE, trial="abc", reason="no_trial", count=2),),
        clashes_before=(old,),
        clashes=(old, new),
    )
    bundle = BundleFile(Path("x"), Header(person=HOSTILE))
    text = _texts(entries_of_merge([bundle], report))
    assert (
        text.index("  new") < text.index("  old  as before") < text.index("2 new, 3 known  reviews")
    )
    assert "draft, revision 1 → 2" in text
    assert "draft → in review" in text
    assert "2 labels" in text
    assert "\x1b" not in text
    assert summary_of(report) == "2 new entries, 3 known · 2 clashes"
    problem = FileProblem(HOSTILE, "entry 3", f"is {HOSTILE}")
    assert "\x1b" not in _texts(entries_of_problems([problem], "None."))


def test_a_day_is_a_moment_on_the_persons_clock() -> None:
    assert since_of("  ") is None
    assert since_of("2026-01-31").tzinfo is not None
    assert since_of("2026-01-31T10:00+00:00") == datetime(2026, 1, 31, 10, tzinfo=UTC)
    with pytest.raises(ValueError, match="soon"):
        since_of("soon")
