from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuecard.core.config import (
    ConfigProblems,
    example_config,
    find_prompt,
    load_config,
    load_prompt,
)
from cuecard.core.config_players import ReactAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.errors import ConfigError, FileProblems

GOOD = """\
models:
  local:
    base_url: http://127.0.0.1:8080/v1/
    model: tiny
    temperature: 0.5
    max_tokens: 100
    timeout: 2.5
    extra: {top_k: 40, seed: 7, cache_prompt: true, note: "7"}
agents:
  live:
    kind: react
    model: local
    max_steps: 3
"""

OFFLINE = ("offline", "offline:forgetful", "offline:hasty", "offline:wordy")
KINDS = ", ".join((*OFFLINE, "react", "team", "acp", "http", "python"))


def write(folder: Path, text: str) -> Path:
    path = folder / "cuecard.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(ConfigProblems) as caught:
        load_config(write(folder, text))
    assert isinstance(caught.value, ConfigError)
    assert isinstance(caught.value, FileProblems)
    return [(p.place, p.line, p.reason) for p in caught.value.problems]


def test_without_a_file_the_embedded_players_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config()
    assert list(config.agents) == [*OFFLINE]
    assert (list(config.users), list(config.worlds), list(config.judges)) == (
        ["scripted", "scripted:hasty"],
        ["closed"],
        ["lexical", "lexical:strict", "lexical:lenient", "lexical:noisy"],
    )


def test_the_file_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD)
    monkeypatch.chdir(tmp_path)
    config = load_config()
    assert list(config.agents) == [*OFFLINE, "live"]
    agent = config.agent("live")
    assert isinstance(agent, ReactAgentConfig)
    assert agent.max_steps == 3
    model = config.model(agent.model)
    assert model.base_url == "http://127.0.0.1:8080/v1"
    assert (model.temperature, model.max_tokens, model.timeout) == (0.5, 100, 2.5)
    assert model.extra == {"top_k": 40, "seed": 7, "cache_prompt": True, "note": "7"}


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        load_config(tmp_path / "none.yaml")


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "models:\nagents:\n"])
def test_an_empty_file_means_the_embedded_players(tmp_path: Path, text: str) -> None:
    assert load_config(write(tmp_path, text)) == load_config_defaults()


def load_config_defaults() -> Config:
    from cuecard.core.config import EMBEDDED

    return EMBEDDED


def test_every_problem_is_told_with_its_line(tmp_path: Path) -> None:
    text = """\
models:
  local:
    base_url: nowhere
    temperature: warm
agents:
  live:
    kind: react
    model: locl
  odd:
    kind: dreamer
  bare: {}
colour: red
"""
    found = problems(tmp_path, text)
    assert [(place, line) for place, line, _ in found] == [
        ("models.local.model", 2),
        ("models.local.base_url", 3),
        ("models.local.temperature", 4),
        ("agents.odd.kind", 10),
        ("agents.bare.kind", 11),
        ("colour", 12),
    ]
    reasons = [reason for _, _, reason in found]
    assert reasons[0] == "is missing"
    assert "http://127.0.0.1" in reasons[1]
    assert reasons[3] == f"must be one of {KINDS}"
    assert reasons[4] == f"is missing; must be one of {KINDS}"


def test_the_message_names_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, "models:\n  local: {base_url: 'http://h/v1'}\n")
    with pytest.raises(ConfigProblems) as caught:
        load_config(path)
    assert f"{path}:2: models.local.model: is missing" in str(caught.value)


def test_a_field_of_requests_without_a_name_here_goes_under_extra(tmp_path: Path) -> None:
    text = "models:\n  local: {base_url: 'http://h/v1', model: m, presence_penalty: 1}\n"
    ((place, line, reason),) = problems(tmp_path, text)
    assert (place, line) == ("models.local.presence_penalty", 2)
    assert "under extra" in reason


def test_files_of_a_model_are_relative_to_the_file_and_must_exist(tmp_path: Path) -> None:
    text = "models:\n  local: {base_url: 'http://h/v1', model: m, api_key_file: key}\n"
    ((place, _line, reason),) = problems(tmp_path, text)
    assert (place, str(tmp_path / "key") in reason) == ("models.local.api_key_file", True)
    (tmp_path / "key").write_text("sk-in-a-file")
    config = load_config(write(tmp_path, text)).models["local"]
    assert config.api_key() == "sk-in-a-file"


def test_an_agent_must_name_a_known_model(tmp_path: Path) -> None:
    found = problems(tmp_path, GOOD.replace("model: local", "model: locl"))
    assert found == [("agents.live.model", 12, "there is no model locl here; known models: local")]


