from __future__ import annotations

import sys
from pathlib import Path

import openai_server as fake
from cuecard.annotate.samples import load_samples

MODEL = """\
models:
  {name}: {{base_url: "{url}", model: m, retries: 0}}
"""


def states(data) -> dict[str, str]:
    return {check["name"]: check["state"] for check in data["checks"]}


def test_offline_on_a_fresh_machine(program):
    shown = program("doctor", "--offline")
    assert (shown.code, shown.err) == (0, "")
    assert "textual" in shown.out
    assert "cuecard init" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())


def test_json(cuecard):
    cuecard("init")
    data = cuecard("doctor", "--offline", "--json").data
    assert data["ok"] is True
    assert states(data) == {
        "python": "ok",
        "packages": "ok",
        "terminal": "skipped",
        "encoding": "ok",
        "workspace": "ok",
        "config": "ok",
    }
    workspace = next(c for c in data["checks"] if c["name"] == "workspace")
    assert workspace["data"]["tasks"] == len(load_samples())
    assert workspace["data"]["version"]


def test_what_is_wrong_is_told_with_its_line(cuecard, tmp_path: Path):
    (tmp_path / "cuecard.yaml").write_text(
        "models: {}\nagents:\n  live: {kind: react, model: ghost}\n", encoding="utf-8"
    )
    shown = cuecard("doctor", "--offline")
    assert shown.code == 1
    assert "cuecard.yaml:3: agents.live.model" in " ".join(shown.out.split())
    found = cuecard("doctor", "--offline", "--json")
    assert found.data["ok"] is False
    config = next(c for c in found.data["checks"] if c["name"] == "config")
    assert config["data"]["problems"][0]["line"] == 3


def test_a_workspace_that_was_named_must_be_there(cuecard, tmp_path: Path):
    assert cuecard("--db", "nowhere.db", "doctor", "--offline").code == 1
    (tmp_path / "text.db").write_text("no database at all, just text" * 50, encoding="utf-8")
    data = cuecard("--db", "text.db", "doctor", "--offline", "--json").data
    assert states(data)["workspace"] == "problem"


def test_each_model_is_called_for_what_it_can_do(cuecard, tmp_path: Path):
    able = fake.calls(("search", {"query": "capital of Peru"}))
    with fake.running(lambda request: able) as server:
        text = MODEL.format(name="good", url=server.url)
        text += MODEL.format(name="dead", url="http://127.0.0.1:9/v1").split("\n", 1)[1]
        (tmp_path / "cuecard.yaml").write_text(text, encoding="utf-8")
        found = cuecard("doctor", "--json")
        assert found.code == 1
        assert len(server.requests) == 2
        checks = {check["name"]: check for check in found.data["checks"]}
        assert checks["model:good"]["state"] == "ok"
        data = checks["model:good"]["data"]
        assert (data["streaming"], data["tool_calls"], data["calls"]) == (True, True, 2)
        assert data["json_schema"] == "ignored"
        assert data["usage"]["prompt"] == 11
        assert checks["model:dead"]["state"] == "problem"
        assert "server running" in checks["model:dead"]["hint"]
        skipped = cuecard("doctor", "--offline", "--json")
        assert states(skipped.data)["model:good"] == "skipped"
        assert len(server.requests) == 2


def test_a_weak_model_is_a_warning(cuecard, tmp_path: Path):
    with fake.running(lambda request: fake.text("Lima")) as server:
        (tmp_path / "cuecard.yaml").write_text(
            MODEL.format(name="weak", url=server.url), encoding="utf-8"
        )
        shown = cuecard("doctor")
    assert shown.code == 0
    assert "called no tool" in " ".join(shown.out.split())


