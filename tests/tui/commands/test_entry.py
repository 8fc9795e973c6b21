"""What holds for every verb: help, usage, errors, languages, pipes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len

from cuecard import __version__
from cuecard.tui.commands.main import VERBS, Verbs, every_verb


def test_version_and_language(program):
    assert program("--version").out == f"cuecard {__version__}\n"
    chinese = program("runs", CUECARD_LANG="zh")
    assert chinese.code == 1
    assert chinese.err.count("\n") == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_verb_has_help(cuecard, language, monkeypatch):
    monkeypatch.setenv("CUECARD_LANG", language)
    listed = cuecard("--help")
    assert listed.code == 0
    for verb in (verb.name for verb in VERBS if " " not in verb.name):
        assert re.search(rf"^  {verb} +\S", listed.out, re.MULTILINE), verb
        shown = cuecard(verb, "--help")
        assert (shown.code, shown.err) == (0, "")
        assert f"cuecard {verb} " in shown.out
        assert "Traceback" not in shown.out


def test_help_says_what_one_types(cuecard):
    """Names as `RUN`, `[RUN]` and `RUN...`, nothing of Python's types."""
    for verb in every_verb():
        told = cuecard(*verb.split(), "--help").out
        usage = told.partition("\n\n")[0].partition("[OPTIONS]")[2].split()
        for word in usage:
            assert re.fullmatch(r"(\[[A-Z|]+\]|[A-Z]+)(\.\.\.)?", word), f"{verb}: {word}"
        assert not re.search(r"<\w*(str|int|float|path|list|range)\b", told), verb


def test_help_and_wrong_usage_are_told_in_chinese_in_lines_that_fit(cuecard, monkeypatch):
    monkeypatch.setenv("CUECARD_LANG", "zh")
    monkeypatch.setenv("COLUMNS", "80")
    for words in (("--help",), ("labels", "--help"), ("rescore", "--help")):
        shown = cuecard(*words).out
        assert max(cell_len(line) for line in shown.splitlines()) <= 80
        assert not re.search(
            "Usage|Options|Commands|Show this|required|default| \\.\\.\\.$", shown, re.M
        )
    for words, told in (
        (("rnu",), "没有命令 rnu。你是想用 'run' 吗？"),
        (("tasks",), "没有命令 tasks。你是想用 'board' 吗？"),
        (("run", "--agnt", "x"), "没有选项 --agnt（可用的有：--agent）"),
        (("run", "espresso", "--samples", "0"), "'--samples' 的值不可用：至少为 1"),
        (("run", "espresso", "--samples", "x"), "'--samples' 的值不可用：需要一个数"),
        (("compare",), "缺少参数“运行”。"),
        (("run", "--user"), "选项 --user 需要一个值。"),
    ):
        done = cuecard(*words)
        assert (done.code, f"错误：{told}\n" in done.err) == (2, True), done.err


def test_what_somebody_means_is_told(cuecard):
    assert cuecard("init").code == 0
    for words, told in (
        (("list",), "No such command 'list'. Did you mean 'board'?"),
        (("qc", "esprsso"), "There is no such task: esprsso (near it: espresso)"),
        (("run", "esprsso"), "There is no such task: esprsso (near it: espresso)"),
        (("qc", "ghost"), "There is no such task: ghost (`cuecard board` lists those there are.)"),
        (("score", "four"), "Invalid value for 'RUN': a number is needed"),
        (("labels", "status", "--set", "9"), "(`cuecard sample` draws one.)"),
    ):
        done = cuecard(*words)
        assert done.code
        assert told in done.err


def test_wrong_usage(cuecard):
    for words in (
        ("brew",),
        ("score",),
        ("score", "four"),
        ("check",),
        ("export",),
        ("export", "espresso", "--family", "graph", "-o", "x"),
        ("export", "-o", "x", "--format", "latex"),
        ("import", "--format", "latex", "x"),
        ("run", "--samples", "0"),
        ("run", "--resume", "1", "espresso"),
        ("run", "--resume", "1", "--seed", "0"),
        ("judge",),
        ("judge", "--tasks", "x"),
        ("judge", "--tasks", "x", "--run", "1"),
        ("agree",),
        ("agree", "x.csv", "--run", "1"),
        ("--bogus", "runs"),
    ):
        refused = cuecard(*words)
        assert refused.code == 2, words
        assert refused.out == ""
        assert "Usage: cuecard" in refused.err
        assert "Error: " in refused.err
        assert "Traceback" not in refused.err


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("score", "1"),
        ("judge", "--run", "1"),
        ("run",),
        ("export", "-o", "x"),
        ("import", "x"),
        ("agree", "--run", "1"),
    ],
)
def test_no_workspace_is_told_in_one_sentence_with_a_way_out(cuecard, words):
    refused = cuecard(*words)
    assert refused.code == 1
    assert refused.out == ""
    assert refused.err.startswith("cuecard: There is no workspace here: ")
    assert "`cuecard init`" in refused.err
    assert refused.err.count("\n") == 1
    assert not Path("cuecard.db").exists()


def test_options_before_the_verb(program, cuecard, monkeypatch, tmp_path: Path):
    made = program("--db", "w.db", "--as", "Ann", "init", "--no-samples")
    assert made.code == 0
    assert (tmp_path / "w.db").exists()
    assert (tmp_path / "cuecard.yaml").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("CUECARD_DB", "w.db")
    assert cuecard("runs", "--json").data == {"runs": []}
    told = cuecard("runs")
    assert (told.code, told.out) == (0, "")
    assert "`cuecard run`" in told.err