def test_who_helps_authors_is_the_first_model_unless_another_is_named(tmp_path: Path) -> None:
    assert load_config_defaults().author_model == ""
    assert load_config(write(tmp_path, GOOD)).author_model == "local"
    more = GOOD.replace("agents:", "  other: {base_url: 'http://h/v1', model: b}\nagents:")
    named = load_config(write(tmp_path, more + "authoring:\n  model: other\n"))
    assert named.author_model == "other"
    wrong = GOOD + "authoring:\n  model: huge\n"
    ((place, line, reason),) = problems(tmp_path, wrong)
    assert (place, line) == ("authoring.model", 15)
    assert "local" in reason


def test_prompt_files_are_relative_to_the_file_and_must_exist(tmp_path: Path) -> None:
    text = GOOD + "    prompts:\n      react: mine.md\n"
    found = problems(tmp_path, text)
    assert [(place, line) for place, line, _ in found] == [("agents.live.prompts.react", 15)]
    (tmp_path / "mine.md").write_text("Be brief.")
    agent = load_config(write(tmp_path, text)).agent("live")
    assert isinstance(agent, ReactAgentConfig)
    assert agent.prompts == {"react": str(tmp_path / "mine.md")}


def test_a_teams_own_guidelines_are_relative_to_the_file_and_must_exist(tmp_path: Path) -> None:
    text = "currency: EUR\nguidelines: ours.md\n"
    ((place, line, reason),) = problems(tmp_path, text)
    assert (place, line) == ("guidelines", 2)
    assert "ours.md" in reason
    ((place, line, _reason),) = problems(tmp_path, "guidelines: [a]\n")
    assert (place, line) == ("guidelines", 1)
    (tmp_path / "ours.md").write_text("# Ours")
    assert load_config(write(tmp_path, text)).guidelines == str(tmp_path / "ours.md")


def test_the_name_of_the_embedded_agent_cannot_be_taken(tmp_path: Path) -> None:
    found = problems(tmp_path, GOOD.replace("  live:", "  offline:"))
    assert [(place, line) for place, line, _ in found] == [("agents.offline", 10)]


def test_a_double_key_and_broken_yaml_are_told(tmp_path: Path) -> None:
    assert problems(tmp_path, "models: {}\nmodels: {}\n")[0][:2] == ("models", 2)
    assert problems(tmp_path, "models: [\n")[0][1] is not None
    assert problems(tmp_path, "- a\n")[0][1] == 1


@pytest.mark.parametrize(
    "line",
    [
        "api_key: sk-secret123",
        "api_key_env: sk-secret123",
        "api_key_env: gsk_secret123",
        "extra: {api_key: sk-secret123}",
        "base_url: https://me:sk-secret123@example.org/v1",
        "base_url: https://example.org/v1?key=sk-secret123",
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(tmp_path: Path, line: str) -> None:
    base = "" if line.startswith("base_url") else "    base_url: http://localhost/v1\n"
    path = write(tmp_path, f"models:\n  m:\n    model: x\n{base}    {line}\n")
    with pytest.raises(ConfigProblems) as caught:
        load_config(path)
    assert len(caught.value.problems) == 1
    assert "secret123" not in str(caught.value) + repr(caught.value)


def test_keys_come_from_the_environment_and_show_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GOOD.replace("    model: tiny\n", "    model: tiny\n    api_key_env: CUECARD_TEST_KEY\n")
    config = load_config(write(tmp_path, text))
    monkeypatch.delenv("CUECARD_TEST_KEY", raising=False)
    with pytest.raises(ConfigError, match="CUECARD_TEST_KEY"):
        config.model("local").api_key()
    monkeypatch.setenv("CUECARD_TEST_KEY", " sk-secret123\n")
    assert config.model("local").api_key() == "sk-secret123"
    assert "secret123" not in repr(config) + str(config) + config.model_dump_json()
    monkeypatch.setenv("CUECARD_TEST_KEY", "sk-secret\x1b123")
    with pytest.raises(ConfigError) as caught:
        config.model("local").api_key()
    assert "secret" not in str(caught.value)


def test_unknown_names_list_the_known_ones() -> None:
    config = load_config_defaults()
    with pytest.raises(ConfigError, match="offline"):
        config.agent("nobody")
    with pytest.raises(ConfigError, match="nothing"):
        config.model("nothing")


def test_the_example_reads_as_it_is_and_with_everything_uncommented(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, example_config())) == load_config_defaults()
    full = re.sub(r"(?m)^#((?: {2})*(?:- )?[a-z_]+:(?: .*)?)$", r"\1", example_config())
    (tmp_path / "my-agent.md").write_text("Search, then answer.")
    (tmp_path / "my-prompts").mkdir()
    (tmp_path / "guidelines.md").write_text("Be kind.")
    config = load_config(write(tmp_path, full))
    assert set(config.models) == {"local", "hosted"}
    kinds = {name: agent.kind for name, agent in config.agents.items()}
    assert kinds == {
        **{name: name for name in OFFLINE},
        "live": "react",
        "crew": "team",
        "harness": "acp",
        "remote": "http",
        "mine": "python",
    }
    assert set(config.users) == {*load_config_defaults().users, "simulator"}
    assert set(config.worlds) == {"closed", "parallel", "web", "archive"}
    assert set(config.judges) == {*load_config_defaults().judges, "strict", "board"}
    assert [d.key for d in config.review.dimensions["facts"]] == ["laws", "answer"]
    assert config.review.coordinators == ("Cleo",)
    assert config.qc.models == ("hosted",)
    assert [q.kind for q in config.play.form] == ["scale", "scale", "choice", "text"]
    assert config.play.model_copy(update={"form": ()}) == load_config_defaults().play
    changed = {"version", "dimensions", "coordinators"}
    plain = config.review.model_dump(exclude=changed)
    assert plain == load_config_defaults().review.model_dump(exclude=changed)


def test_players_of_every_section_are_checked_with_their_lines(tmp_path: Path) -> None:
    text = """\
models:
  m: {base_url: "http://localhost:1/v1", model: x, price: {prompt: 1, completion: -2}}
users:
  sim: {kind: simulator, model: gone}
worlds:
  net: {kind: web, engine: altavista}
judges:
  strict: {kind: model, model: m, prompts: {judge_everything: x.md}}
"""
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, text))
    told = str(caught.value)
    assert "cuecard.yaml:2: models.m.price.completion" in told
    assert "cuecard.yaml:6: worlds.net.engine" in told
    assert "judge_everything" in told
    with pytest.raises(
        ConfigError, match=r"cuecard.yaml:4: users.sim.model: there is no model gone"
    ):
        load_config(
            write(
                tmp_path,
                text.replace("-2", "2")
                .replace("altavista", "brave")
                .replace(", prompts: {judge_everything: x.md}", ""),
            )
        )


