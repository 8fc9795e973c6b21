"""`cuecard shadow`: simulators asked about trials that were played before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from offline_trials import SAMPLES
from openai_server import OpenAIServer, Reply, Request, error, running, text
from simulator_bench import unmet

CONFIG = """\
models:
  m: {{base_url: "{url}", model: small, retries: 0, price: {{prompt: 1000000, completion: 0}}}}
users:
  {name}: {{kind: simulator, model: m}}
play:
  shadows: [{name}]
"""
SOLAR_TERMS = next(path for path in SAMPLES if path.stem == "table-solar-terms-zh")
TURNS = 5


@pytest.mark.usefixtures("begun")
def test_shadows_of_a_run_by_a_script_and_by_models(cuecard, tmp_path):
    cuecard("run", str(SOLAR_TERMS))
    script = cuecard("shadow", "1", "--user", "scripted")
    assert script.code == 0
    assert "scripted" in script.out
    assert "Offline baselines" in script.out
    again = cuecard("shadow", "--trial", "1", "--user", "scripted", "--json")
    assert again.code == 0
    assert [(s["asked"], s["before"]) for s in again.data["shadows"]] == [(0, TURNS)]

    def model(request: Request) -> Reply:
        return error(400) if request.number == 1 else text(json.dumps(unmet("请继续。")))

    with running(model) as server:
        _configure(tmp_path, server)
        first = cuecard("shadow", "1", "--concurrency", "1")
        assert first.code == 1
        assert "trial 1, turn 2: sim could not be asked" in first.err
        assert "1 answer is missing" in first.err
        assert f"{TURNS - 1} model calls" in first.err
        bought = cuecard("shadow", "1", "--budget", "0.5", "--json")
        assert bought.code == 0
        assert len(server.requests) == TURNS + 1
        shadow = bought.data["shadows"][0]
        assert (shadow["asked"], shadow["before"], shadow["failed"]) == (1, TURNS - 1, 0)
        assert shadow["players"][0]["model"] == "small"
    with running(lambda _: text("no JSON")) as server:
        _configure(tmp_path, server, "sim2")
        done = cuecard("shadow", "1", "--budget", "0.5", "--concurrency", "1", "--json")
        assert done.code == 1
        assert "budget" in done.err
        assert [f["halted"] for f in done.data["failures"]] == [True] * (TURNS - 1)
        assert len(server.requests) == 1
    assert cuecard("shadow").code == 2
    assert cuecard("shadow", "9").code == 1
    unknown = cuecard("shadow", "1", "--user", "nobody")
    assert unknown.code == 1
    assert "known users: scripted, scripted:hasty, sim2" in unknown.err


def _configure(folder: Path, server: OpenAIServer, name: str = "sim") -> None:
    text = CONFIG.format(url=server.url, name=name)
    (folder / "cuecard.yaml").write_text(text, encoding="utf-8")
