"""Labels in the real Label Studio: exported by `cuecard labels export`, labelled by its API, imported back.

It is no dependency of Cuecard, so it lives in an environment of its own:

    python3.11 -m venv /tmp/ls-venv && /tmp/ls-venv/bin/pip install label-studio
    python bench/label_studio.py /tmp/ls-venv/bin/label-studio [--lang zh] [--picture FOLDER] [--keep FILE]

Starts it on loopback with a database of its own in a temporary folder, which takes a minute or two. The items, of
`tests/hostile_items.py`, hold markup, scripts, `$` and `{{}}` of templates and 200,000 characters; two accounts label.
Exits with 1 if a label does not arrive on its item with its person, choice, note and mark. `--picture`: a screenshot of each
form by `chromium`, which must show every line and run nothing; `--keep`: Label Studio's export, of shorter items.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cuecard.store.workspace import Workspace  # noqa: E402
from hostile_items import BEFORE, GIVEN, hostile_set  # noqa: E402

TOKEN = secrets.token_hex(20)


def cuecard(*words: str, lang: str = "en") -> dict[str, Any]:
    environment = {**os.environ, "LANG": f"{lang}_X.UTF-8", "LC_ALL": f"{lang}_X.UTF-8"}
    command = [sys.executable, "-m", "cuecard", *words, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return json.loads(done.stdout)


class LabelStudio:
    def __init__(self, program: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.token, self.password = TOKEN, secrets.token_hex(8)
        self.folder = folder
        self.wanted: dict[str, list[str]] = {}
        words = f"start --no-browser --internal-host 127.0.0.1 -p {self.port} --data-dir {folder}"
        words += f" --username ana@example.org --password {self.password}"
        words += f" --user-token {self.token} --enable-legacy-api-token"
        environment = {
            **os.environ,
            "HOME": str(folder),
            "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
            "COLLECT_ANALYTICS": "0",
        }
        with (folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                [program, *words.split()],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        until = time.monotonic() + 400
        while time.monotonic() < until and self._process.poll() is None:
            with contextlib.suppress(URLError, OSError):
                self.ask("GET", "/api/projects")
                return
            time.sleep(2)
        sys.exit(f"Label Studio did not start:\n{(self.folder / 'log').read_text()[-2000:]}")

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        request = Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urlopen(request, timeout=120) as answer:
                return json.loads(answer.read() or b"null")
        except HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read()[:2000]!r}")

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(20)


@contextlib.contextmanager
def label_studio(program: str, folder: Path) -> Iterator[LabelStudio]:
    folder.mkdir()
    server = LabelStudio(program, folder)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def results(label: str, note: str, wrong: bool) -> list[dict[str, Any]]:
    """As its form sends them."""
    about = {"to_name": "item", "origin": "manual"}
    found: list[dict[str, Any]] = [
        {**about, "from_name": "label", "type": "choices", "value": {"choices": [label]}}
    ]
    if wrong:
        choice = {"choices": ["gold_wrong"]}
        found.append({**about, "from_name": "flag", "type": "choices", "value": choice})
    if note:
        text = {"text": [note]}
        found.append({**about, "from_name": "comment", "type": "textarea", "value": text})
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("program", help="label-studio of its own environment")
    options.add_argument("--lang", default="en", choices=("en", "zh"))
    options.add_argument("--picture", type=Path)
    options.add_argument("--keep", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="label-studio-") as temporary:
        folder = Path(temporary)
        db = folder / "cuecard.db"
        with Workspace.open(db) as workspace:
            number = hostile_set(workspace, 100 if given.keep else 200_000)
        here = ("--db", str(db), "--as", "Ana")
        tasks = folder / "tasks.json"
        words = f"labels export --format labelstudio --set {number} -o {tasks}".split()
        out = cuecard(*here, *words, lang=given.lang)
        with label_studio(given.program, folder / "data") as server:
            config = tasks.with_suffix(".xml").read_text(encoding="utf-8")
            project = server.ask(
                "POST", "/api/projects", {"title": "trial", "label_config": config}
            )["id"]
            put = json.loads(tasks.read_text(encoding="utf-8"))
            server.ask("POST", f"/api/projects/{project}/import", put)
            there = server.ask("GET", f"/api/tasks?project={project}&fields=all&page_size=100")
            by_item = {task["data"]["item"]: task["id"] for task in there["tasks"]}
            print(f"{out['items']} items exported, {len(by_item)} tasks in Label Studio")
            ben = {"username": "ben", "email": "ben@example.org", "password": server.password}
            server.ask("POST", "/api/users/", ben)
            emails = {user["email"]: user["id"] for user in server.ask("GET", "/api/users/")}
            assert emails == {"ana@example.org": 1, "ben@example.org": 2}, emails
            for item, (account, said) in GIVEN.items():
                body = {"result": results(*said), "lead_time": 4.5, "completed_by": account}
                server.ask("POST", f"/api/tasks/{by_item[item]}/annotations/", body)
            troubles: list[str] = []
            if given.picture:
                server.wanted = {
                    task["data"]["item"]: [
                        line
                        for name in ("question", "about", "rule", "evidence")
                        for line in task["data"][name].split("\n")
                    ]
                    for task in put
                }
                given.picture.mkdir(parents=True, exist_ok=True)
                troubles = asyncio.run(pictures(server, project, by_item, given.picture))
                print("\n".join(troubles) or "Every line of every form is shown, and nothing ran")
            exported = server.ask(
                "GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true"
            )
        back = folder / "export.json"
        text = json.dumps(exported, ensure_ascii=False, indent=1)
        back.write_text(text, encoding="utf-8")
        if given.keep:
            given.keep.write_text(text + "\n", encoding="utf-8")
        report = cuecard(*here, "labels", "import", str(back), "--person", "1=Ana,2=Ben")
        print(f"{report['added']} labels imported, by {', '.join(report['people'])}")
        again = cuecard(*here, "labels", "import", str(back), "--person", "1=Ana,2=Ben")
        with Workspace.open(db) as workspace:
            arrived = {
                (label.item_key, label.person): (
                    label.value.value,
                    label.comment,
                    label.gold_wrong,
                )
                for label in workspace.verdicts.item_labels(phase="blind")
            }
        wanted = {
            (item, {1: "Ana", 2: "Ben"}[account]): said for item, (account, said) in GIVEN.items()
        }
        wanted[BEFORE[0], "Ana"] = BEFORE[1]
        same = arrived == wanted
        print(
            "They are on the right items, by the right people" if same else f"{arrived}\n{wanted}"
        )
        whole = len(by_item) == out["items"] and report["added"] == len(GIVEN)
        return 0 if same and whole and not again["added"] and not troubles else 1


async def pictures(
    server: LabelStudio, project: int, by_item: dict[str, int], folder: Path
) -> list[str]:
    """A picture of each form, by chromium; what is wrong with them."""
    import aiohttp

    home = tempfile.mkdtemp(prefix="chromium-")
    words = f"chromium --headless --no-sandbox --disable-gpu --user-data-dir={home}"
    words += " --window-size=1400,1100 --remote-debugging-port=0 about:blank"
    browser = await asyncio.create_subprocess_exec(
        *words.split(), stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert browser.stderr
    async for line in browser.stderr:
        if b"DevTools listening on" in line:
            port = line.decode().split("//")[1].split("/")[0]
            break
    else:
        sys.exit("chromium did not start")
    troubles: list[str] = []
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://{port}/json") as answer:
            target = next(page for page in await answer.json() if page["type"] == "page")
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket_:
            page = Page(socket_)
            await page.go(f"{server.url}/user/login")
            await page.until("document.querySelector('input[name=password]')")
            await page.run(
                "document.querySelector('input[name=email]').value = 'ana@example.org';"
                f"document.querySelector('input[name=password]').value = '{server.password}';"
                "document.querySelector('form').submit()"
            )
            await page.until(
                "location.pathname.startsWith('/projects') || location.pathname === '/'"
            )
            for number, (item, task) in enumerate(by_item.items()):
                await page.go(f"{server.url}/projects/{project}/data?task={task}")
                await page.until(
                    "document.querySelectorAll('.lsf-choice__item, .lsf-choice, [class*=choice]').length"
                )
                await asyncio.sleep(2)
                shown = await page.run("document.body.innerText")
                for needed in server.wanted[item]:
                    if " ".join(needed.split()) not in " ".join(str(shown).split()):
                        troubles.append(f"{item[:40]}: not shown: {needed[:80]!r}")
                if await page.run("document.title === 'RUN'"):
                    troubles.append(f"{item[:40]}: a script in it ran")
                picture = await page.call("Page.captureScreenshot", format="png")
                (folder / f"{number}.png").write_bytes(base64.b64decode(picture["data"]))
    os.killpg(browser.pid, signal.SIGTERM)
    await browser.wait()
    return troubles


class Page:
    """A page of chromium, by its protocol."""

    def __init__(self, socket_: Any) -> None:
        self._socket, self._number = socket_, 0

    async def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            found = json.loads((await self._socket.receive()).data)
            if found.get("id") == self._number:
                return found.get("result")

    async def run(self, code: str) -> Any:
        found = await self.call("Runtime.evaluate", expression=code, returnByValue=True)
        return found["result"].get("value")

    async def go(self, url: str) -> None:
        await self.call("Page.navigate", url=url)

    async def until(self, code: str) -> None:
        for _attempt in range(120):
            if await self.run(f"!!({code})"):
                return
            await asyncio.sleep(0.5)
        sys.exit(f"the page never came to {code}")


if __name__ == "__main__":
    sys.exit(main())
