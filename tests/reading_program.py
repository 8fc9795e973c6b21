"""Verbs, and the app, by somebody who may read the workspace but not write it; run as a program.

    python reading_program.py FOLDER WARM < commands

`FOLDER`: where to stand. `WARM`: a workspace that may be written, on which everything is done once before, so that
every module is imported while the program may still read where they lie. The commands are JSON, a list of lists of
words, in which `{out}` is a folder to write to; `["app", PATH]` opens the app and looks at Home, Tasks, Runs and a run. Permissions do not bind root, so root becomes
somebody else in between. Prints a list of `{code, out, err, before}`: `before` is the exit
code on the workspace that may be written.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

NOBODY = 65534


def perform(words: list[str]) -> dict[str, Any]:
    from cuecard.tui.commands.main import run

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        if words[0] == "app":
            code = asyncio.run(look_round(words[1]))
        else:
            sys.argv = ["cuecard", *words]
            code = run()
    said, complained = (stream.buffer.getvalue().decode() for stream in (out, err))
    return {"code": code, "out": said, "err": complained}


async def look_round(path: str) -> int:
    """Every place of the app, by its key; prints what stands there and what is told."""
    from cuecard.tui.app import CuecardApp
    from cuecard.tui.preferences import Preferences
    from cuecard.tui.services import Services
    from tui_rooms import shown

    seen: list[str] = []
    app = CuecardApp(Services(f"sqlite:///{path}"), "Ana", Preferences())
    notify = app.notify

    def told(message: str, **more: Any) -> None:
        seen.append(f"TOLD {message}")
        notify(message, **more)

    app.notify = told
    async with app.run_test(size=(100, 30)) as pilot:
        for key in "123":
            await pilot.press(key)
            for _ in range(40):
                await pilot.pause(0.02)
                if "Opening the workspace" not in shown(app.screen):
                    break
            await app.workers.wait_for_complete()
            seen.append(shown(app.screen))
        await pilot.press("3", "enter")
        for _ in range(100):
            await pilot.pause(0.02)
            if "trials" in shown(app.screen):
                break
        await app.workers.wait_for_complete()
        seen.append(shown(app.screen))
    print("\n".join(seen))
    return 0


def main() -> None:
    folder, warm = sys.argv[1:]
    commands = json.load(sys.stdin)
    os.chdir(folder)
    ours, theirs = tempfile.mkdtemp(), tempfile.mkdtemp()
    os.chmod(theirs, 0o777)
    os.environ["HOME"] = ours
    before = [
        perform([warm if word.endswith(".db") else word.format(out=ours) for word in words])["code"]
        for words in commands
    ]
    os.environ["HOME"] = folder
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    answers = [perform([word.format(out=theirs) for word in words]) for words in commands]
    print(json.dumps([{**a, "before": code} for a, code in zip(answers, before, strict=True)]))


if __name__ == "__main__":
    main()
