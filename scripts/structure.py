"""Prints the figures of the code's structure, and fails where one is over its bound: python scripts/structure.py [--all]

files and lines under src; share of lines that are imports; circles among the imports at the top of modules; packages,
arrows between them and those that point up; places that branch on the family of a task; files that
`cuecard run espresso --agent offline` executes.

A figure that has not reached its goal is held at what it was last: lower its bound with it.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from cuecard.core.tasks import SHIPPED

ROOT = Path(__file__).parent.parent
LAYERS = ("tui", "annotate", "store", "core")
"""The packages from above to below; imports point down."""
FAMILIES = set(SHIPPED)
FAMILY_CLASSES = {
    *(where.partition(":")[2] for where in SHIPPED.values()),
    *("TriplesPrediction", "TablePrediction", "AnswerPrediction"),
}
"""Classes of gold, and of what is handed in."""
AT_HOME = (
    "cuecard.core.families.",
    "cuecard.core.tasks.gold",
    "cuecard.core.exam.",
    "cuecard.annotate.families.",
    "cuecard.tui.shipped_families",
)
"""Where each family stands by itself: what is asked of a family there tells none apart from others."""
NO_FAMILIES = {"cuecard.tui.present.markdown", "cuecard.core.formats.graphml", "cuecard.core.tasks"}
"""A page of text has tables, and GraphML has graphs; neither is a family. `core.tasks` lists the families."""
MEASURED = """
import sys, threading, cuecard
from pathlib import Path
home, seen = str(Path(cuecard.__file__).parent), set()
def note(frame, event, arg):
    if frame.f_code.co_filename.startswith(home):
        seen.add(frame.f_code.co_filename)
