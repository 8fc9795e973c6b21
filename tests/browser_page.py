"""A page of `cuecard serve` in headless Chromium, worked as a person does: by keys, an input method, the clipboard, the window's size."""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE = 60.0
_ESCAPES = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-9;?<>=$]*[A-Za-z]|[()][A-Z0-9]|[=>])"
)
_CODES = {
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    "Backspace": 8,
    "ArrowDown": 40,
    "ArrowUp": 38,
    "End": 35,
    "Home": 36,
    "F4": 115,
    "F1": 112,
}


@contextmanager
def served(
    folder: Path, *people: str, words: tuple[str, ...] = (), options: tuple[str, ...] = ()
) -> Generator[dict[str, str]]:
    """`cuecard serve` on a free port over the workspace in `folder`; links by person, and what it said besides as "stderr"."""
    asked = [word for person in people for word in ("--for", person)]
    with Popen(
        [sys.executable, "-m", "cuecard", *words, "serve", "--port", "0", *asked, *options],
        cwd=folder, stdout=PIPE, stderr=PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout
            links: dict[str, str] = {}
            while len(links) < len(people):
                line = server.stdout.readline()
                assert line, server.stderr and server.stderr.read()
                if "http" in line:
                    person, link = line.rsplit(maxsplit=1)
                    links[person.strip()] = link
            assert server.stderr
            links["stderr"] = server.stderr.readline()
            if "--host" in options:
                links["stderr"] += server.stderr.readline()
            yield links
        finally:
            server.terminate()
            server.communicate(timeout=30)


class Page:
    """One tab. `seen` is what its app has written, without colours and places."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, session: str) -> None:
        self._socket, self._session = socket, session
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._wrote = asyncio.Event()
        self.seen = ""
        self.listening = asyncio.create_task(self._listen())

    async def send(self, method: str, **params: Any) -> Any:
        self._count += 1
        answer = self._answers[self._count] = asyncio.get_running_loop().create_future()
        told = {"id": self._count, "method": method, "params": params, "sessionId": self._session}
        await self._socket.send_json(told)
        return await asyncio.wait_for(answer, PATIENCE)

    async def until(self, text: str) -> None:
        """Wait until the app has written this."""
        async with asyncio.timeout(PATIENCE):
            while text.replace(" ", "") not in self.seen.replace(" ", ""):
                self._wrote.clear()
                await self._wrote.wait()

    async def until_new(self) -> None:
        """Wait until the app writes anything more."""
        self._wrote.clear()
        await asyncio.wait_for(self._wrote.wait(), PATIENCE)

    async def key(self, *names: str, control: bool = False, modifiers: int = 0) -> None:
        """Press keys: letters, or names as the browser has them."""
        for name in names:
            code = _CODES.get(name) or ord(name.upper())
            key: dict[str, Any] = {
                "key": name,
                "windowsVirtualKeyCode": code,
                "modifiers": modifiers or 2 * control,
            }
            if len(name) == 1 and not control:
                key |= {"text": name}
            if name == "Enter":
                key |= {"text": "\r"}
            await self.send("Input.dispatchKeyEvent", type="keyDown", **key)
            await self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    async def compose(self, *steps: str) -> None:
        """Type by an input method: what stands there while composing, at last what is taken."""
        for step in steps[:-1]:
            await self.send(
                "Input.imeSetComposition",
                text=step,
                selectionStart=len(step),
                selectionEnd=len(step),
            )
        await self.send("Input.insertText", text=steps[-1])

    async def paste(self) -> None:
        """Ctrl+V, of what is on the browser's clipboard."""
        key = {"key": "v", "windowsVirtualKeyCode": 86, "modifiers": 2}
        await self.send("Input.dispatchKeyEvent", type="rawKeyDown", commands=["paste"], **key)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    async def resize(self, width: int, height: int) -> None:
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def value(self, script: str) -> Any:
        found = await self.send(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        return found["result"].get("value")

    async def screenshot(self) -> bytes:
        """A PNG."""
        return base64.b64decode((await self.send("Page.captureScreenshot"))["data"])

    async def _listen(self) -> None:
        async for message in self._socket:
            told = message.json()
            if answer := self._answers.pop(told.get("id", 0), None):
                if "error" in told:
                    answer.set_exception(AssertionError(told["error"]))
                else:
                    answer.set_result(told["result"])
            elif told.get("method") == "Network.webSocketFrameReceived":
                frame = told["params"]["response"]
                if frame["opcode"] == 2:
                    text = base64.b64decode(frame["payloadData"]).decode("utf-8", "replace")
                    self.seen += _ESCAPES.sub("", text)
                    self._wrote.set()


@asynccontextmanager
async def opened(link: str) -> AsyncGenerator[Page]:
    """The link in a browser of its own."""
    assert CHROMIUM
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = await asyncio.create_subprocess_exec(
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
            f"--user-data-dir={profile}", "--window-size=1000,600", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            port = Path(profile) / "DevToolsActivePort"
            async with asyncio.timeout(PATIENCE):
                while not (port.exists() and port.read_text().count("\n")):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            number, path = port.read_text().split("\n")[:2]
            async with (
                aiohttp.ClientSession() as client,
                client.ws_connect(f"ws://127.0.0.1:{number}{path}", max_msg_size=0) as socket,
            ):
                browsing = Page(socket, "")
                target = (await _plain(browsing, "Target.createTarget", url="about:blank"))[
                    "targetId"
                ]
                found = await _plain(
                    browsing, "Target.attachToTarget", targetId=target, flatten=True
                )
                browsing._session = found["sessionId"]
                await browsing.send("Network.enable")
                await browsing.send("Page.enable")
                await _plain(
                    browsing, "Browser.grantPermissions",
                    permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=link.split("/?", maxsplit=1)[0],
                )  # fmt: skip
                await browsing.send("Page.navigate", url=link)
                try:
                    yield browsing
                finally:
                    browsing.listening.cancel()
        finally:
            browser.terminate()
            await browser.wait()


async def _plain(page: Page, method: str, **params: Any) -> Any:
    """Asked of the browser itself, not of a tab."""
    session, page._session = page._session, ""
    try:
        page._count += 1
        answer = page._answers[page._count] = asyncio.get_running_loop().create_future()
        await page._socket.send_json({"id": page._count, "method": method, "params": params})
        return await asyncio.wait_for(answer, PATIENCE)
    finally:
        page._session = session
