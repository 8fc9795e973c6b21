"""Parts that we wrote ourselves, each beside the library that would replace it, where that is installed for development.

    python bench/parts.py

The figures of docs/libraries.md, "Parts of our own". The grid has a bench of its own, bench/grid.py.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from typing import Any

import yaml
from rich.cells import cell_len

warnings.simplefilter("ignore")


def timed(work: Callable[[], object], rounds: int = 1) -> str:
    started = time.perf_counter()
    for _ in range(rounds):
        work()
    return f"{(time.perf_counter() - started) / rounds * 1000:,.1f} ms"


def told(work: Callable[[], object]) -> str:
    try:
        return str(work())
    except Exception as error:  # noqa: BLE001 - whatever a library makes of it is the figure
        return f"{type(error).__name__}: {error}"[:110]


def loaded(module: str) -> str:
    """Milliseconds to import a module in a new process, beyond an empty one, the best of three."""

    def best(code: str) -> float:
        times: list[float] = []
        for _ in range(3):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - started)
        return min(times)

    return f"import {(best(f'import {module}') - best('pass')) * 1000:,.0f} ms"


def size(package: str) -> str:
    paths = [path.locate() for path in files(package) or ()]
    return f"{sum(Path(p).stat().st_size for p in paths if Path(p).is_file()) / 1e6:,.0f} MB"


def agreement() -> None:
    import krippendorff
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import fleiss_kappa

    print("agreement: krippendorff, all alike:", told(lambda: krippendorff.alpha([[1, 1], [1, 1]])))
    print("  scikit-learn, all alike:", told(lambda: cohen_kappa_score([1, 1], [1, 1])))
    print("  statsmodels, 3 and 2 raters:", told(lambda: fleiss_kappa([[3, 0], [1, 1], [0, 2]])))
    for package, module in (("scikit-learn", "sklearn.metrics"), ("scipy", "scipy.stats")):
        print(" ", package, loaded(module), size(package))
    print("  ours", loaded("cuecard.annotate.agreement.coefficients"))


def quantiles() -> None:
    from scipy.stats import t

    from cuecard.annotate.agreement.linearisation import t_quantile

    apart = [abs(t_quantile(0.975, n) - float(t.ppf(0.975, n))) for n in range(2, 200)]
    print(f"quantiles of t: ours and scipy's differ by at most {max(apart):.1e}")


def merging() -> None:
    from cuecard.annotate.authoring.merge import Merging
    from cuecard.core.tasks.yaml_io import dump_data, read_data

    file = next(Path("sample_tasks").glob("facts-*.yaml"))
    base = read_data(file.read_text(), "", {})
    mine, theirs = copy.deepcopy(base), copy.deepcopy(base)
    mine["gold"]["facts"].append(mine["gold"]["facts"].pop(0))
    theirs["gold"]["facts"][0]["attribute"] += " Indeed."
    found = Merging(base, mine, theirs).merge()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (("mine", mine), ("base", base), ("theirs", theirs)):
            Path(folder, name).write_text(dump_data(data, "facts"))
        command = ["git", "merge-file", "-p", "mine", "base", "theirs"]
        git = subprocess.run(command, check=False, cwd=folder, capture_output=True).returncode
    print(
        f"merge: one moves a fact, another edits it; ours: {len(found.conflicts)} conflicts,",
        end=" ",
    )
    print(f"git merge-file: {git};", timed(lambda: Merging(base, mine, theirs).merge(), 20))


def reading() -> None:
    from cuecard.core.tasks.yaml_io import read_data

    text = max((p.read_text() for p in Path("sample_tasks").glob("*.yaml")), key=len)
    print("YAML:", timed(lambda: read_data(text, "", {}), 5), "with places;", end=" ")
    print("yaml.CSafeLoader", timed(lambda: yaml.load(text, yaml.CSafeLoader), 5), end="; ")
    print("safe_load of `no, 012, 1871-01-01`:", yaml.safe_load("[no, 012, 1871-01-01]"))
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 18)
    )
    print(
        "  17 doublings: safe_load has",
        len(json.dumps(yaml.safe_load(bomb))),
        "characters; ours:",
        end=" ",
    )
    print(told(lambda: read_data(bomb, "", {}))[:60] or "refused")


def broken_json() -> None:
    from json_repair import repair_json

    from cuecard.core.validation import repair

    for text in ('{"a": "x" "y" ' * 1_000, "{a: b c d " * 500, "{a: b c d " * 1_000):
        alone = timed(lambda: told(lambda: repair_json(text, skip_json_loads=True)))  # noqa: B023
        print("broken JSON:", len(text), "characters: json-repair", alone, end="; ")
        print("bounded", timed(lambda: repair(text)))  # noqa: B023


def wrapping() -> None:
    from rich.console import Console
    from rich.text import Text

    from cuecard.tui.present.entries import wrap

    chinese = "灯塔建于一八七一年，至今仍在使用。" * 5
    wide = max(cell_len(line) for line in textwrap.wrap(chinese, 40))
    console, long = Console(), "word and another " * 4_000
    folded = [line.plain for line in Text(chinese).wrap(console, 40)]
    print(
        f"wrapping to 40 cells: textwrap makes lines of {wide}; rich begins with a full stop",
        end=" ",
    )
    print(sum(line[0] in "，。" for line in folded if line), "lines, ours", end=" ")
    print(sum(line[0] in "，。" for line in wrap(chinese, 40)), end="; 68,000 characters: rich ")
    print(timed(lambda: Text(long).wrap(console, 80)), "ours", timed(lambda: wrap(long, 80)))


def renderers() -> None:
    import pandas

    frame: Any = pandas.DataFrame({"a_b": ["50 %", "=1+1"]})
    print("tables: pandas", loaded("pandas"), size("pandas"), "ours", end=" ")
    print(loaded("cuecard.core.tables.latex"), "; CSV of `=1+1`:", repr(frame.to_csv()), end="; ")
    print("LaTeX:", repr(frame.style.to_latex()))


def answers() -> None:
    from pydantic import BaseModel

    from cuecard.core.llm.structured import read_shape

    class Found(BaseModel):
        name: str
        year: int | None = None

    replies = (
        '{"name": "Ada"}', '```json\n{"name": "Ada"}\n```', 'Here it is: {"name": "Ada",}',
        '<think>{}</think>{"name": "Ada"}', '{"name": "Ada", "year": "1871"', '{"name": "Ada", "year": "n/a"}',
    )  # fmt: skip

    def read(work: Callable[[], object]) -> bool:
        try:
            return work() == Found(name="Ada") or getattr(work(), "year", 0) == 1871
        except ValueError:
            return False

    strict = sum(read(lambda: Found.model_validate_json(r)) for r in replies)  # noqa: B023
    mended = sum(read(lambda: read_shape(r, Found)[0]) for r in replies)  # noqa: B023
    print(f"answers of {len(replies)}: pydantic (as openai's parse) reads {strict}, ours {mended}")


def writing() -> None:
    import os

    import psutil

    from cuecard.core.system import replace_file
    from cuecard.store import leases

    def plain(path: Path, text: str) -> None:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as draft:
            draft.write(text)
        os.replace(draft.name, path)

    for name, write in (("tempfile and os.replace", plain), ("ours", replace_file)):
        with tempfile.TemporaryDirectory() as folder:
            file, link = Path(folder, "file"), Path(folder, "link")
            file.write_text("old")
            file.chmod(0o640)
            link.symlink_to(file)
            write(link, "new")
            mode = oct(link.stat().st_mode & 0o777)
            print(f"writing: {name}: a link stays: {link.is_symlink()}, mode {mode}", end="; ")
            print(timed(lambda: write(file, "x" * 1_000), 200))  # noqa: B023
    me = os.getpid()
    print(
        "when a process began: psutil",
        timed(lambda: psutil.Process(me).create_time(), 200),
        end=" ",
    )
    print("ours", timed(lambda: leases.started(me), 200))


def the_rest() -> None:
    import ipaddress
    from xml.etree import ElementTree

    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    from cuecard.core.worlds.fetching import is_public
    from cuecard.core.worlds.page_text import Format, read_page

    print(
        "ages and dates: babel.dates",
        loaded("babel.dates"),
        size("babel"),
        "ours",
        loaded("cuecard.core.i18n"),
    )
    closed = ("168.63.129.16", "2002:7f00:1::", "::127.0.0.1", "64:ff9b::7f00:1", "192.88.99.1")
    print(
        "public addresses: ipaddress says yes to",
        [a for a in closed if ipaddress.ip_address(a).is_global],
        end=" ",
    )
    print("ours to", [a for a in closed if is_public(a)])
    feed = "<d><t>A&nbsp;B & C</t><t>x</d>"
    recovered: Any = etree.fromstring(feed, etree.XMLParser(recover=True))
    print(
        "feeds:", repr(feed), "expat:", told(lambda: ElementTree.fromstring(feed)), end="; lxml: "
    )
    print(repr("|".join(recovered.itertext())), "ours:", repr(read_page(feed, Format.XML, "").text))


if __name__ == "__main__":
    for part in (
        agreement,
        quantiles,
        merging,
        reading,
        broken_json,
        wrapping,
        renderers,
        answers,
        writing,
        the_rest,
    ):
        part()