threading.setprofile(note)
sys.setprofile(note)
from cuecard.__main__ import main
sys.argv = ["cuecard", "run", "espresso", "--agent", "offline"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.setprofile(None)
print("executed", *sorted(seen), sep="\\n")
"""


@dataclass(frozen=True)
class Module:
    """One file: its dotted name, its syntax tree and the number of its lines."""

    name: str
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        """What of `tui`, `annotate`, `core` and so on it stands in; "" for modules beside these."""
        return self.name.split(".")[1] if self.name.count(".") > 1 else ""


@dataclass(frozen=True)
class Figure:
    """A number, the most that it may be now, and the most that it should be."""

    title: str
    value: float
    bound: float
    goal: float

    def __str__(self) -> str:
        told = f"{'✗' if self.over else ' '} {self.title:<32} {self.value:>9,}   <= {self.bound:,}"
        return told if self.bound <= self.goal else f"{told}, goal {self.goal:,}"

    @property
    def over(self) -> bool:
        return self.value > self.bound


def modules(package: Path) -> dict[str, Module]:
    """The modules below the folder of a package, by dotted name; packages themselves go by their own names."""
    found: dict[str, Module] = {}
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = Module(name, ast.parse(text), text.count("\n"))
    return found


def at_the_top(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports outside of functions and classes, those for the type checker included."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            todo += [*node.body, *node.orelse]


def imported(module: Module, known: dict[str, Module]) -> set[str]:
    """Which of the known modules one imports at its top."""
    found: set[str] = set()
    for node in at_the_top(module.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else str(node.module) for name in inside]
        found.update(name for name in names if name in known)
    return found - {module.name}


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import one another, by Tarjan's algorithm; `arrows` are what each one imports."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(arrows[name]):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * len(arrows)))
    for name in arrows:
        if name not in number:
            visit(name)
    return found


def between_packages(arrows: dict[str, set[str]], known: dict[str, Module]) -> set[tuple[str, str]]:
    """Pairs of packages of which the first imports the second."""
    pairs = {
        (known[name].package, known[other].package)
        for name, others in arrows.items()
        for other in others
    }
    return {(above, below) for above, below in pairs if above and below and above != below}


def points_up(pair: tuple[str, str]) -> bool:
    above, below = pair
    return above in LAYERS and below in LAYERS and LAYERS.index(below) < LAYERS.index(above)


def import_lines(module: Module) -> int:
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def is_family(node: ast.AST) -> bool:
    """Whether an expression is a family's name, or names of families and nothing else."""
    match node:
        case ast.Constant(value=value):
            return value in FAMILIES
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return bool(parts) and all(map(is_family, parts))
        case _:
            return False


def names_family(node: ast.AST) -> bool:
    """Whether an expression or a pattern names a family: `task.family == "table"`, or a class of gold or of what is
    handed in in `isinstance` or `case`.
    """
    for inner in ast.walk(node):
        match inner:
            case ast.Compare(left=left, comparators=others) if "family" in ast.unparse(inner):
                if any(map(is_family, (left, *others))):
                    return True
            case ast.MatchClass(cls=cls) if ast.unparse(cls) in FAMILY_CLASSES:
                return True
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
                names = {name.id for name in ast.walk(classes) if isinstance(name, ast.Name)}
                if names & FAMILY_CLASSES:
                    return True
            case _:
                pass
    return False


def tells_apart(cases: Sequence[ast.match_case]) -> bool:
    """Whether a `match` goes by the family: by classes of gold, or by texts that are all names of families."""
    if any(names_family(case.pattern) for case in cases):
        return True
    values = [
        inner.value
        for case in cases
        for inner in ast.walk(case.pattern)
        if isinstance(inner, ast.MatchValue)
    ]
    return bool(values) and all(map(is_family, values))


def chain_of(node: ast.If) -> list[ast.If]:
    """An `if` and the `elif`s that follow it."""
    match node.orelse:
        case [ast.If() as other]:
            return [node, *chain_of(other)]
        case _:
            return [node]


def decisions(node: ast.AST) -> Sequence[ast.AST]:
    """What a statement or expression goes by when it goes one way or another; for a table, its keys if all are families."""
    match node:
        case ast.If():
            return [link.test for link in chain_of(node)]
        case ast.IfExp(test=test):
            return [test]
        case ast.Dict(keys=keys):
            given = [key for key in keys if key is not None]
            return [node] if len(given) > 1 and all(map(is_family, given)) else []
        case ast.comprehension(ifs=tests):
            return tests
        case ast.Return(value=ast.Compare() | ast.BoolOp() | ast.Call() | ast.UnaryOp() as value):
            return [value]
        case ast.Assign(value=ast.Compare() | ast.BoolOp() | ast.Call() | ast.UnaryOp() as value):
            return [value]
        case ast.Assert(test=test):
            return [test]
        case _:
            return []


def family_branches(tree: ast.Module) -> list[int]:
    """The lines at which code goes one way or another by the family; a chain of `elif` and a table count once."""
    found: set[int] = set()
    chained: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            # A walk meets what is outside before what is inside.
            chained.update(chain_of(node)[1:])
        told = decisions(node)
        if isinstance(node, ast.Match):
            by_family = tells_apart(node.cases)
        elif isinstance(node, ast.Dict):
            by_family = bool(told)
        else:
            by_family = any(map(names_family, told))
        if node not in chained and by_family:
            at = node.iter if isinstance(node, ast.comprehension) else node
            found.add(getattr(at, "lineno", 0))
    return sorted(found)


def executed(source: Path) -> list[str]:
    """Files whose code runs in the way of a task from its YAML to a verdict, the start of the program included.

    `source` is the folder above the package. Raises RuntimeError with what was printed when the run itself fails.
    """
    own = ROOT / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("CUECARD_", "XDG_"))}
        env = {**kept, "HOME": folder, "LANG": "C.UTF-8", "PYTHONPATH": str(source)}

        def run(*arguments: str) -> str:
            done = subprocess.run(
                [python, *arguments], cwd=folder, env=env, check=False, capture_output=True
            )
            if done.returncode:
                raise RuntimeError(done.stderr.decode())
            return done.stdout.decode()

        run("-m", "cuecard", "init")
        printed = run("-c", MEASURED)
    return printed.rsplit("\nexecuted\n", 1)[1].splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints the figures of the code's structure.")
    parser.add_argument("--all", action="store_true", help="also what the figures count")
    given = parser.parse_args()
    source = ROOT / "src"
    known = modules(source / "cuecard")
    arrows = {name: imported(module, known) for name, module in known.items()}
    groups = circles(arrows)
    pairs = between_packages(arrows, known)
    lines = sum(module.lines for module in known.values())
    share = round(100 * sum(map(import_lines, known.values())) / lines, 1)
    branches = {
        name: family_branches(module.tree)
        for name, module in known.items()
        if name not in NO_FAMILIES and not name.startswith(AT_HOME)
    }
    branches = {name: places for name, places in branches.items() if places}
    run = executed(source)
    figures = [
        Figure("packages", len({module.package for module in known.values()} - {""}), 4, 4),
        Figure("arrows between packages", len(pairs), 17, 17),
        Figure("arrows that point up", len([*filter(points_up, pairs)]), 0, 0),
        Figure("files", len(known), 670, 550),
        Figure("lines", lines, 179_811, 120_000),
        Figure("imports, share of lines in %", share, 7.5, 7.5),
        Figure("circles of imports", len(groups), 0, 0),
        Figure("branches on the family", len([*chain(*branches.values())]), 13, 13),
        Figure("files with such branches", len(branches), 8, 8),
        Figure("files that a run executes", len(run), 120, 120),
    ]
    print(*figures, sep="\n")
    if given.all:
        print(*(f"{above} -> {below}" for above, below in sorted(pairs)), sep="\n")
        for group in groups:
            print("circle:", *group)
        for name, places in branches.items():
            print(f"{name}: {', '.join(map(str, places))}")
        print(*run, sep="\n")
    return any(figure.over for figure in figures)


if __name__ == "__main__":
    sys.exit(main())
