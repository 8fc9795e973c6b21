"""A labelling set of several kinds of items, worked off by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.widgets import Static, TextArea

from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.label_records import SetItem
from cuecard.core.verdicts import Item
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.dialogs import TextDialog
from cuecard.tui.screens.labelling.dialogs import BlindTranscriptScreen, DetailScreen
from cuecard.tui.screens.labelling.screen import LabelScreen
from tui_rooms import shown, until

KEYS = ("status/1", "cue/1", "leak/1", "predicted/0", "triple/0")
DECIDED = ("scripted", "lexical", "asked rightly", "cue met", "offline baseline")


async def set_of(path: Path) -> int:
    """A set of one item of each of several kinds, in runs that were played offline."""
    with Workspace.open(path) as workspace:
        graph = workspace.runs.trials(1)[0]
        plan = RunPlan(tasks=("checkpoints-highest-mountain",), name="second run")
        outcome = await start_run(workspace, plan, by="Ana")
        (chain,) = workspace.runs.trials(outcome.run.id)
        items = [
            SetItem(
                trial_id=chain.id if key.startswith("status") else graph.id,
                item=Item.of_key(key),
                people=("Ben",),
            )
            for key in KEYS
        ]
        return workspace.label_sets.create(name="mixed", created_by="Ana", items=items).id


async def test_every_kind_is_labelled_by_keys_and_what_was_decided_comes_after(
    judged: Path, make_app: Callable[..., CuecardApp]
) -> None:
    set_id = await set_of(judged)
    app = make_app(judged, person="Ben")
    seen: set[str] = set()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = LabelScreen(None, "mixed", set_id=set_id)
        app.push_screen(screen)
        await until(pilot, lambda: "item 1 of 5" in shown(screen))

        async def look(key: str, kind: type[object], title: str) -> None:
            await pilot.press("v", key)
            await until(pilot, lambda: isinstance(app.screen, kind) and title in shown(app.screen))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)

        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press(*"hm", "ctrl+s")
        await until(pilot, lambda: "Goes with your label" in shown(screen))
        await pilot.press("full_stop", "v")
        await until(pilot, lambda: "· reveal after" in shown(screen))
        assert Preferences.load().reveal_after
        for number in range(1, 6):
            await until(pilot, lambda n=number: f"item {n} of 5" in shown(screen))
            step = screen.step
            assert step is not None
            assert step.view is not None
            assert step.revealed is None
            kind = step.view.gold.item.kind.value
            seen.add(kind)
            decided = str(screen.query_one("#mine-text").render())
            assert not any(word in decided for word in DECIDED)
            if kind == "triple":
                await look("m", DetailScreen, "Everything handed in by the agent")
                await look("g", DetailScreen, "The gold around this item")
                await look("t", BlindTranscriptScreen, "without what was decided")
                await pilot.press("f")
                await until(pilot, lambda: "gold is wrong" in shown(screen))
            first, second = ("d", "e") if kind == "status" else ("y", "n")
            # Neither answer of the other question says anything here.
            await pilot.press("n" if kind == "status" else "e", first)
            await until(pilot, lambda: "⏎ goes on" in shown(screen))
            await pilot.press(second if number == 2 else first)
        await until(pilot, lambda: "5 labelled now" in shown(screen))
        await until(pilot, lambda: "Nothing here waits for your label" in shown(screen))
    assert seen == {key.split("/")[0] for key in KEYS}
    with Workspace.open(judged) as workspace:
        blind = {label.item_key: label for label in workspace.verdicts.item_labels()}
        changed = workspace.verdicts.item_labels(phase="revealed")
        done = workspace.label_sets.progress("Ben")[set_id]
    assert set(blind) == set(KEYS)
    assert blind["status/1"].value is CheckpointStatus.AMBIGUITY_DETECTED
    assert [label.item_key for label in blind.values() if label.gold_wrong] == ["triple/0"]
    assert [label.comment for label in blind.values() if label.comment] == ["hm"]
    assert len(changed) == 1
    assert changed[0].value is not blind[changed[0].item_key].value
    assert (done.mine, done.left) == (5, 0)


async def test_how_far_the_set_is_stands_in_one_line(
    judged: Path, make_app: Callable[..., CuecardApp]
) -> None:
    with Workspace.open(judged) as workspace:
        plan = SamplingPlan(runs=(1,), n=30, half_width=0.1)
        set_id = make_set(workspace, plan, name="narrow", by="Ana").id
    app = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = LabelScreen(None, "narrow", set_id=set_id)
        app.push_screen(screen)
        await until(pilot, lambda: "item 1 of" in shown(screen))
        assert "points" not in shown(screen)
        await pilot.press(*"y" * 10)
        await until(pilot, lambda: "points so far · until ±10 points: " in shown(screen))
        before = screen.query_one("#standing", Static).render()
        await pilot.press(*"n" * 5)
        await until(pilot, lambda: screen.query_one("#standing", Static).render() != before)
