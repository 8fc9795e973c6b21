"""100 labels in headless Chromium through `cuecard serve`, and how long it takes from a key to the app's next picture.

python bench/browser.py
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from browser_page import opened, served
from cuecard.store.workspace import Workspace

LABELS = 100


async def labelled(folder: Path, link: str) -> list[float]:
    """Seconds from each key until the next item is shown."""
    taken: list[float] = []
    async with opened(link) as page:
        await page.until("Settings")
        await page.key("5")
        await page.until("offline")
        await page.key("Enter")
        await page.until("covered")
        for n in range(LABELS):
            began = time.perf_counter()
            await page.key("yn"[n % 2])
            await page.until_new()
            taken.append(time.perf_counter() - began)
            await asyncio.sleep(0.05)
        with Workspace.open(folder / "cuecard.db", create=False) as workspace:
            while (given := len(workspace.verdicts.labels())) < LABELS:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        print(f"{given} labels")
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"HOME": name, "CUECARD_USER": "Ben"}
        for words in (("init",), ("run", "espresso", "graph-astronomy-zh")):
            command = [sys.executable, "-m", "cuecard", *words]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with served(folder, "Ana") as links:
            taken = asyncio.run(labelled(folder, links["Ana"]))
    last = sorted(taken)
    print(
        f"key to picture: median {statistics.median(taken) * 1000:.0f} ms, p95 {last[int(len(last) * 0.95)] * 1000:.0f} ms"
    )


if __name__ == "__main__":
    main()
