"""Help from a model in the editor: asked for, drafted, decided on, taken in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from cuecard.annotate.assist.proposals import PendingFile
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.assist import AssistDialog, NoModelDialog
from cuecard.tui.screens.task.proposal import ProposalScreen, RawDialog
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.widgets.entry_list import EntryList
from judge_scripts import material_of
from openai_server import OpenAIServer, Reply, Request, running, text
from tui_rooms import until

PAGE = (
    "Pier Teresio Arduino built the Victoria Arduino company in 1905. "
    "Arduino shipped machines to Paris. Arduino sold [red]grinders[/] too."
)
GARBAGE = "I'd rather talk about [bold]tea[/]."


def script(request: Request) -> Reply:
    material = material_of(request)
    if "texts" in material:
        texts = [{"index": i, "text": f"译{source}"} for i, source in material["texts"]]
        return text(json.dumps({"texts": texts}, ensure_ascii=False))
    if "source" not in material:
        return text(GARBAGE)
    one, two, three = material["source"]
    found = [
        ("Victoria Arduino", "founded in", "1905", one),
        ("Arduino", "shipped to", "Paris", two),
        ("Arduino", "shipped to", "Rome", "Arduino shipped to Rome."),
        ("Arduino", "sold", "[red]grinders[/]", three),
    ]
    triples = [
        {"sentence": sentence, "head": head, "relation": relation, "tail": tail, "stage": None}
        for head, relation, tail, sentence in found
    ]
    return text(json.dumps({"triples": triples}))


@pytest.fixture
def server(home: Path) -> Iterator[OpenAIServer]:
    with running(script) as found:
        model = f"  drafter:\n    base_url: {found.url}\n    model: tiny\n    retries: 0\n"
        (home / "cuecard.yaml").write_text(f"models:\n{model}")
        yield found


async def shown(pilot: Pilot[Any], kind: type[Any]) -> Any:
    """The screen of this kind, once it is there."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind) and pilot.app.screen.focused)
    return pilot.app.screen


async def opened(pilot: Pilot[Any], task_id: str) -> TaskScreen:
    screen = TaskScreen(task_id)
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


async def ask(pilot: Pilot[Any], **fields: str) -> None:
    """Fill in the dialog and have the draft begin."""
    dialog = await shown(pilot, AssistDialog)
    for name, value in fields.items():
        field = dialog.query_one(f"#{name}")
        if name in ("text", "pairs", "question"):
            field.text = value
        else:
            field.value = value
        await pilot.pause()
    await pilot.press("ctrl+s")


async def test_triples_are_decided_on_one_by_one_and_noted_as_drafted(
    app_with_samples: CuecardApp, server: OpenAIServer, database: Path
):
    app = app_with_samples
    file = PendingFile(app.services.url, "espresso", "Ana")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, "espresso")
        before = screen.edit.data
        count = len(before["gold"]["triples"])
        await pilot.press("ctrl+t")
        await ask(pilot, url="https://example.org/a", text=PAGE)
        decide = await shown(pilot, ProposalScreen)
        assert [item.suggested for item in decide.view.items] == [True, True, False, True]
        await pilot.press("down", "down")
        lines = decide.query_one("#detail", EntryList)
        await until(pilot, lambda: "the sentence is not in the text" in "\n".join(lines.lines))
        detail = "\n".join(lines.lines)
        assert "Arduino · shipped to · Rome" in detail
        # Left for later, what is ticked is kept, and nothing was asked twice.
        await pilot.press("up", "space", "escape")
        await shown(pilot, TaskScreen)
        kept = file.load()
        assert kept is not None
        assert kept.ticked == ("t1", "t4")
        assert screen.edit.data == before
        await pilot.press("ctrl+t")
        decide = await shown(pilot, ProposalScreen)
        assert len(server.requests) == 1
        assert decide.view.ticked == ("t1", "t4")
        await pilot.press("enter")
        await shown(pilot, TaskScreen)
        await until(pilot, lambda: screen.edit.origins and file.load() is None)
        triples = screen.edit.items(("gold", "triples"))
        assert [t["tail"] for t in triples[count:]] == ["1905", "[red]grinders[/]"]
        assert triples[-1]["note"] == "Arduino sold [red]grinders[/] too."
        draft = await app.services.ask(lambda ws: ws.drafts.get("espresso", "Ana"))
        assert draft is not None
        (origin,) = draft.origins
        assert (origin.kind, origin.by, origin.items) == ("triples", "drafter", 2)
        # One step takes all of it back, the origin too.
        await pilot.press("ctrl+z")
        assert (screen.edit.data, screen.edit.origins) == (before, ())
        await pilot.press("ctrl+y", "ctrl+s")
        await shown(pilot, AskLine)
        await pilot.press("enter")
        await until(pilot, lambda: screen.edit.base == 2)
    with Workspace.open(database) as workspace:
        newest = workspace.tasks.revision("espresso")
        assert newest.number == 2
        assert [origin.items for origin in newest.origins] == [2]


async def test_off_without_a_model_then_garbage_then_a_translation_into_a_new_task(
    app_with_samples: CuecardApp, server: OpenAIServer, database: Path
):
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot, "facts-night-train")
        before = screen.edit.data
        config = Path("cuecard.yaml")
        config.rename("elsewhere.yaml")  # noqa: ASYNC240
        await pilot.press("ctrl+t")
        await shown(pilot, NoModelDialog)
        await pilot.press("escape")
        await shown(pilot, TaskScreen)
        Path("elsewhere.yaml").rename(config)  # noqa: ASYNC240
        await pilot.press("ctrl+t")
        await ask(pilot, pairs="Rome | Paris")
        dialog = await shown(pilot, RawDialog)
        assert f"  {GARBAGE}" in dialog.query_one("#replies", EntryList).lines
        await pilot.press("escape")
        await shown(pilot, TaskScreen)
        await pilot.press("ctrl+t")
        # What was typed is there again.
        dialog = await shown(pilot, AssistDialog)
        assert dialog.query_one("#pairs").text == "Rome | Paris"
        await ask(pilot, kind="translation", id="facts-table-zh")
        decide = await shown(pilot, ProposalScreen)
        decide.view.tick({item.id for item in decide.view.items if item.place != "title"})
        await pilot.press("ctrl+s")
        await until(pilot, lambda: getattr(app.screen, "task_id", "") == "facts-table-zh")
        assert screen.edit.data == before
        draft = await app.services.ask(lambda ws: ws.drafts.get("facts-table-zh", "Ana"))
        assert draft is not None
        assert draft.data["language"] == "zh"
        assert draft.data["title"] == before["title"]
        assert str(draft.data["query"]).startswith("译")
        assert [origin.kind for origin in draft.origins] == ["translation"]
