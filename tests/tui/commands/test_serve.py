"""`cuecard serve`: who comes in and from where, and work in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import pytest

from browser_page import CHROMIUM, opened, served
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import registry
from cuecard.tui.commands.serve import signing_key
from cuecard.tui.screens import tasks  # noqa: F401 - keys are declared on import
from cuecard.tui.screens.labelling import verdicts  # noqa: F401

LABELS = 20


@pytest.fixture
def url(
    request: pytest.FixtureRequest, dialect: str, samples: object, tmp_path: Path
) -> Iterator[str]:
    if dialect == "sqlite":
        yield f"sqlite:///{tmp_path / 'cuecard.db'}"
    else:
        with request.getfixturevalue("postgres").workspace() as address:
            yield address


@pytest.fixture
def judged(samples) -> None:
    assert samples("--as", "Ben", "run", "espresso").code == 0


async def _status(client: aiohttp.ClientSession, url: str, **headers: str) -> int:
    async with client.get(url, headers=headers, allow_redirects=False) as answer:
        return answer.status


@pytest.mark.both_databases
async def test_only_whom_a_link_names_comes_in_and_only_from_pages_of_the_server(
    url: str, tmp_path: Path
) -> None:
    with served(tmp_path, "Ana", "小明", words=("--db", url)) as links:
        address, token = links["小明"].split("/?login=")
        here = {"Origin": address}
        jar = aiohttp.CookieJar(unsafe=True)  # of an address without a name
        async with aiohttp.ClientSession(cookie_jar=jar) as client:
            for path in ("/", "/ws", "/static/js/textual.js", "/browser.js", "/?login=wrong"):
                assert await _status(client, address + path, **here) == 403, path
            assert await _status(client, links["小明"], Host="evil.example") == 403
            assert await _status(client, links["小明"]) == 303
            assert [cookie["httponly"] for cookie in jar] == [True]
            for path in ("/", "/static/js/textual.js", "/browser.js"):
                assert await _status(client, address + path) == 200, path
            assert await _status(client, f"{address}/", Host="evil.example") == 403
            for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
                with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                    await client.ws_connect(f"{address}/ws", headers=headers)
            # The app works under the name of the link, whatever the account is called.
            async with client.ws_connect(f"{address}/ws?width=100&height=30", headers=here) as page:
                written = b""
                while "小明".encode() not in written:
                    written += await page.receive_bytes(timeout=60)
                # As an input method says that was given up.
                for typed in ("", "6"):
                    await page.send_json(["stdin", typed])
                async with asyncio.timeout(60):
                    while b"My name" not in written:
                        written += await page.receive_bytes()
        cookies = {f"cuecard-{address.rsplit(':', 1)[1]}": f"{token[:-1]}x"}
        async with aiohttp.ClientSession(cookies=cookies) as other:
            assert await _status(other, f"{address}/") == 403
    with Workspace.open(url, create=False) as workspace:
        assert {person.name for person in workspace.people.all()} >= {"Ana", "小明"}


def test_links_hold_when_it_is_started_again_and_others_reach_it_only_by_an_option(
    samples, tmp_path: Path
) -> None:
    with served(tmp_path, "Ana") as links:
        address, token = links["Ana"].split("/?login=")
        assert address.startswith("http://127.0.0.1:")
        refused = samples("serve", "--port", address.rsplit(":", 1)[1])
        assert (refused.code, "--port" in refused.err) == (1, True)
    with served(tmp_path, "Ana", options=("--host", "0.0.0.0")) as links:
        assert links["Ana"].endswith(token)
        assert "127.0.0.1" not in links["Ana"]
        assert "unencrypted" in links["stderr"]
    # As `--new-links` has it.
    assert signing_key(new=False) != signing_key(new=True) == signing_key(new=False)


async def _until(found: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not found():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
async def test_somebody_labels_and_writes_a_task_in_a_browser(judged: None, tmp_path: Path) -> None:
    with (
        Workspace.open(tmp_path / "cuecard.db", create=False) as workspace,
        served(tmp_path, "Ana") as links,
    ):
        async with opened(links["Ana"]) as page:
            await page.until("Settings")
            await page.key("5")
            await page.until(registry()["verdicts.draw"].label)
            await page.key("Enter")
            await page.until("covered")
            await page.key(*"yn" * (LABELS // 2))
            await _until(lambda: len(workspace.verdicts.labels()) == LABELS)
            await page.resize(1300, 800)
            await page.key("c")
            await page.until("Comment on this item")
            await page.compose("n", "ni", "你好，世界")
            await page.until("你好，世界")
            await page.key("s", control=True)
            await page.key("y")
            await _until(lambda: len(workspace.verdicts.labels()) == LABELS + 1)
            # Back to the places, and on to a task of one's own.
            await page.key("Escape")
            await asyncio.sleep(0.3)  # Esc with a letter at once is Alt with the letter
            await page.key("2")
            await page.until("从一部抄本")
            await page.key(registry()["tasks.new"].keys[0])
            await page.until("New task")
            await page.compose("x", "xia", "夏天的火车")
            await page.until("夏天的火车")
            await page.key("Enter")
            await page.until("Domain")
            await page.value("navigator.clipboard.writeText('粘贴 pasted')")
            await page.key("Enter")
            await page.paste()
            await _until(lambda: "粘贴 pasted" in str(workspace.drafts.of("Ana")))
            # What is copied in the app is on the browser's clipboard.
            await page.key("z")
            await page.key("Home", modifiers=8)
            await page.key("c", control=True)
            copied = "navigator.clipboard.readText()"
            async with asyncio.timeout(60):
                while not (await page.value(copied)).endswith("粘贴 pastedz"):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        assert "夏天的火车" in workspace.drafts.of("Ana")[0].data["title"]
        given = workspace.verdicts.labels()
        assert sorted(label.value.value for label in given) == ["no"] * 10 + ["yes"] * 11
        assert [label.comment for label in given if label.comment] == ["你好，世界"]
        assert {label.person for label in given} == {"Ana"}


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
async def test_somebody_saves_a_revision_in_a_browser(samples: object, tmp_path: Path) -> None:
    with (
        Workspace.open(tmp_path / "cuecard.db", create=False) as workspace,
        served(tmp_path, "Ana") as links,
    ):
        before = {line.id: line.revision for line in workspace.tasks.summaries()}
        async with opened(links["Ana"]) as page:
            await page.until("Settings")
            await page.key("2")
            await page.until("从一部抄本")
            await page.key("Enter")
            await page.until("Difficulty")
            await page.key("Enter")
            await page.key("End")
            await page.compose("x", "xiu", "（修订）")
            await _until(
                lambda: "（修订）" in str([each.data for each in workspace.drafts.of("Ana")])
            )
            await page.key("s", control=True)
            await page.until("A revision never changes again")
            await page.compose("b", "biao", "标题")
            await page.until(
                "标题"
            )  # The browser gives up what is not taken over before the next key.
            await page.key("Enter")
            await _until(
                lambda: {line.id: line.revision for line in workspace.tasks.summaries()} != before
            )
        after = {line.id: line.revision for line in workspace.tasks.summaries()}
        (changed,) = [task for task in after if after[task] != before[task]]
        saved = workspace.tasks.revision(changed)
    assert after == {**before, changed: before[changed] + 1}
    assert saved.task.title.endswith("（修订）")
    assert (saved.author, saved.message) == ("Ana", "标题")