def test_a_refused_key_is_told_with_a_way_to_mend_it(cuecard, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-secret-123456")
    with fake.running(lambda request: fake.error(401, "bad key sk-secret-123456")) as server:
        text = MODEL.format(name="locked", url=server.url).replace(
            "retries: 0", "api_key_env: SOME_KEY"
        )
        (tmp_path / "cuecard.yaml").write_text(text, encoding="utf-8")
        shown = cuecard("doctor")
        found = cuecard("doctor", "--json")
    assert shown.code == found.code == 1
    words = " ".join(shown.out.split())
    assert "refused the key" in words
    assert "check the key in SOME_KEY" in words
    assert "sk-secret" not in shown.out + shown.err + found.out


def test_a_server_that_refuses_tools_is_a_warning(cuecard, tmp_path: Path):
    def script(request: fake.Request) -> fake.Reply:
        return fake.error(400, "no tools") if request.body.get("tools") else fake.text("Lima")

    with fake.running(script) as server:
        (tmp_path / "cuecard.yaml").write_text(
            MODEL.format(name="plain", url=server.url), encoding="utf-8"
        )
        shown = cuecard("doctor")
    assert shown.code == 0
    assert "refuses tools" in " ".join(shown.out.split())


AGENTS = """\
agents:
  works: {{kind: acp, command: [{python}, {harness}]}}
  without_world: {{kind: acp, command: [{python}, {harness}, loads], world: false}}
  lost: {{kind: acp, command: [no-such-harness]}}
  dies: {{kind: acp, command: ["true"]}}
  far: {{kind: http, url: "{url}"}}
  locked: {{kind: http, url: "{url}/locked"}}
  nobody: {{kind: http, url: "http://127.0.0.1:9/"}}
  plain: {{kind: react, model: good}}
  hopeless: {{kind: react, model: dead}}
"""


def test_each_agent_is_started_without_a_prompt(cuecard, tmp_path: Path):
    def script(request: fake.Request) -> fake.Reply:
        if request.method == "HEAD":
            status = 401 if request.path.endswith("locked") else 405
            return fake.Reply(status, {"content-length": "0"})
        return fake.calls(("search", {"query": "capital of Peru"}))

    harness = Path(__file__).parents[2] / "scripted_harness.py"
    with fake.running(script) as server:
        text = MODEL.format(name="good", url=server.url)
        text += MODEL.format(name="dead", url="http://127.0.0.1:9/v1").split("\n", 1)[1]
        text += AGENTS.format(python=sys.executable, harness=harness, url=server.url)
        (tmp_path / "cuecard.yaml").write_text(text, encoding="utf-8")
        found = cuecard("doctor", "--json")
        offline = cuecard("doctor", "--offline", "--json")
    checks = {check["name"]: check for check in found.data["checks"]}
    assert {n: c["state"] for n, c in checks.items() if n.startswith("agent:")} == {
        "agent:works": "ok",
        "agent:without_world": "ok",
        "agent:lost": "problem",
        "agent:dies": "problem",
        "agent:far": "ok",
        "agent:locked": "problem",
        "agent:nobody": "problem",
        "agent:plain": "ok",
        "agent:hopeless": "problem",
    }
    assert checks["model:good"]["state"] == "ok"
    assert "scripted 1: a session was open" in checks["agent:works"]["detail"]
    assert checks["agent:without_world"]["data"]["loads"] is True
    assert "no-such-harness" in checks["agent:lost"]["detail"]
    assert "exit code 0" in checks["agent:dies"]["detail"]
    assert "401" in checks["agent:locked"]["detail"]
    assert "headers" in checks["agent:locked"]["hint"]
    # No turn is played anywhere.
    assert not (tmp_path / "prompts").exists()
    assert {r.method for r in server.requests if not r.path.endswith("completions")} == {"HEAD"}
    assert states(offline.data)["agent:lost"] == "problem"
    assert states(offline.data)["agent:works"] == "skipped"
    assert "agent:plain" not in states(offline.data)


def test_players_in_python_are_loaded(cuecard, tmp_path: Path):
    (tmp_path / "doctor_own.py").write_text(
        "print('imported')\nclass Whole:\n    def judge(self, task, prediction, context): ...\n"
        "class Half:\n    def open(self, context): ...\n",
        encoding="utf-8",
    )
    (tmp_path / "cuecard.yaml").write_text(
        "judges:\n  whole: {kind: python, class: 'doctor_own:Whole'}\n"
        "users:\n  half: {kind: python, class: 'doctor_own:Half'}\n"
        "agents:\n  gone: {kind: python, class: 'doctor_own:Gone'}\n",
        encoding="utf-8",
    )
    found = cuecard("doctor", "--json").data["checks"]
    own = {c["name"]: (c["state"], c["detail"]) for c in found if ":" in c["name"]}
    assert own.pop("agent:gone")[1].startswith("doctor_own:Gone: AttributeError: module")
    assert own == {
        "user:half": ("problem", "doctor_own:Half: it has no method reply"),
        "judge:whole": ("ok", "doctor_own:Whole, loaded"),
    }
    shown = cuecard("doctor", "--offline")
    assert shown.code == 1
    assert "user half" in shown.out
    assert "judge whole" in shown.out
