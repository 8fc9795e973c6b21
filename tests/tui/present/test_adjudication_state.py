"""The sides of a dispute in two columns, and how runs on wrong gold are marked."""

from __future__ import annotations

from datetime import UTC, datetime

from cuecard.annotate.labelling.adjudication import AdjudicationView, Dispute, MachineSide
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.evaluation.items import PredictedItem
from cuecard.core.label_records import Adjudication, Label
from cuecard.core.verdicts import Item, ItemKind
from cuecard.tui.present import agreement as state
from cuecard.tui.present.run_snapshot import disputed_lines

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def label(person: str, value: str, **said: object) -> Label:
    return Label.model_validate(
        {"verdict_id": 0, "person": person, "value": value, "created_at": NOW, **said}
    )


def view(kind: ItemKind, *labels: Label, machines: tuple[str, ...] = (), **more: object):
    sides = tuple(
        MachineSide(by=PlayerRef(name=f"judge{n}", kind="llm"), value=value, rationale="because")
        for n, value in enumerate(machines)
    )
    dispute = Dispute(
        trial_id=1,
        run_id=1,
        task_id="t",
        title="T",
        family="graph",
        revision=1,
        item=Item(kind=kind),
        reasons=("people",),
        labels=labels,
        machines=sides,
    )
    found = AdjudicationView(
        dispute=dispute, item=None, supporting=((),) * len(sides), history=(), party=False
    )
    return found.model_copy(update=more)


def texts(column: state.Column) -> str:
    return "\n".join(paragraph.text for paragraph in column.paragraphs)


def test_yes_stands_left_and_the_rest_right() -> None:
    shown = view(
        ItemKind.TRIPLE,
        label("Ann", "yes", seconds=3.6, comment="[b]so[/]"),
        label("Bob", "no", gold_wrong=True),
        label("Cy", "unsure"),
        label("Ann", "no", phase="revealed"),
        machines=("yes", "unjudged"),
    )
    left, right = state.columns(shown)
    assert (left.title, right.title) == ("✓ covered", "✗ not covered")
    assert texts(left).splitlines() == ["Ann · blind · 4 s", "[b]so[/]", "judge0", "because"]
    assert texts(right).splitlines() == [
        "Bob · blind",
        "⚑ holds the gold for wrong",
        "Ann · after the reveal",
        "? unjudged",
        "judge1",
        "because",
        "~ cannot tell",
        "Cy · blind",
    ]


def test_of_statuses_the_most_named_stands_left() -> None:
    right_one, other = CheckpointStatus.CORRECT_ANSWER, CheckpointStatus.SEARCH_ONLY
    shown = view(
        ItemKind.STATUS, label("Ann", other), label("Bob", right_one), machines=(right_one,)
    )
    left, right = state.columns(shown)
    assert "right answer" in left.title
    assert texts(left).splitlines() == ["Bob · blind", "judge0", "because"]
    assert texts(right) == "Ann · blind"
    alone = state.columns(view(ItemKind.STATUS, label("Ann", other)))
    assert (alone[1].title, texts(alone[1])) == ("Otherwise", "Nobody.")


def test_decisions_are_listed_and_what_goes_with_the_next() -> None:
    decided = [
        Adjudication.model_validate(
            {
                "trial_id": 1,
                "item_key": "triple/0",
                "by": by,
                "value": "no",
                "cause": cause,
                "at": NOW,
            }
        )
        for by, cause in (("Di", "alias"), ("Eve", ""))
    ]
    shown = view(ItemKind.TRIPLE, history=tuple(decided), party=True, comment="hm")
    lines = [p.text for p in state.decision(shown)]
    assert "Di: ✗ not covered · alias" in lines[0]
    assert "Eve: ✗ not covered · nobody erred" in lines[1]
    assert lines[2:] == [
        "Your own label is a side of this. You may decide; your name stands with it.",
        "Goes with the decision: hm",
    ]
    assert len(state.decision(view(ItemKind.TRIPLE))) == 1


def test_what_judges_rest_on_is_told_once() -> None:
    item = PredictedItem(index=0, text="a — b — c")
    shown = view(ItemKind.TRIPLE, machines=("yes", "no"), supporting=((item,), (item,)))
    assert [p.text for p in state.evidence(shown)] == ["judge0, judge1 rests on", "1. a — b — c"]
    assert "no such item" in state.gold_head(shown)[1].text


def test_runs_on_wrong_gold_say_how_many_items() -> None:
    assert disputed_lines(0) == []
    assert "1 item of" in disputed_lines(1)[0][0].text
    assert "2 items of" in disputed_lines(2)[0][0].text
    assert state.progress("run", 0, 0, 0) == "run · no disputes · 0 open"
    letters = [letter for letter, _name, _meaning in state.cause_choices()]
    assert len(set(letters)) == len(letters) == 9
