"""The live sessions on the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from apart import fresh
from cuecard.annotate.sessions import EMBEDDED_FORM, keep_form
from cuecard.core.evaluation.play_session import PlaySession
from lab_players import play_out
from offline_trials import CHAIN


def test_sessions_are_listed_and_written_with_their_forms(cuecard: Any, tmp_path: Path) -> None:
    async def play() -> None:
        with fresh(tmp_path / "cuecard.db") as workspace:
            workspace.tasks.save(CHAIN, author="Bo")
            session = await PlaySession.start(workspace, CHAIN.id, by="Ana")
            await play_out(session)
            scales = [q.key for q in EMBEDDED_FORM if q.kind == "scale"]
            answers = dict.fromkeys(scales, 5)
            keep_form(workspace, session.trial.id, "Ana", EMBEDDED_FORM, answers)

    asyncio.run(play())
    shown = cuecard("sessions")
    assert "5/7" in shown.out
    assert "Offline baselines" in shown.err
    (session,) = cuecard("sessions", "1", "--json").data["sessions"]
    assert session["forms"][0]["answers"]["effort"] == 5
    assert session["said"][0]["reply"]["text"]
    file = tmp_path / "sessions.csv"
    assert "1 session written" in cuecard("sessions", "--csv", str(file)).out
    head, row = file.read_text("utf-8-sig").splitlines()
    assert "satisfaction" in head
    assert row.endswith(",5,5,5,5,5,")
    refused = cuecard("sessions", "--csv", str(tmp_path))
    assert refused.code == 1
    assert "cannot be written" in refused.err
    assert "no such run" in cuecard("sessions", "9").err.lower()
