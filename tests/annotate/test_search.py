"""One search finds what the screens show, and of what is hidden from somebody nothing, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard.annotate.authoring.session import keep_draft
from cuecard.annotate.independent_gold.building import gold_key, hand_in, open_blank
from cuecard.annotate.search import Kind, SearchHit, find, snippet
from cuecard.core.contributions import (
    Answered,
    Claimed,
    Commented,
    PinnedComment,
    QcDecided,
    ReviewDecision,
    Reviewed,
    Submitted,
    comment_id,
)
from cuecard.core.engine.events import Event, Limits, UserSpoke
from cuecard.core.engine.messages import PlayerRef, UserReply
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from postgres_server import Databases
from role_stage import own_roles

PEOPLE = ("Ana", "Bo", "Di", "Gus", "Lea", "Max", "Zoe")
PLAYER = PlayerRef(name="offline", kind="offline", baseline=True)
ITEM = Item(kind=ItemKind.TRIPLE, index=0)
TASK = {
    "id": "coffee",
    "title": "浓缩咖啡 Espresso",
    "language": "zh",
    "query": "谁发明了浓缩咖啡机？",
    "gold": {
        "family": "graph",
        "triples": [
            {"head": "浓缩咖啡机", "relation": "发明者", "tail": "Moriondo", "note": "s3cret-no, a note"},
            {"head": "Moriondo", "relation": "born in", "tail": "Turin"},
        ],
    },
    "sources": [{"url": "https://example.org/咖啡", "note": "a page"}],
}  # fmt: skip
EVERYBODY = frozenset(PEOPLE)
SEEN: dict[str, frozenset[str]] = {
    "review": frozenset({"Bo"}),
    "answer": frozenset({"Bo"}),
    "form": frozenset(),
    "qc": frozenset(),
    "label": frozenset(),
    "adjudication": frozenset(),
    "gold": frozenset(),
    "draft": frozenset({"Di"}),
    "remark": EVERYBODY,
    "verdict": EVERYBODY - {"Max"},
    "note": EVERYBODY - {"Max"},
    "line": EVERYBODY,
}


def play(at: Callable[[str], Workspace]) -> int:
    """Everybody does something; what they say is called like the keys of `SEEN`. Gives the trial."""
    ana, bo, lea, zoe = at("Ana"), at("Bo"), at("Lea"), at("Zoe")
    ana.tasks.save(Task.model_validate(TASK), author="Ana")
    ana.reviews.act("coffee", "Ana", Submitted())
    ana.reviews.act("coffee", "Ana", Commented(place="", text="s3cret remark"))
    until = datetime(2099, 1, 1, tzinfo=UTC)
    for person in ("Bo", "Di"):
        at(person).reviews.act("coffee", person, Claimed(person=person, until=until))
    pinned = (PinnedComment(place="gold.triples[0]", text="s3cret review"),)
    given = bo.reviews.act(
        "coffee", "Bo", Reviewed(ratings={}, decision=ReviewDecision.APPROVE, comments=pinned)
    )
    bo.reviews.act("coffee", "Bo", Answered(comment=comment_id(given.uid, 0), text="s3cret answer"))
    at("Di").review_forms.keep("coffee", 1, "Di", {"said": "s3cret form"})
    at("Di").drafts.save(
        "new", "Di", 0, {"id": "new", "title": "n", "query": "s3cret draft", "gold": {"family": "facts"}}
    )  # fmt: skip
    gus = at("Gus")
    opened, _changed = open_blank(gus, "coffee", "Gus")
    built = [{"head": "s3cret gold", "relation": "r", "tail": "t"}]
    opened.edit.set(("gold", "triples"), built)
    hand_in(gus, "coffee", "Gus", 1, opened.edit.data)
    zoe.reviews.act("coffee", "Zoe", QcDecided(verdict="keep", proposed="keep", reason="s3cret qc"))
    run = zoe.runs.create(
        name="morning run", kind="grid", created_by="Zoe", samples=1, limits=Limits()
    )
    trial = zoe.runs.add_trials(run.id, [TrialCell(task_id="coffee", revision=1, sample=0, seed=1, agent=PLAYER, user=PLAYER, world=PLAYER)])[0].id  # fmt: skip
    said = UserSpoke(turn=0, reply=UserReply(text="s3cret line 莫里翁多", reason="s3cret label"))
    zoe.runs.append_events([(trial, Event(seq=0, at=until, body=said))])
    verdict = Verdict(item=ITEM, decision=Decision.NO, rationale="s3cret verdict")
    judgement = Judgement(judge=PlayerRef(name="j", kind="llm"), verdicts=(verdict,))
    zoe.verdicts.add(trial, judgement)
    drawn = SetItem(trial_id=trial, item=ITEM, raters=2, people=("Lea", "Max"))
    zoe.label_sets.create(name="s", created_by="Zoe", items=[drawn])
    lea.verdicts.label_item(trial, ITEM, "Lea", LabelValue.YES, "s3cret label")
    lea.verdicts.note_reveal(trial, ITEM, "Lea")
    lea.trial_notes.add(trial, "Lea", "comment", "turn/0", "s3cret note")
    zoe.adjudications.add(trial, ITEM, "Zoe", LabelValue.YES, "", "s3cret adjudication")
    return trial


@contextmanager
def sqlite(path: Path) -> Generator[Callable[[str], Workspace]]:
    with Workspace.open(path) as workspace:
        for person in PEOPLE:
            workspace.people.add(person)
        yield lambda _person: workspace


@pytest.fixture(params=["sqlite", "postgres"])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Workspace]]:
    """Each person's workspace: one file, or one server with a role for each."""
    if request.param == "sqlite":
        with sqlite(tmp_path / "cuecard.db") as opened:
            yield opened
    else:
        databases: Databases = request.getfixturevalue("postgres")
        with own_roles(databases, PEOPLE) as stage:
            yield stage.at


