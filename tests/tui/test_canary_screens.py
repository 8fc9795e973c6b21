"""A model that repeats every secret, seen on the screens; and what is told when the app falls over."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from canary import config_text, echoing, environment, found_in, planted
from cuecard.core.secrets import guard_address
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.play.screen import PlayScreen
from cuecard.tui.widgets.transcript import Transcript
from tui_rooms import enter_play, shown, transcript, until

CRASH = """
import sys
from cuecard.core.secrets import guard
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.services import Services

def fall():
    key, address = sys.argv[1], sys.argv[2]
    guard("THE_KEY", key)
    raise RuntimeError("with " + key)

async def pilot(pilot):
    pilot.app.call_later(fall)
    await pilot.pause(5)

CuecardApp(Services(sys.argv[2]), "Ana", Preferences()).run(headless=True, auto_pilot=pilot)
"""


async def test_a_live_session_shows_and_keeps_no_secret(
    app_with_samples: CuecardApp, home: Path, database: Path
) -> None:
    dice = random.Random(3)
    canaries = planted(dice)
    seen: list[str] = []
    guard_address(f"postgresql://u:{canaries['PASSWORD']}@h/d?password={canaries['PARAMETER']}")
    with environment(canaries), echoing(canaries, dice) as url:
        (home / "cuecard.yaml").write_text(config_text(url, canaries))
        app = app_with_samples
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            screen = PlayScreen("espresso", agent="live")
            await enter_play(pilot, screen)
            await pilot.press("enter")

            def answered() -> bool:
                seen.append(shown(screen))
                return (
                    len(screen.query_one(Transcript).entries) > 1 and "is writing" not in seen[-1]
                )

            await until(pilot, answered)
            await until(pilot, lambda: "<CANARY_MODEL>" in transcript(screen))
            seen.append(transcript(screen))
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, PlayScreen))
            seen.append(shown(app.screen))
    assert found_in(home, canaries, *seen) == []
    assert found_in(database.parent, canaries) == []


def test_a_crash_tells_no_secret(home: Path) -> None:
    canaries = planted(random.Random(4))
    address = f"postgresql://u:{canaries['PASSWORD']}@127.0.0.1:1/d"
    program = home / "falls.py"
    program.write_text(CRASH)
    done = subprocess.run(
        [sys.executable, program, canaries["MODEL"], address],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "300"},
    )
    assert "RuntimeError: with <THE_KEY>" in done.stderr, done.stderr
    assert found_in(home, canaries, done.stdout, done.stderr, json.dumps(done.stderr)) == []
