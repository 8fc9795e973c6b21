"""What the pages for readers name is there: links, files, commands; and pages that a program writes are as it writes them."""

from __future__ import annotations

import importlib
import re
import runpy
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cuecard.tui.commands.main import build

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = (ROOT, ROOT / "src" / "cuecard", ROOT / "docs", ROOT / "tests", ROOT / "sample_tasks")
"""Where a name in a page may begin."""
PACKAGES = ("core", "store", "annotate", "tui")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def blocks(page: Path) -> Iterator[str]:
    return (
        found[1]
        for found in re.finditer(r"^```\w*\n(.*?)^```", page.read_text("utf-8"), re.S | re.M)
    )


def anchors(page: Path) -> set[str]:
    """The places of a page that a link may lead to, as GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def links(page: Path) -> list[tuple[str, str]]:
    """Files and places that a page links to, without the web."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [
        (file, place)
        for file, _sign, place in (link.partition("#") for link in found)
        if "://" not in file
    ]


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for file, place in links(page):
        target = page.parent / file if file else page
        assert target.exists(), f"{page.name} links to {file}"
        assert not place or place in anchors(target), f"{page.name} links to {file}#{place}"


def test_every_page_is_found_from_the_readme() -> None:
    seen, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        seen.add(page)
        targets = {(page.parent / file).resolve() for file, _place in links(page) if file}
        todo += [target for target in targets - seen if target.suffix == ".md"]
    assert [page.name for page in PAGES if page not in seen] == []


@each_page
def test_files_that_are_named_are_there(page: Path) -> None:
    """`NAME` and `CODE` stand for what the reader chooses."""
    names = set(re.findall(r"`([\w.*-]*(?:/[\w.*-]+)+/?|[\w-]+\.(?:py|sh|tcss))`", prose(page)))
    paths = {
        name
        for name in names
        if re.search(r"\.(py|md|yaml|sh|tcss|po|csv|json)$|^(" + "|".join(PACKAGES) + ")/", name)
    }
    wrong = [
        name
        for name in sorted(paths)
        if not re.search("NAME|CODE", name)
        and not any(list(folder.glob(name)) for folder in FOLDERS)
        and not ("/" not in name and list((ROOT / "src").rglob(name)))
    ]
    assert not wrong, f"{page.name} names {wrong}"


@each_page
def test_modules_that_are_named_are_there(page: Path) -> None:
    """`core.text.for_display` is a module and what it holds."""
    for name in re.findall(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+)+)", prose(page)):
        assert holds(f"cuecard.{name}"), f"{page.name} names {name}"


def test_modules_that_docstrings_name_are_there() -> None:
    named = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+)+)`")
    sources = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "src").rglob("*.py"))
    }
    wrong = {
        f"{path}: {name}"
        for path, source in sources.items()
        for name in named.findall(source)
        if not holds(f"cuecard.{name}")
    }
    assert not wrong


def holds(dotted: str) -> bool:
    parts = dotted.split(".")
    for count in range(len(parts), 1, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


@cache
def program() -> Any:
    return typer.main.get_command(build())


def commands(page: Path) -> Iterator[list[str]]:
    """The calls of `cuecard` in a page's blocks, as words."""
    for block in blocks(page):
        for line in block.splitlines():
            if line.startswith("cuecard "):
                call = re.split(r" {2,}|\s#|\s\|", line)[0]
                yield shlex.split(call)[1:]


@each_page
def test_commands_exist_with_their_options(page: Path) -> None:
    for words in commands(page):
        command = program()
        context = command.make_context("cuecard", [], resilient_parsing=True)
        known = {
            option
            for parameter in command.params
            for option in parameter.opts + parameter.secondary_opts
        }
        for word in words:
            inner = getattr(command, "get_command", lambda *_: None)(context, word)
            if inner is not None:
                context = inner.make_context(word, [], parent=context, resilient_parsing=True)
                command = context.command
                known |= {"-h", "--help"}
                known |= {
                    option
                    for parameter in command.params
                    for option in parameter.opts + parameter.secondary_opts
                }
            elif word.startswith("-") and len(word) > 1:
                assert word.split("=")[0] in known, f"{page.name}: cuecard {shlex.join(words)}"
        assert command is not program() or not words or words[0].startswith(("-", "[")), (
            f"{page.name}: cuecard {shlex.join(words)}"
        )


def test_the_page_of_the_command_line_is_as_the_program_says() -> None:
    made: str = runpy.run_path(str(ROOT / "scripts" / "cli_page.py"))["cli_page"]()
    kept = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert kept == made, "docs/cli.md: run `make docs`"


def test_the_readme_is_read_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
