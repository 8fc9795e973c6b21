"""Labelling verdicts blind, by keys, and how far judge and people then agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Decision, Judgement
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import TextDialog
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.labelling.verdicts import VerdictsScreen
from tui_rooms import shown, until

SIZE = (80, 24)
JUDGE, RATIONALE = "quillfeather", "because the moon is blue"


@pytest.fixture
def audited(judged: Path) -> Path:
    """The judged workspace, judged anew by a judge whose words no task holds."""
    with Workspace.open(judged) as workspace:
        for record in workspace.verdicts.of_run(1):
            verdicts = tuple(
                verdict.model_copy(update={"decision": Decision.YES, "rationale": RATIONALE})
                for verdict in record.judgement.verdicts
            )
            judge = PlayerRef(name=JUDGE, kind="llm", model="m-1")
            workspace.verdicts.add(record.trial_id, Judgement(judge=judge, verdicts=verdicts))
    return judged


def labels_of(path: Path, person: str) -> list[str]:
    """Each item's newest label, once for each item."""
    with Workspace.open(path) as workspace:
        records = {r.verdict_id: r for r in workspace.verdicts.records()}
        given = {
            (records[label.verdict_id].trial_id, records[label.verdict_id].item.key): label
            for label in workspace.verdicts.labels()
            if label.person == person
        }
    return [label.value.value for label in sorted(given.values(), key=lambda x: x.created_at)]


async def labelling(pilot: Pilot) -> LabelScreen:
    """From Home to the first item, by keys."""
    app = pilot.app
    await pilot.press("5")
    await until(pilot, lambda: "first run" in shown(app.screen))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, LabelScreen))
    await until(pilot, lambda: "Gold item" in shown(app.screen))
    return app.screen


def blind(text: str) -> bool:
    return all(word not in text for word in ("lexical", JUDGE, "moon is blue", "m-1"))


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_five_are_labelled_by_keys_and_nothing_of_the_judge_is_seen(
    audited: Path, make_app, size
) -> None:
    app: CuecardApp = make_app(audited, person="Ben")
    async with app.run_test(size=size) as pilot:
        screen = await labelling(pilot)
        for number, key in enumerate("ynuyn", start=1):
            assert blind(shown(screen))
            await pilot.press(key)
            await until(pilot, lambda n=number: f"{n} labelled now" in shown(screen))
        assert blind(shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
    assert labels_of(audited, "Ben") == ["yes", "no", "unsure", "yes", "no"]


async def test_fast_typing_loses_nothing_even_when_leaving_at_once(audited: Path, make_app) -> None:
    app: CuecardApp = make_app(audited, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        await labelling(pilot)
        await pilot.press(*"ynyyunnyuy", "escape")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
    expected = {"y": "yes", "n": "no", "u": "unsure"}
    assert labels_of(audited, "Ben") == [expected[key] for key in "ynyyunnyuy"]


async def test_quitting_at_once_loses_nothing(audited: Path, make_app) -> None:
    app: CuecardApp = make_app(audited, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        screen = await labelling(pilot)
        await pilot.press(*"ynyyu", "ctrl+q")
        await until(pilot, lambda: not screen.is_attached)
    assert labels_of(audited, "Ben") == ["yes", "no", "yes", "yes", "unsure"]


async def test_back_and_change_and_comment(audited: Path, make_app) -> None:
    app: CuecardApp = make_app(audited, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await labelling(pilot)
        gold = str(screen.query_one("#gold-text").render())
        assert "Reveal" not in shown(screen).splitlines()[-1]
        await pilot.press("y")
        await until(pilot, lambda: "1 labelled now" in shown(screen))
        await pilot.press("b")
        await until(pilot, lambda: "You said: ✓ covered" in shown(screen))
        assert str(screen.query_one("#gold-text").render()) == gold
        await pilot.press("n")
        await until(pilot, lambda: "item 2" in shown(screen))
        await pilot.press("b", "c")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press(*"why", "ctrl+s")
        await until(pilot, lambda: app.screen is screen and "why" in shown(screen))
        assert "You said: ✗ not covered" in shown(screen)
        # Labelled anew, it keeps what was said about it.
        await pilot.press("u")
        await until(pilot, lambda: "item 2" in shown(screen))
    with Workspace.open(audited) as workspace:
        label = next(x for x in workspace.verdicts.labels() if x.person == "Ben")
        assert (label.value, label.comment) == (LabelValue.UNSURE, "why")
        history = workspace.verdicts.history(label.verdict_id, "Ben")
    assert [past.value.value for past in history] == ["yes", "no", "no", "unsure"]


async def test_the_judge_is_revealed_only_after_labelling(audited: Path, make_app) -> None:
    app: CuecardApp = make_app(audited, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await labelling(pilot)
        await pilot.press("r")
        await pilot.pause(0.1)
        assert blind(shown(screen))
        await pilot.press("y")
        await until(pilot, lambda: "1 labelled now" in shown(screen))
        await pilot.press("b")
        await until(pilot, lambda: "Reveal" in shown(screen).splitlines()[-1])
        assert blind(shown(screen))
        await pilot.press("h")
        await until(pilot, lambda: not blind(shown(screen)))


async def test_all_that_was_handed_in_can_be_read(audited: Path, make_app) -> None:
    app: CuecardApp = make_app(audited, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        screen = await labelling(pilot)
        # The keys are told where what was handed in is shown, as they are.
        await until(pilot, lambda: "v m all · v g gold" in shown(screen))
        await pilot.press("v", "m")
        await until(pilot, lambda: "Everything handed in" in shown(app.screen))
        assert blind(shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: "v m all" in shown(app.screen))
    assert labels_of(audited, "Ben") == []


async def test_what_was_skipped_comes_again_and_the_end_is_told(judged: Path, make_app) -> None:
    with Workspace.open(judged) as workspace:
        for item in workspace.verdicts.queue("Ben", limit=10_000)[2:]:
            workspace.verdicts.label(item.verdict_id, "Ben", LabelValue.YES)
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=SIZE) as pilot:
        screen = await labelling(pilot)
        assert "item 1 of 2" in shown(screen)
        await pilot.press("enter", "y")
        await until(pilot, lambda: "Nothing here waits for your label" in shown(screen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
        screen = await labelling(pilot)
        assert "item 1 of 1" in shown(screen)


async def test_without_verdicts_the_screen_says_what_it_is_for(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "No verdicts yet" in shown(app.screen))
        await pilot.press("enter", "a")
        assert isinstance(app.screen, VerdictsScreen)
        assert "Label" not in shown(app.screen).splitlines()[-1]
