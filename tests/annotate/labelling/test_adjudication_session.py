from __future__ import annotations

from collections.abc import Callable

from cuecard.annotate.labelling.adjudication import AdjudicationSession
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def test_a_walk_through_disputes(
    workspace: Workspace, run_id: int, trial_id: int, label: Callable[..., None]
) -> None:
    label("Ann", "nyn")
    label("Bob", "yyn")
    session = AdjudicationSession(workspace, "Di", [run_id])
    assert (session.total, session.open, session.unseen) == (2, 2, 2)
    view = session.current
    assert view is not None
    assert view.item is not None
    assert (view.dispute.item, view.party, view.history) == (triple(0), False, ())
    assert view.item.gold.text.startswith("maker 0")
    assert [item.index for items in view.supporting for item in items] == [0, 0]
    # Only what was shown counts as seen.
    assert workspace.adjudications.seen("Di") == {(trial_id, "triple/0")}
    assert session.unseen == 1
    session.comment(view.dispute.place, " because ")
    assert session.current is not None
    assert session.current.comment == "because"
    outcome = session.decide(view.dispute.place, LabelValue.YES, "human_slip")
    assert (outcome.adjudication.comment, outcome.told) == ("because", False)
    assert (session.position, session.open) == (1, 1)
    session.next()
    session.next()
    assert (session.current, session.position) == (None, 2)
    session.back()
    session.back()
    again = session.current
    assert again is not None
    assert [a.cause for a in again.history] == ["human_slip"]
    assert again.comment == ""
    # What is decided is left out of the next walk, unless it is asked for.
    later = AdjudicationSession(workspace, "Ann", [run_id])
    assert (later.total, later.unseen, later.decided) == (1, 0, 1)
    later.toggle_decided()
    assert (later.total, later.open) == (2, 1)
    assert later.current is not None
    assert later.current.party
    # A decision goes on the dispute that was shown, wherever the walk is by then.
    later.next()
    later.decide(view.dispute.place, LabelValue.NO, "")
    assert later.position == 1
    history = workspace.adjudications.history(trial_id, triple(0))
    assert [(a.by, a.value.value) for a in history] == [("Di", "yes"), ("Ann", "no")]


def test_an_item_that_the_revision_does_not_have_can_be_decided(
    workspace: Workspace, trial_id: int
) -> None:
    for person, value in (("Ann", LabelValue.YES), ("Bob", LabelValue.NO)):
        workspace.verdicts.label_item(trial_id, triple(77), person, value, source="x.csv")
    session = AdjudicationSession(workspace, "Di")
    view = session.current
    assert view is not None
    outcome = session.decide(view.dispute.place, LabelValue.UNSURE, "gold_wrong", "no such line")
    assert outcome.told
    [comment] = workspace.reviews.comments_for("ann", "makers")
    assert comment.place == ""
