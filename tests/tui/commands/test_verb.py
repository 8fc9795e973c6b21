"""How a function becomes a verb: its signature, its result, and what is printed or written of it."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
import typer.main

from apart import fresh
from cuecard.core.i18n import N_, current_language, set_language
from cuecard.core.tables.table import Cell, Statistic, Table, difference
from cuecard.core.tasks.yaml_io import load_task
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.main import Verbs
from cuecard.tui.commands.output import console, note, say
from cuecard.tui.commands.verb import TABLES, Command, Help, Page, Result, verb

ROOT = Path(__file__).parent.parent.parent.parent
TABLE = Table(view="table", title="Sizes", headings=("what", "n"), lines=((Cell("a"), Cell("1")),))
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line of one verb."""

    def called(command: Command, *words: str) -> tuple[int, str, str]:
        app = typer.Typer(rich_markup_mode=None, cls=Verbs, pretty_exceptions_enable=False)

        @app.callback()
        def root(context: typer.Context) -> None:
            context.obj = Context("cuecard.db", "Ada", None)

        app.command("it")(command.for_typer())
        with pytest.raises(SystemExit) as end:
            typer.main.get_command(app)(["it", *words], prog_name="cuecard")
        told = capsys.readouterr()
        return int(str(end.value.code)), told.out, told.err

    return called


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    language = current_language()
    yield tmp_path
    set_language(language)


@verb("")
def every(
    ours: Context,
    n: Annotated[int, Help(N_("How many"), min=1, metavar="N")],
    paths: Annotated[Sequence[Path], N_("Task files or folders")] = (),
    *,
    who: Annotated[Sequence[str], Help(N_("Why"), "--by")] = (),
    size: Annotated[Literal["s", "m"] | None, N_("Why")] = None,
    sizes: Annotated[Sequence[Literal["s", "m"]], N_("Why")] = (),
    family: Annotated[str, Help("", one_of=("any", "cuecard.core.tasks:SHIPPED"))] = "any",
    dry_run: Annotated[bool, N_("Why")] = False,
    samples: Annotated[bool, N_("Add the sample tasks")] = True,
) -> str:
    given = " ".join(sorted(ours.given))
    return f"{n} {paths} {who} {size} {sizes} {family} {dry_run} {samples} | {given}"


def test_a_signature_makes_arguments_and_options(call):
    assert call(every, "1") == (0, "1 () () None () any False True | n\n", "")
    words = ("2", "a", "b", "--by", "x", "--by", "y", "--size", "m", "--sizes", "s")
    _code, out, _err = call(every, *words, "--family", "table", "--dry-run", "--no-samples")
    assert out.startswith(
        "2 (PosixPath('a'), PosixPath('b')) ('x', 'y') m ('s',) table True False |"
    )
    for wrong in ((), ("0",), ("1", "--size", "l"), ("1", "--family", "no"), ("1", "--json")):
        code, out, err = call(every, *wrong)
        assert (code, out) == (2, "")
        assert "Error: " in err


def test_help_is_in_the_language_that_is_set(call):
    assert "Add the sample tasks" in call(every, "--help")[1]
    set_language("zh")
    assert "加入示例任务" in call(every, "--help")[1]


@verb("", *TABLES)
def sizes(ours: Context) -> Result:
    return Result(
        Page([TABLE], "All" if ours.form in ("", "markdown") else "", ("one", "two"), hint="more"),
        lambda: {"form": ours.form},
        code=1,
        remarks=lambda: note("remark"),
    )


def test_a_page_is_printed_in_every_form(call):
    code, out, err = call(sizes)
    assert (code, err) == (1, "more\nremark\n")
    assert out.startswith("All\none\ntwo\n\nSizes\n")
    assert call(sizes, "--markdown")[1].startswith("# All\n\n- one\n- two\n\n## Sizes\n")
    assert json.loads(call(sizes, "--json")[1]) == {"form": "json"}
    assert r"\begin{table" in call(sizes, "--latex")[1]
    assert "Sizes,a,n,1" in call(sizes, "--csv")[1]
    assert call(sizes, "--csv", "--json")[0] == 2


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.json", "{"), ("x.md", "## Sizes"), ("x.tex", r"\begin{table"), ("x.csv", "Sizes")],
)
def test_the_suffix_of_a_file_names_its_form(call, here: Path, name: str, begins: str):
    code, out, err = call(sizes, "-o", name)
    hint = "" if name == "x.json" else "more\n"
    assert (code, out, err) == (1, "", f"Written to {name}.\n{hint}remark\n")
    assert begins in (here / name).read_text(encoding="utf-8")
    assert call(sizes, "-o", f"absent/{name}")[0] == 1
    assert not (here / "absent").exists()