def test_nobody_finds_what_is_hidden_from_them(at: Callable[[str], Workspace]) -> None:
    trial = play(at)
    for person in PEOPLE:
        found = find(at(person), person, "s3cret")
        told = " ".join(f"{each.title} {each.snippet}" for each in found)
        seen = {what for what in SEEN if f"s3cret {what}" in told}
        assert seen == {what for what, people in SEEN.items() if person in people}, person
        hidden = " ".join(each.title for each in found if each.kind is Kind.COMMENT)
        assert not any(name in hidden for name in PEOPLE), "names of who said it are not told"
    # What was told of the judge's decisions is remembered: a label that is given now is not blind.
    at("Ana").verdicts.label_item(trial, ITEM, "Ana", LabelValue.YES)
    at("Max").verdicts.label_item(trial, ITEM, "Max", LabelValue.YES)
    phases = {label.person: label.phase for label in at("Ana").verdicts.item_labels([trial], None)}
    assert phases == {"Lea": "blind", "Ana": "revealed", "Max": "blind"}


def test_who_builds_a_second_gold_finds_nothing_of_the_task(at: Callable[[str], Workspace]) -> None:
    at("Ana").tasks.save(Task.model_validate(TASK), author="Ana")
    gus = at("Gus")
    assert find(gus, "Gus", "Turin")
    opened, _changed = open_blank(gus, "coffee", "Gus")
    opened.edit.set(("gold", "triples"), [{"head": "a", "relation": "b", "tail": "c"}])
    keep_draft(gus, "Gus", opened.edit.snapshot, gold_key("coffee"))
    assert find(gus, "Gus", "Turin") == []
    assert find(gus, "Gus", "浓缩咖啡") == []
    assert find(at("Ana"), "Ana", "Turin")


def test_everything_is_found_at_its_place(at: Callable[[str], Workspace]) -> None:
    trial = play(at)
    ana = at("Ana")

    def places(query: str) -> list[tuple[str, str, int, int | None]]:
        return [
            (each.kind.value, each.place, each.trial_id, each.seq)
            for each in find(ana, "Ana", query)
        ]

    assert places("turin MORIONDO") == [("gold", "gold.triples[1].head", 0, None)]
    assert places("Turin") == [("gold", "gold.triples[1].tail", 0, None)]
    assert places("发明者") == [("gold", "gold.triples[0].relation", 0, None)]
    assert places("谁发明") == [("task", "query", 0, None)]
    assert places("example.org/咖") == [("source", "sources[0].url", 0, None)]
    assert places("莫里") == places("莫里翁多") == [("transcript", "", trial, 0)]
    assert places("多") == [("transcript", "", trial, 0)]
    assert places("morning") == [("run", "", 0, None)]
    assert ("person", "Zoe", 0, None) in places("zoe")
    assert places("'; DROP TABLE task; --") == places('"') == places("x" * 50_000) == []


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("an Espresso machine", ["espresso"], "an [Espresso] machine"),
        ("x" * 60 + " 浓缩 咖啡", ["咖啡", "浓"], "…" + "x" * 23 + " [浓]缩 [咖啡]"),
        ("a\n\tb (c) b", ["b", "(c)"], "a [b] [(c)] [b]"),
        ("nothing here", ["else"], "nothing here"),
    ],
)
def test_a_snippet_marks_the_words(text: str, words: list[str], told: str) -> None:
    piece, marks = snippet(text, words)
    for start, end in reversed(marks):
        piece = f"{piece[:start]}[{piece[start:end]}]{piece[end:]}"
    assert piece == told


def test_a_place_is_a_value() -> None:
    assert len({SearchHit(Kind.TASK, "t"), SearchHit(Kind.TASK, "t")}) == 1


def test_bringing_the_index_up_to_date_is_told(tmp_path: Path) -> None:
    with sqlite(tmp_path / "cuecard.db") as at:
        zoe, trial = at("Zoe"), play(at)
        now = datetime(2099, 1, 1, tzinfo=UTC)
        said = [UserSpoke(turn=n, reply=UserReply(text=f"w0rd {n}")) for n in range(1, 1200)]
        zoe.runs.append_events(
            [(trial, Event(seq=n, at=now, body=body)) for n, body in enumerate(said, 1)]
        )
        told: list[int] = []
        assert find(zoe, "Zoe", "w0rd 7", told.append, seconds=1e-9)
        assert told == [700, 200]
        find(zoe, "Zoe", "w0rd", told.append)
        assert told == [700, 200]
