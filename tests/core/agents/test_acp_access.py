"""What harnesses may do, how they are cancelled and taken up, and what is told where they want a login: the protocol
library's example agents as real processes, and what harnesses from npm answered here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from cuecard.core.agents.acp_access import Tool, login_hint, option_for
from cuecard.core.config_players import Permissions
from cuecard.core.doctor import try_harness
from cuecard.core.engine.events import AgentSpoke, Termination
from cuecard.core.errors import AgentPaused
from harness_bench import EXAMPLES, HarnessBench, gone, harness_config, running, until
from recorded_harness import RECORDED

HERE = Path(__file__).parents[2]
ASKING = (sys.executable, str(HERE / "asking_agent.py"))
WORLD = {"world", "world, told before", "world, by its choices"}
ALLOWED: dict[Permissions, set[str]] = {
    "none": WORLD,
    "read": WORLD | {"read"},
    "folder": WORLD | {"read", "edit", "other"},
    "all": WORLD | {"read", "read outside", "edit", "edit outside", "execute", "fetch", "other"},
}


def test_every_policy_is_tried() -> None:
    assert set(ALLOWED) == set(get_args(Permissions))


@pytest.mark.parametrize("policy", get_args(Permissions))
async def test_what_a_policy_allows_is_answered_and_recorded(
    bench: HarnessBench, policy: Permissions
) -> None:
    from asking_agent import WANTED  # The protocol's library takes half a second to load.

    await bench.play(command=(*ASKING, "asks"), permissions=policy)

    answers = json.loads(bench.bodies("agent_spoke")[0].reply.text)
    assert {name for name, got in answers.items() if got == "id-allow_once"} == ALLOWED[policy]
    assert set(answers.values()) <= {"id-allow_once", "id-reject_once"}
    marks = bench.marks("harness_permission")[: len(WANTED)]
    assert [(mark.policy, json.loads(mark.input)["for"]) for mark in marks] == [
        (policy, one[0]) for one in WANTED
    ]
    assert [mark.answer == "allowed" for mark in marks] == [
        one[0] in ALLOWED[policy] for one in WANTED
    ]
    assert {mark.option.partition(":")[0] for mark in marks} <= {"allow_once", "reject_once"}
    assert {json.loads(mark.input)["for"] for mark in marks if mark.world} == WORLD
    assert marks[1].places == ("/etc/passwd",)
    assert marks[8].title == "mcp.cuecard.search"


async def test_without_a_world_the_web_may_be_read_and_no_tool_is_the_worlds(
    bench: HarnessBench,
) -> None:
    await bench.play(command=(*ASKING, "asks"), permissions="read", offered=False)

    answers = json.loads(bench.bodies("agent_spoke")[0].reply.text)
    assert {name for name, got in answers.items() if got == "id-allow_once"} == {"read", "fetch"}


@pytest.mark.parametrize(
    ("title", "name", "ours"),
    [
        ("mcp__cuecard__search", "other", True),  # Claude Code
        ("mcp.cuecard.search", "execute", True),  # Codex
        ("search (cuecard MCP Server)", "other", True),  # Gemini CLI
        ("cuecard__search", "other", True),  # OpenClaw
        ("search", "other", True),
        ("search", "execute", False),
        ("cat cuecard.yaml", "execute", False),
        ("cuecard/search.sh", "execute", False),
        ("mcp__cuecard__remove", "other", False),
        ("mcp__other__search", "other", False),
    ],
)
def test_the_worlds_own_tools_are_known_by_their_names(title: str, name: str, ours: bool) -> None:
    assert Tool(name=name, title=title).is_worlds(("search",)) is ours
    assert not Tool(name=name, title=title).is_worlds(())


def test_an_approval_that_names_the_server_is_the_worlds() -> None:
    title = "Approve MCP tool call"  # Codex, with the server in its input.
    assert Tool("other", title, input={"server_name": "cuecard"}).is_worlds(("search",))
    assert not Tool("other", title, input={"server_name": "mine"}).is_worlds(("search",))


def test_where_no_choice_fits_none_is_taken() -> None:
    only: Any = [SimpleNamespace(kind="allow_always", name="Always")]

    assert option_for(False, only) is None
    assert option_for(True, only) is only[0]


async def test_a_prompt_that_is_cancelled_ends_and_permits_nothing_more(
    bench: HarnessBench,
) -> None:
    trial = asyncio.create_task(bench.play(command=(*ASKING, "waits"), permissions="all"))
    pid = bench.folder / "pid"
    await until(lambda: pid.exists() and bool(pid.read_text()))
    (session,) = bench.marks("harness_session")

    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial

    assert (bench.folder / "late").read_text() == "cancelled"
    assert not running(int(pid.read_text()))
    assert gone(session.cwd)
    assert bench.bodies("trial_ended") == []


async def test_a_turn_that_takes_too_long_is_cancelled_and_ends_the_trial(
    bench: HarnessBench,
) -> None:
    result = await bench.play(command=(*ASKING, "waits"), turn_timeout=0.5)

    assert result.termination is Termination.API_ERROR
    assert "did not end its turn in time" in result.detail
    assert (bench.folder / "late").read_text() == "cancelled"
    (mark,) = bench.marks("harness_permission")
    assert (mark.answer, mark.option) == ("cancelled", "")
    assert not running(int((bench.folder / "pid").read_text()))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ((*ASKING, "loads"), ""),
        ((*ASKING, "loads", "asks"), ""),  # To change files, which is refused.
        ((*ASKING, "loads", "asks", "changes"), "kept in its folder is gone"),
        ((*ASKING, "blank"), "is not known"),
        ((sys.executable, str(EXAMPLES / "agent.py")), "cannot take up an earlier session"),
    ],
)
async def test_a_trial_goes_on_in_its_session_or_says_why_it_starts_over(
    bench: HarnessBench, command: tuple[str, ...], told: str
) -> None:
    policy = "folder" if "changes" in command else "read"
    await bench.play(command=command, permissions=policy)
    first = next(n for n, e in enumerate(bench.events) if isinstance(e.body, AgentSpoke))
    past = list(bench.events[: first + 1])
    said = bench.folder / "said"
    if said.exists():
        said.write_text(json.dumps(json.loads(said.read_text())[:1]))

    result = await bench.play(command=command, permissions=policy, past=past)

    assert result.termination is Termination.USER_DONE
    again = [body.reason for body in bench.bodies("trial_reopened")]
    assert [told in reason for reason in again] == ([True] if told else [])
    assert [mark.restored for mark in bench.marks("harness_session")] == [False, not told]


HINTS = {
    "claude-agent-acp": "run `claude-agent-acp --cli auth login --claudeai`; "
    "or name ANTHROPIC_API_KEY in pass_env",
    "claude-code-acp": "Run `claude /login` in the terminal; or name ANTHROPIC_API_KEY in pass_env",
    "codex-acp": "run `codex login`; "
    "or name OPENAI_API_KEY in pass_env and set auth_method: api-key",
    "codex-acp-zed": "run `codex login`; "
    "or name CODEX_API_KEY in pass_env and set auth_method: codex-api-key",
    "gemini-cli": "run `gemini`; or name GEMINI_API_KEY in pass_env",
    "qwen-code": "run `qwen auth`; "
    "or name OPENAI_API_KEY in pass_env and add --auth-type=openai to its command",
}


@pytest.mark.parametrize("name", RECORDED)
def test_the_hint_names_the_command_that_logs_in(name: str) -> None:
    from acp.schema import InitializeResponse

    recorded = RECORDED[name]
    told = InitializeResponse.model_validate(recorded["answers"]["initialize"]["result"])
    assert told.agent_info is not None
    hint = login_hint(recorded["command"], told.agent_info.name, told.auth_methods or ())
    assert hint == HINTS[name]


def test_of_a_harness_that_nobody_knows_the_hint_says_what_it_offers() -> None:
    from acp.schema import EnvVarAuthMethod, TerminalAuthMethod

    by_hand = TerminalAuthMethod.model_validate(
        {"type": "terminal", "id": "t", "name": "T", "args": ["log in"]}
    )
    key = EnvVarAuthMethod.model_validate(
        {"type": "env_var", "id": "k", "name": "K", "vars": [{"name": "A_KEY"}]}
    )
    assert login_hint(("mine", "--acp"), "mine", (key, by_hand)) == (
        "run `mine --acp 'log in'`; or name A_KEY in pass_env and set auth_method: k"
    )
    assert login_hint(("mine",), "mine", ()) == "log in with the harness's own command first"


def recorded(name: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / "recorded_harness.py"), name)


@pytest.mark.parametrize("name", RECORDED)
async def test_a_harness_without_a_login_pauses_the_run_and_says_what_mends_it(
    bench: HarnessBench, name: str
) -> None:
    with pytest.raises(AgentPaused) as caught:
        await bench.play(command=recorded(name))

    title = RECORDED[name]["answers"]["initialize"]["result"]["agentInfo"]["name"]
    assert caught.value.title == "The harness wants a login"
    assert f"outside: {title} " in caught.value.message
    last = HINTS[name].partition("or name ")[2]
    assert caught.value.hint.endswith(last)
    assert bench.bodies("trial_ended") == []
    assert not running(int((bench.folder / "pid").read_text()))


@pytest.mark.parametrize("name", RECORDED)
async def test_doctor_tells_a_missing_login_or_that_it_cannot_see_it(
    bench: HarnessBench, name: str
) -> None:
    report = await try_harness("outside", harness_config(command=recorded(name)))

    late = "claude" in name  # These open a session, and ask at the first prompt.
    assert (report.works, report.asks_late) == (late, late)
    # What was recorded does not connect to the world, as an agent would that does not trust it.
    assert not late or "has not connected to the world" in report.hint
    assert late or report.detail.startswith("The harness wants a login: ")
    assert not running(int((bench.folder / "pid").read_text()))


@pytest.mark.parametrize(
    ("method", "key", "title", "told"),
    [
        ("api-key", "sk-not-a-real-key-0001", "", ""),
        ("api-key", "", "The harness cannot log in so", "OPENAI_API_KEY is not set"),
        ("apikey", "", "The harness cannot log in so", "apikey"),
    ],
)
async def test_a_login_by_key_is_asked_for_as_configured(
    bench: HarnessBench,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    key: str,
    title: str,
    told: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    fields: dict[str, Any] = {"pass_env": ("HARNESS_DIR", "OPENAI_API_KEY"), "auth_method": method}
    report = await try_harness("outside", harness_config(command=recorded("codex-acp"), **fields))

    assert report.works == (not title)
    assert title in report.detail
    assert told in report.detail
    if method == "apikey":
        assert "api-key, chat-gpt" in report.hint


@pytest.mark.skipif("ACP_EXAMPLE_JS" not in os.environ, reason="ACP_EXAMPLE_JS names no agent.js")
@pytest.mark.parametrize("policy", get_args(Permissions))
async def test_the_example_agent_of_the_typescript_library(
    bench: HarnessBench, policy: Permissions
) -> None:
    """ACP_EXAMPLE_JS: dist/examples/agent.js of an installed npm package @agentclientprotocol/sdk."""
    command = ("node", os.environ["ACP_EXAMPLE_JS"])
    result = await bench.play(command=command, permissions=policy, turn_timeout=60)

    assert result.termination is Termination.USER_DONE
    asked = bench.marks("harness_permission")[0]
    assert asked.places == ("/home/user/project/config.json",)
    may = policy == "all"
    assert (asked.answer, asked.option) == (
        ("allowed", "Allow this change") if may else ("refused", "Skip this change")
    )
    said = bench.bodies("agent_spoke")[0].reply.text
    assert ("successfully updated" if may else "skip the configuration update") in said