def test_a_file_without_a_form_is_refused(call, here: Path):
    assert call(sizes, "-o", "x.png")[0] == 2
    assert call(sizes, "-o", "x.png", "--json")[0] == 1
    assert json.loads((here / "x.png").read_text(encoding="utf-8")) == {"form": "json"}


def test_a_page_holds_pages_to_read(call):
    @verb("", *TABLES)
    def read(_ours: Context) -> Result:
        turn = Page((), "turn 1", ["Ann: *no*"])
        return Result(Page([TABLE, Page([turn], "Turns")], "All", ["of 1 task"]))

    out = call(read)[1]
    assert out.startswith("All\nof 1 task\n\nSizes\n")
    assert out.endswith("\nTurns\nturn 1\n  Ann: *no*\n\n")
    assert call(read, "--markdown")[1].endswith("\n## Turns\n\n### turn 1\n\n- Ann: \\*no\\*\n")
    assert "Turns" not in call(read, "--csv")[1]


@pytest.mark.parametrize("plain", [False, True])
def test_a_difference_that_is_none_of_chance_has_a_colour(call, monkeypatch, plain: bool):
    def one(value: float, low: float) -> Cell:
        return difference(Statistic(name="f1", value=value, n=8, low=low, high=low + 0.3))

    @verb("", *TABLES)
    def differences(_ours: Context) -> Result:
        cells = (one(0.2, 0.1), one(-0.3, -0.4), one(0.1, -0.1))
        return Result(Page([Table.of("Gain", ("agent", "a", "b", "c"), [("x", *cells)])]))

    monkeypatch.setenv("FORCE_COLOR", "1")
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    console.cache_clear()
    out = call(differences)[1]
    console.cache_clear()
    more, less = "+0.200 [+.100 +.400]*", "-0.300 [-.400 -.100]*"
    assert (f"\x1b[36m{more}" in out, f"\x1b[35m{less}" in out) == (not plain, not plain)
    assert more in out
    assert less in out
    assert "m+0.100 [-.100 +.200]" not in out


def test_where_there_is_no_table_a_text_is_told_and_no_file_written(call, here: Path):
    @verb("", *TABLES)
    def none(_ours: Context) -> Result:
        return Result("nothing changed", list)

    assert call(none, "-o", "x.csv") == (0, "nothing changed\n", "")
    assert not (here / "x.csv").exists()
    assert call(none, "-o", "x.json") == (0, "", "Written to x.json.\n")


def test_documents_texts_and_what_prints_itself(call, here: Path):
    @verb("", "json")
    def document(_ours: Context, *, output: Path = Path("-")) -> Result:
        return Result(document="as it is", output=output, json=lambda: [1])

    assert call(document)[1] == "as it is"
    assert call(document, "--json")[1] == "[\n  1\n]\n"
    assert call(document, "--output", "x.txt")[2] == "Written to x.txt.\n"
    assert (here / "x.txt").read_text(encoding="utf-8") == "as it is"
    call(document, "--output", "x.json")
    assert json.loads((here / "x.json").read_text(encoding="utf-8")) == [1]

    @verb("", "json")
    def itself(ours: Context) -> Result:
        return Result(lambda: say(ours.form or "people"))

    assert (call(itself)[1], call(itself, "--json")[1]) == ("people\n", "json\n")


def test_the_workspace_is_open_as_long_as_the_function_works(call, here: Path):
    kept: list[Any] = []

    @verb("")
    def look(ours: Context) -> Result:
        kept.append(ours.workspace)
        assert ours.workspace is kept[0]
        return Result(lambda: say(str(len(closed))))

    closed: list[bool] = []
    assert call(look)[0] == 1, "there is none"
    with fresh(here / "cuecard.db"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("cuecard.store.workspace.Workspace.close", lambda _self: closed.append(True))
        assert call(look)[:2] == (0, "1\n")


def test_the_example_of_the_page(call, here: Path, task_file):
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", page, re.S | re.M)
    assert code
    module = types.ModuleType("titles")
    exec(compile(code[1], "docs/commands.md", "exec"), module.__dict__)
    with fresh(here / "cuecard.db") as workspace:
        workspace.tasks.save(load_task(task_file("ferry")), author="Ann")
    code, out, _err = call(module.titles, "ferry", "--language", "en", "--json")
    assert (code, json.loads(out)) == (0, {"titles": {"ferry": "A ferry in 2090"}})
    assert "A ferry in 2090" in call(module.titles)[1]
    assert call(module.titles, "--language", "zh")[0] == 1
    assert "Ids of tasks; none means all" in call(module.titles, "--help")[1]