def test_a_folder_of_prompts_and_a_players_own(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "react.en.md").write_text("From the folder.")
    (tmp_path / "own.md").write_text("My own.")
    config = load_config(write(tmp_path, "prompts: ours\n"))
    assert find_prompt("react", "en", config, {}).text == "From the folder."
    assert find_prompt("react", "zh", config, {}) == load_prompt("react", "zh")
    assert find_prompt("react", "en", config, {"react": str(tmp_path / "own.md")}).text == "My own."
    (tmp_path / "ours" / "react.en.md").write_text("Changed.")
    assert find_prompt("react", "en", config, {}).text == "Changed."
    # A player's own folder has a file for each language; where one is missing, it is as without.
    agent = "agents:\n  mine: {kind: react, model: m, prompts: {react: own}}\nmodels: {m: {base_url: 'http://x/v1', model: m}}\n"
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "react.zh.md").write_text("自己的。")
    mine = load_config(write(tmp_path, f"prompts: ours\n{agent}")).agents["mine"]
    assert find_prompt("react", "zh", config, mine.prompts).text == "自己的。"
    assert find_prompt("react", "en", config, mine.prompts).text == "Changed."


def test_a_protocol_of_review_and_probes_is_read_and_checked(tmp_path: Path) -> None:
    text = """\
review:
  version: 2
  lease_hours: 24
  dimensions:
    facts:
      - {key: laws, label: Laws}
      - {key: laws, label: Laws again}
qc:
  models: [local, huge, local]
  examiner: huge
  judge: strict
  world: moon
"""
    found = [(place, line) for place, line, _ in problems(tmp_path, GOOD + text)]
    first = GOOD.count("\n")
    assert found == [
        ("review.dimensions.facts[1].key", first + 7),
        ("qc.models[1]", first + 9),
        ("qc.models[2]", first + 9),
        ("qc.examiner", first + 10),
        ("qc.judge", first + 11),
        ("qc.world", first + 12),
    ]
    mended = text.replace("laws, label: Laws again", "sums, label: Sums")
    mended = mended.replace("[local, huge, local]", "[local]").replace("huge", "local")
    config = load_config(
        write(tmp_path, GOOD + mended.replace("strict", "lexical").replace("moon", ""))
    )
    assert (config.review.version, config.review.lease_hours) == ("2", 24)
    assert [d.key for d in config.review.dimensions["facts"]] == ["laws", "sums"]
    wrong = "    songs: [{key: a, label: A}]\n    facts: []\n    table: [{key: A b, label: A}]\n"
    found = problems(tmp_path, GOOD + "review:\n  dimensions:\n" + wrong)
    assert {place for place, _, _ in found} == {
        "review.dimensions.songs",
        "review.dimensions.facts",
        "review.dimensions.table[0].key",
    }
    assert "'graph'" in found[0][2]
