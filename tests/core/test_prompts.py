from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from cuecard.core.config import Prompt, load_prompt, parse_prompt, read_prompt
from cuecard.core.errors import ConfigError

FILES = sorted(
    file.name
    for file in (resources.files("cuecard") / "prompts").iterdir()
    if file.name.endswith(".md")
)
HEAD = "---\npurpose: Greets.\nversion: 2\nvariables: [name]\n---\n"


def test_every_prompt_is_there_in_both_languages_and_reads() -> None:
    names = {file.rsplit(".", 2)[0] for file in FILES}
    assert {f"{name}.{language}.md" for name in names for language in ("en", "zh")} == set(FILES)
    for name in names:
        english, chinese = load_prompt(name, "en"), load_prompt(name, "zh")
        assert english.variables == chinese.variables
        assert english.version == chinese.version
        assert english.purpose
        assert english.hash != chinese.hash


def test_values_are_data() -> None:
    prompt = parse_prompt(HEAD + "Hello {{ name }}, {{name}}! {x} $name", "greet.md")
    assert (prompt.purpose, prompt.version, prompt.variables) == ("Greets.", "2", ("name",))
    assert prompt.render(name="{{name}} \\1") == "Hello {{name}} \\1, {{name}} \\1! {x} $name"
    for values in ({}, {"name": "a", "more": "b"}):
        with pytest.raises(ValueError, match="name"):
            prompt.render(**values)


def test_the_hash_is_that_of_the_text_alone() -> None:
    assert parse_prompt(HEAD + "Hi {{name}}", "a").hash == Prompt(text="Hi {{name}}").hash


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "Nobody is named.",
        "---\nvariables: [\n---\nText",
        "---\n- a\n---\nText",
        "---\nmood: good\n---\nText",
        HEAD.replace("[name]", "[]") + "Hello {{name}}",
        "---\npurpose: empty\n---\n \n",
        "",
    ],
)
def test_a_prompt_that_cannot_be_used_is_told(text: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.md"):
        parse_prompt(text, "mine.md")


def test_ones_own_prompt_may_leave_variables_out_but_not_invent_any(tmp_path: Path) -> None:
    embedded = parse_prompt(HEAD + "Hello {{name}}", "greet.md")
    path = tmp_path / "mine.md"
    path.write_text("\ufeffHello you", encoding="utf-8")
    assert read_prompt(path, embedded).render(name="Ann") == "Hello you"
    path.write_text("Hello {{nickname}}", encoding="utf-8")
    with pytest.raises(ConfigError, match="nickname"):
        read_prompt(path, embedded)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"mine\.md"):
        read_prompt(path, embedded)
    with pytest.raises(ConfigError, match=r"none\.md"):
        read_prompt(tmp_path / "none.md", embedded)
