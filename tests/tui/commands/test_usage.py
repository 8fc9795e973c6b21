"""What a run's calls took, in its scores; what the tool python is held back by."""

from __future__ import annotations

import pytest

from openai_server import running
from scripted_brain import brain

CONFIG = """\
models:
  m: {{base_url: "{url}", model: scripted, price: {{prompt: 1000000, completion: 0}}}}
agents:
  live: {{kind: react, model: m}}
  crew: {{kind: team, model: m}}
worlds:
  lab: {{kind: closed, python: {{seconds: 2}}}}
"""


@pytest.mark.usefixtures("begun")
def test_scores_tell_calls_tokens_and_cost(cuecard, task_file, tmp_path):
    task_file("ferry")
    with running(brain) as server:
        (tmp_path / "cuecard.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        ran = cuecard("run", "ferry.yaml", "--agent", "live", "--agent", "crew", "--json")
        assert ran.code == 0, ran.err
        calls = len(server.requests)
    scored = cuecard("score", "1", "--json")
    totals = scored.data["totals"]
    assert totals == ran.data["totals"]
    assert totals["run"]["calls"] == calls
    assert totals["run"]["cost"] == 11 * calls
    assert set(totals["agents"]) == {"live", "crew"}
    assert sum(agent["calls"] for agent in totals["agents"].values()) == calls
    assert {used["payer"] for used in scored.data["usage"]} == {"agent", "conclusion"}
    assert f"{calls} model calls" in scored.err
    assert "USD" in scored.err


def test_the_doctor_tells_what_holds_programs_back(cuecard, tmp_path):
    (tmp_path / "cuecard.yaml").write_text(CONFIG.format(url="http://127.0.0.1:9/v1"))
    found = {
        check["name"]: check for check in cuecard("doctor", "--offline", "--json").data["checks"]
    }
    told = found["python_tool"]
    restrictions = ("network", "files", "processes", "calls", "limits", "landlock")
    assert set(told["data"]) == {*restrictions, "missing"}
    whole = all(told["data"][name] for name in restrictions[:-1])
    assert told["state"] == ("ok" if whole else "problem")
