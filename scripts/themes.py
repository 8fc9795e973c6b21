"""Take pictures of the six places in every theme of ours, in the terminal's 16 colours and without colour, into build/themes/index.html.

    python scripts/themes.py

To be looked at: what cannot be read, and what only its colour tells.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cuecard.tui.app import CuecardApp  # noqa: E402
from cuecard.tui.preferences import OURS, Preferences  # noqa: E402
from cuecard.tui.services import Services  # noqa: E402
from seeded_workspace import seed  # noqa: E402

OUT = ROOT / "build" / "themes"
PLACES = {"1": "home", "2": "tasks", "3": "runs", "4": "review", "5": "verdicts", "6": "settings"}
LOOKS = (*(theme.name for theme in OURS), "NO_COLOR")


async def taken(database: Path, look: str) -> None:
    """The places, and a task, in one look."""
    if look == "NO_COLOR":
        os.environ["NO_COLOR"] = "1"
    theme = "cuecard-dark" if look == "NO_COLOR" else look
    app = CuecardApp(Services(f"sqlite:///{database}"), "Ben", Preferences(theme=theme))
    os.environ.pop("NO_COLOR", None)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause(2)
        for key, place in PLACES.items():
            await pilot.press(key)
            await pilot.pause(1.5)
            (OUT / f"{look}.{place}.svg").write_text(app.export_screenshot(), encoding="utf-8")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name
        database = Path(name) / "cuecard.db"
        seed(database)
        for look in sys.argv[1:] or LOOKS:
            asyncio.run(taken(database, look))
    figures = [
        f"<h2>{look}</h2>" + "".join(f'<img width="600" src="{look}.{place}.svg" alt="{place}">' for place in PLACES.values())
        for look in LOOKS
    ]  # fmt: skip
    (OUT / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8">{"".join(figures)}', encoding="utf-8"
    )


if __name__ == "__main__":
    main()