def test_options_before_the_verb_name_the_person(cuecard):
    cuecard("--db", "w.db", "--as", "Ann", "init")
    cuecard("--db", "w.db", "--as", "Bea", "run", "facts-night-train")
    found = cuecard("--db", "w.db", "runs", "--json").data["runs"]
    assert [(run["id"], run["created_by"], run["state"]) for run in found] == [(1, "Bea", "done")]


def test_init_leaves_what_is_there(cuecard):
    Path("cuecard.yaml").write_text("models: {}\n", encoding="utf-8")
    assert cuecard("init").code == 0
    again = cuecard("init")
    assert again.code == 0
    assert "left alone" in again.out
    assert Path("cuecard.yaml").read_text(encoding="utf-8") == "models: {}\n"


def test_a_configuration_that_cannot_be_written_is_no_traceback(cuecard):
    Path("file").write_text("", encoding="utf-8")
    refused = cuecard("--config", "file/cuecard.yaml", "init", "--no-samples")
    assert refused.code == 1
    assert "file/cuecard.yaml" in refused.err


@pytest.mark.parametrize(
    ("words", "unbuffered"), [(("check", "--json", "."), ""), (("doctor", "--offline"), "1")]
)
def test_a_broken_pipe_is_quiet(tmp_path: Path, environment, words, unbuffered: str):
    with subprocess.Popen(
        [sys.executable, "-m", "cuecard", *words],
        cwd=tmp_path,
        env={**environment, "PYTHONUNBUFFERED": unbuffered},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        assert started.stdout
        assert started.stderr
        started.stdout.close()
        said = started.stderr.read()
        assert (started.wait(60), said) == (0, b"")


def test_a_terminal_without_unicode_gets_codes(program, task_file):
    task_file("渡轮", "轮渡多少钱？")
    listed = program("check", "渡轮.yaml", "nowhere-渡", PYTHONIOENCODING="ascii:strict")
    assert listed.code == 1
    assert "\\u6e21" in listed.out
    assert "Traceback" not in listed.err


def test_a_defect_keeps_its_traceback():
    app = typer.Typer(cls=Verbs, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None: ...

    @app.command("break")
    def break_() -> None:
        raise ZeroDivisionError("a defect")

    with pytest.raises(ZeroDivisionError, match="a defect"):
        app(["break"])


@pytest.mark.parametrize(
    ("begin", "unwanted"),
    [
        (
            "from cuecard.tui.commands.main import build; build()",
            ("pydantic", "sqlmodel", "aiohttp", "yaml", "rich"),
        ),
        (
            "import cuecard.tui.launch, cuecard.tui.screens.home",
            ("pydantic", "sqlmodel", "aiohttp", "yaml"),
        ),
        (
            "import cuecard.store.workspace",
            ("alembic", "psycopg", "sqlalchemy.dialects.postgresql"),
        ),
    ],
    ids=["verbs", "app", "workspace"],
)
def test_what_comes_first_loads_nothing_heavy(environment, begin: str, unwanted: tuple[str, ...]):
    """`cuecard --db x` opens the app: what verbs need, or the workspace, must not delay its first frame, nor PostgreSQL Home."""
    code = f"import sys; {begin}; print([m for m in {unwanted} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_what_first_visits_need_is_loaded_while_nobody_types(environment, tmp_path: Path):
    """The program ends as soon as it is, and garbage is collected again; else its time runs out."""
    code = """
import asyncio, gc, sys
gc.disable()  # as `launch` has it
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.services import Services
async def main():
    app = CuecardApp(Services(f"sqlite:///{sys.argv[1]}"), "Ana", Preferences())
    async with app.run_test():
        wanted = [f"cuecard.tui.screens.{m}" for m in ("tasks", "settings", "trial.screen")]
        while not (gc.isenabled() and sys.modules.keys() >= {*wanted}):
            await asyncio.sleep(0.1)
asyncio.run(main())
"""
    subprocess.run(
        [sys.executable, "-c", code, tmp_path / "w.db"],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip


def test_a_verb_loads_no_other(environment, tmp_path: Path):
    """Lists and completions need none of their modules, a call one."""
    code = (
        "import sys; from cuecard.__main__ import main; from cuecard.tui.commands.main import VERBS; code = main();"
        "modules = {verb.module for verb in VERBS};"
        "print(*sorted(m for m in modules if m and f'cuecard.tui.commands.{m}' in sys.modules), file=sys.stderr)"
    )

    def loaded(*words: str, **more: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path, env={**environment, **more}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout, done.stderr.splitlines()[-1]

    assert loaded("--help")[1] == ""
    assert loaded("check", "--help")[1] == "quality"
    assert loaded("review", "take", "--help")[1] == "review"


def test_a_short_verb_does_not_look_for_garbage(environment, tmp_path: Path):
    code = (
        "import gc, sys; from cuecard.__main__ import main; "
        "sys.argv = ['cuecard', 'init', '--no-samples']; main(); "
        "print(gc.get_freeze_count() > 100_000, gc.get_stats()[2]['collections'])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert told.stdout.splitlines()[-1] == "True 0"


def test_a_shell_completes_verbs_and_options(program):
    def offered(words: str) -> list[str]:
        asked = {"_CUECARD_COMPLETE": "complete_bash", "COMP_WORDS": words}
        return program(**asked, COMP_CWORD=str(words.count(" "))).out.split()

    assert offered("cuecard ru") == ["run", "runs"]
    assert offered("cuecard review t") == ["take"]
    assert offered("cuecard datasheet --o") == ["--output"]
