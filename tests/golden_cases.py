"""The command lines of tests/tui/commands/test_goldens.py: every verb in all its forms over the seeded workspace.

Its runs: 1 to 4 people's sessions with simulators listening, 5 `source` by the embedded players, 6 `main` (three agents, two
samples), 7 `guided` (two agents). Its label set: 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from cuecard.annotate.samples import load_sample
from cuecard.core.families.graph.gold import Graph
from cuecard.core.formats.base import FORMATS
from cuecard.core.tasks.yaml_io import dump_task
from cuecard.tui.commands.main import every_verb
from golden_text import Case

TABLES = (
    "main",
    "leaderboard",
    "repeats",
    "interaction",
    "errors",
    "compactions",
    "settings",
    "profiles",
    "tiers",
    "curves",
    "tools",
    "causes",
    "differences",
    "trials",
    "plots",
)
WRITTEN = ("main", "errors", "tools")
"""Tables in every form: one whose columns are figures with intervals, one with causes in words, one of counts. The others go
through the same renderers and are printed for people and as JSON.
"""
FORMS = ("", "--json", "--markdown")
PLAIN = FORMS[:1]
"""For what only chooses other trials, or other figures, of a table that stands in all forms beside it."""
TASK_FORMATS = tuple(name for name in FORMATS if name not in ("turtle", "jsonld"))
"""Formats of tasks in which a whole workspace is written and read again; RDF is, of one task."""

FERRY = """\
id: ferry
title: A ferry in 2090
family: facts
language: en
query: What does the ferry cost?
sources: [{url: "https://example.org/ferry"}]
gold:
  facts:
    - {key: ferry ticket, value: "10", unit: euros}
    - {key: ferry surcharge, value: "2", unit: euros}
  answer: 12 euros
"""
WARNED = """\
id: toy
title: Toy
family: facts
language: en
query: How many?
gold: {facts: [{key: a, value: "7"}], answer: "8"}
"""
BROKEN = "id: bad\nfamily: facts\n"
TASKS = {"tasks/ferry.yaml": FERRY, "tasks/toy.yaml": WARNED}
COORDINATED = {"cuecard.yaml": "review:\n  coordinators: [Cleo]\n"}
RESPONSES = "".join(
    json.dumps({"task_id": "ferry", "sample": sample, "response": text}) + "\n"
    for sample, text in enumerate(("It is 12 euros.", "It is 11 euros.", ""))
)
RATINGS = "item,task,rater,label\n" + "".join(
    f"{n},t{n // 4},{rater},{'yes' if (n * 7 + at * (n % 5)) % 3 else 'no'}\n"
    for n in range(40)
    for at, rater in enumerate(("Ana", "Ben", "Cho"))
)
SCALE = "id;ana;ben;comment\n" + "".join(
    f"{n};{1 + n % 5};{1 + (n + n % 3) % 5};odd\n" for n in range(20)
)
ESPRESSO = load_sample("espresso.yaml")
assert isinstance(ESPRESSO.gold, Graph)
GOLD = ESPRESSO.gold.triples
RECALL = (
    "\ufeffgt_index,head,relation,tail,model_covered,supporting_pred_triples,human_label\r\n"
    + "".join(
        f'{n},"{t.head}",{t.relation},"{t.tail}",{"是" if n % 3 else "否"},,{"是" if n % 4 else "否"}\r\n'
        for n, t in enumerate(GOLD[:8])
    )
)
CORRECTED = {
    "espresso.yaml": dump_task(
        ESPRESSO.model_copy(update={"gold": ESPRESSO.gold.model_copy(update={"triples": GOLD[1:]})})
    )
}


def cases() -> Iterator[Case]:
    """All of them."""
    yield Case("root/help", ("--help",), empty=True)
    yield Case("root/help-zh", ("--help",), language="zh", empty=True)
    yield Case("root/version", ("--version",), empty=True)
    yield Case("root/wrong", ("nosuch", "score", "score x", "--nosuch runs"), empty=True)
    yield Case("root/nowhere", ("runs", "score 1", "board", "--db no.db runs"), empty=True)
    for verb in every_verb():
        yield Case(f"{verb.replace(' ', '-')}/help", (f"{verb} --help",), empty=True)
    for verb in ("run", "score", "agree", "sample"):
        yield Case(f"{verb}/help-zh", (f"{verb} --help",), language="zh", empty=True)
    yield Case("labels/help", ("labels --help", "labels"), empty=True)
    yield from _files()
    yield from _runs()
    yield from _scores()
    yield from _tables()
    yield from _people()
    yield from _labels()
    yield from _agreement()
    yield from _rest()


def _forms(
    name: str, words: str, forms: tuple[str, ...] = FORMS, *, zh: bool = False
) -> Iterator[Case]:
    """For people, as JSON and as Markdown, or in those `forms` alone; `zh`: the first in Chinese, too."""
    for option in forms:
        form = option.lstrip("-") or "plain"
        yield Case(f"{name}{form}", (f"{words} {option}".rstrip(),))
    if zh:
        yield Case(f"{name}plain-zh", (words,), language="zh")


def _files() -> Iterator[Case]:
    yield Case("init/new", ("init", "init", "runs"), empty=True)
    yield Case("init/bare", ("--db work.db init --no-samples", "--db work.db board"), empty=True)
    yield Case("init/zh", ("init",), language="zh", empty=True)
    yield Case(
        "import/files",
        (
            "import tasks --dry-run",
            "import tasks",
            "import tasks",
            "import tasks/ferry.yaml --json",
        ),
        TASKS,
    )
    yield Case(
        "import/bad",
        ("import tasks bad.yaml nowhere", "import bad.yaml --json", "import"),
        {**TASKS, "bad.yaml": BROKEN},
    )
    yield Case("import/zh", ("import tasks bad.yaml",), {**TASKS, "bad.yaml": BROKEN}, "zh")
    for name in TASK_FORMATS:
        again = ("--db other.db init --no-samples", "--db other.db import out --json")
        yield Case(f"export/tasks-{name}", (f"export --format {name} -o out", *again))
    yield Case("export/turtle", ("export espresso --format turtle -o out",))
    yield Case("export/jsonld", ("export espresso --format jsonld -o out",))
    yield Case(
        "export/some",
        ("export espresso ghost -o out", "export --family facts -o out --json", "export"),
    )
    yield Case("export/zh", ("export --family table -o out",), language="zh")
    for name in ("jsonl", "inspect", "otel", "widesearch", "vibesearch"):
        yield Case(f"export/run-{name}", (f"export --run 5 --format {name} -o out",))
    yield Case("export/run-planted", ("export --run 7 -o out",))
    yield Case("export/run-otel-content", ("export --run 3 --format otel --content -o out --json",))
    yield Case(
        "export/run-held-back",
        (
            "--as Ben export --run 6 -o out",
            "export --run 99 -o x",
            "export --run 5 --judge no -o logs",
        ),
    )
    yield Case(
        "pack/mine",
        ("--as Ben pack -o ben.cuepack", "--as Ben pack --since 2026-11-05 -o new.cuepack --json"),
    )
    yield Case("pack/draft", ("--as Ann pack", "--as Nobody pack -o x.cuepack", "pack --run 99"))
    yield Case("pack/run", ("pack --run 3 -o run.cuepack", "pack --run 3 --since 2026-11-05"))
    yield Case("backup/plain", ("backup out.db", "backup out.db", "--db out.db runs"))
    yield Case("backup/json", ("backup out.db --json",))
    yield Case("backup/wrong", ("backup", "backup nowhere/out.db", "backup cuecard.db --force"))
    yield Case("backup/zh", ("backup out.db",), language="zh")
    yield Case("move/plain", ("move --to new.db", "move --to new.db", "--db new.db runs"))
    yield Case("move/json", ("move --to new.db --json",))
    yield Case("move/wrong", ("move", "move --to nowhere/new.db", "move --to mysql://x/y"))
    yield Case("move/zh", ("move --to new.db",), language="zh")
    yield Case("pack/zh", ("--as Ben pack -o ben.cuepack",), language="zh")
    other = ("--db other.db init --no-samples",)
    yield Case(
        "merge/people",
        (
            "--as Ann pack -o ann.cuepack",
            "--as Ben pack -o ben.cuepack",
            *other,
            "--db other.db merge ann.cuepack ben.cuepack --dry-run",
            "--db other.db merge ann.cuepack --json",
            "--db other.db merge ben.cuepack",
            "--db other.db merge . --json",
            "--db other.db board",
        ),
    )
    yield Case(
        "merge/run",
        (
            "pack --run 4 -o run.cuepack",
            *other,
            "--db other.db merge run.cuepack",
            "--db other.db runs",
            "merge run.cuepack --json",
        ),
    )
    yield Case(
        "merge/bad", ("merge bad.cuepack absent", "merge bad.cuepack --json"), {"bad.cuepack": "no"}
    )
    yield Case(
        "merge/zh",
        ("--as Ann pack -o ann.cuepack", *other, "--db other.db merge ann.cuepack"),
        language="zh",
    )
    yield Case(
        "check/plain",
        ("check tasks", "check tasks --strict", "check tasks --all"),
        TASKS,
        empty=True,
    )
    yield Case("check/json", ("check tasks --json",), TASKS, empty=True)
    yield Case("check/zh", ("check tasks",), TASKS, "zh", empty=True)
    yield Case(
        "check/bad", ("check bad.yaml nowhere", "check bad.yaml --json"), {"bad.yaml": BROKEN}
    )
    yield Case("check/samples", ("export -o out --json", "check out", "check out --json"))


def _runs() -> Iterator[Case]:
    yield Case("runs/plain", ("runs",))
    yield Case("runs/zh", ("runs",), language="zh")
    yield Case("runs/json", ("runs --json",))
    orders = (
        "pause 6",
        "budget 5 3",
        "budget 5 --json",
        "concurrency 6 9",
        "resume 6",
        "cancel",
        "pause 6 1",
    )
    yield Case("runs/orders", tuple(f"runs {order}" for order in orders))
    yield Case("runs/none", ("init --no-samples", "runs", "runs --json"), empty=True)
    two = "facts-night-train table-us-states"
    one = "--concurrency 1"
    yield Case("run/plain", (f"run {two} --samples 2 --name again {one}", "runs"))
    yield Case("run/json", (f"run {two} --json {one}", "run --resume 8"))
    yield Case("run/json-lines", (f"run espresso --json-lines {one}",))
    yield Case("run/replay", ("run --replay 5 --concurrency 1",))
    yield Case("run/zh", (f"run espresso {one}",), language="zh")
    yield Case("run/workers", ("run espresso --workers", "run espresso --detach", "worker"))
    yield Case("worker/zh", ("worker",), language="zh")
    yield Case(
        "run/files", (f"run tasks/ferry.yaml {one}", "run bad.yaml"), {**TASKS, "bad.yaml": BROKEN}
    )
    yield Case(
        "run/wrong",
        ("run ghost", "run espresso --agent nobody", "run --resume 99", "run espresso --samples 0"),
    )
    yield Case("demo/plain", ("demo",), empty=True)
    yield Case("demo/json", ("demo --db demo.db --json", "--db demo.db runs"), empty=True)
    yield Case("demo/zh", ("demo",), language="zh", empty=True)
    files = {"tasks/ferry.yaml": FERRY, "out.jsonl": RESPONSES}
    outside = "judge --tasks tasks --responses out.jsonl"
    yield Case("judge/files", (outside,), files, empty=True)
    yield Case("judge/files-json", (f"{outside} --json",), files, empty=True)
    yield Case("judge/files-zh", (outside,), files, "zh", empty=True)
    yield Case("judge/run", ("judge --run 5", "judge --run 5 --again"))
    yield Case("judge/run-json", ("judge --run 5 --json",))
    yield from _forms(
        "exam/", "exam lexical:lenient espresso facts-night-train", FORMS[:3], zh=True
    )
    yield Case(
        "exam/kept",
        (
            "exam lexical --known",
            "exam lexical espresso --dry-run",
            "exam lexical espresso --fail-if fault",
            "exam lexical espresso --against lexical:lenient --fail-if 'specificity>0.5'",
            "exam lexical espresso --fail-if often",
            "exam nobody",
        ),
    )
    yield Case("judge/wrong", ("judge", "judge --run 99", "judge --run 5 --judge nobody"))
    yield Case(
        "rescore/unchanged",
        ("rescore 5", "rescore 5 --json", "rescore 99", "rescore 5 --revision x"),
    )
    begun = ("--as Ann import espresso.yaml",)
    yield Case(
        "rescore/dry", (*begun, "rescore 5 --dry-run", "rescore 5 --dry-run --json"), CORRECTED
    )
    yield Case(
        "rescore/plain", (*begun, "rescore 5", "rescore 5", "runs", "score 8 --json"), CORRECTED
    )
    yield Case("rescore/json", (*begun, "rescore 7 --json"), CORRECTED)
    yield Case("rescore/markdown", (*begun, "rescore 5 --anew --markdown"), CORRECTED)
    yield Case("rescore/zh", (*begun, "rescore 5"), CORRECTED, "zh")
    otherwise = {
        "new.yaml": FERRY,
        "ferry.yaml": FERRY.replace('"2"', '"3"').replace("12 e", "13 e"),
    }
    played = ("import new.yaml", "run ferry --concurrency 1", "import ferry.yaml")
    yield Case("rescore/left-out", (*played, "rescore 8 --dry-run", "rescore 8 --json"), otherwise)
    yield Case(
        "shadow/plain", ("shadow 5 --user scripted --concurrency 1", "shadow 5 --user scripted")
    )
    yield Case("shadow/json", ("shadow --trial 1 --user scripted --json --concurrency 1",))
    yield Case("shadow/zh", ("shadow 2 --user scripted --concurrency 1",), language="zh")
    yield Case(
        "shadow/wrong",
        ("shadow", "shadow 5", "shadow 99 --user scripted", "shadow 5 --user no"),
    )
    yield Case(
        "shadow/workers",
        ("shadow 5 --user scripted --workers", "shadow 5 --user scripted --workers --budget 1"),
    )


def _scores() -> Iterator[Case]:
    yield from _forms("score/", "score 6", zh=True)
    yield from _forms("score/two-", "score 6 7", FORMS[:2])
    yield from _forms(
        "score/cut-", "score 6 7 --by agent --by run --measure triplet_f1 --sort triplet_f1", PLAIN
    )
    yield from _forms("score/across-", "score 6 --by family --across agent", PLAIN)
    yield from _forms("score/only-", "score 6 --only agent=alpha --only family=table", PLAIN)
    yield from _forms("score/offline-", "score 5", PLAIN)
    yield Case(
        "score/wrong",
        (
            "score 99",
            "score 6 --by moon",
            "score 6 --measure moon",
            "score 6 --judge no",
            "score 1",
        ),
    )
    yield Case(
        "workshop/told", ("workshop 6", "workshop 6 --json", "workshop", "workshop 6 --judge moon")
    )
    yield Case("blame/told", ("blame 6", "blame 6 --model rule", "blame 6 --json"))
    yield Case("contamination/told", ("contamination 6", "contamination 6 --json"))
    yield from _forms("compare/", "compare 6 --by agent", zh=True)
    yield Case("compare/files", ("compare 6 --by agent -o compare.tex", "score 6 7 -o score.csv"))
    yield from _forms("compare/base-", "compare 6 --by agent --base beta --worst 2", PLAIN)
    yield from _forms(
        "compare/runs-", "compare 6 7 --by run --measure triplet_f1 --worst 1", FORMS[:2]
    )
    yield from _forms("suspects/", "suspects 6", FORMS[:2], zh=True)
    yield Case("suspects/items", ("suspects 6 --items", "suspects 6 --items --json"))
    yield Case("suspects/wrong", ("suspects 99", "suspects", "suspects 6 --first 0"))
    yield from _forms("compare/memory-", "compare 6 7 --design memory", PLAIN)
    for design in ("facts_settings", "checkpoint_settings", "graph_settings", "compaction"):
        yield Case(f"compare/design-{design}", (f"compare 6 7 --design {design}",))
    yield Case(
        "compare/wrong",
        (
            "compare 6",
            "compare 6 --by moon",
            "compare 6 --by agent --base no",
            "compare 6 --design no",
        ),
    )
    yield from _forms("score/these-", "score 6 --interval these", PLAIN)
    yield from _forms("leaderboard/", "leaderboard 6 --pairs", zh=True)
    yield Case("leaderboard/files", ("leaderboard 6 -o leaderboard.html",))
    yield Case(
        "leaderboard/wrong",
        ("leaderboard 6 --by language", "leaderboard 6 --measure no", "leaderboard 6 --by run"),
    )
    yield from _forms("plan/", "plan 6 --difference 0.1 --task-cost 20 --trial-cost 0.5", zh=True)
    yield from _forms("plan/guess-", "plan --task-sd 0.1 --sample-sd 0.25 --tasks 40", FORMS[:2])
    yield Case("plan/files", ("plan 6 --plot plan.svg -o plan.csv",))
    yield Case("plan/wrong", ("plan", "plan 6 --plot plan.png", "plan 6 --measure no"))
    for suffix in ("html", "md", "tex", "csv", "json"):
        yield Case(f"report/{suffix}", (f"report 6 7 -o report.{suffix}",))
    yield Case("report/html-zh", ("report 6 -o report.html --no-plots",), language="zh")
    yield Case("report/md-zh", ("report 6 --no-plots",), language="zh")
    yield Case("report/people", ("report 1 2 3 4 --no-plots",))
    yield Case(
        "report/titled",
        ("report 5 --title 'A | title' --no-plots", "report 99", "report 5 -o a.pdf"),
    )


def _tables() -> Iterator[Case]:
    for name in TABLES:
        forms = (
            ("plain", "json", "markdown", "latex", "csv") if name in WRITTEN else ("plain", "json")
        )
        for form in forms:
            option = "" if form == "plain" else f" --{form}"
            yield Case(f"table/{name}-{form}", (f"table {name} 6 7{option}",))
    for name in ("main", "errors", "settings"):
        yield Case(f"table/{name}-zh", (f"table {name} 6 7",), language="zh")
    yield Case("table/main-latex-zh", ("table main 6 --latex",), language="zh")
    yield Case(
        "table/files", tuple(f"table main 6 -o main.{x}" for x in ("md", "tex", "csv", "json"))
    )
    yield Case("table/curves-truncated", ("table curves 6 --k-trunc 2", "table main 6 --k-trunc 2"))
    yield Case(
        "table/wrong",
        ("table moon 6", "table main 99", "table main 6 -o x.xls", "table settings 5"),
    )


def _people() -> Iterator[Case]:
    yield Case("board/plain", ("board",))
    yield Case("board/json", ("board --json",))
    yield Case("board/zh", ("--as Ben board",), language="zh")
    yield Case("board/reviewer", ("--as Chen board", "--as Chen board --json"))
    yield Case("datasheet/plain", ("datasheet",))
    yield Case("datasheet/json", ("datasheet --json",))
    yield Case(
        "datasheet/names", ("datasheet --names -o sheet.md", "datasheet --names -o sheet.json")
    )
    yield Case("datasheet/zh", ("datasheet",), language="zh")
    yield Case("submit/plain", ("--as Ann import tasks", "--as Ann submit ferry toy ghost"), TASKS)
    yield Case(
        "submit/json",
        ("--as Ann import tasks", "--as Ann submit ferry toy --reason 'a | toy' --json", "board"),
        TASKS,
    )
    yield Case("submit/zh", ("--as Ann import tasks", "--as Ann submit ferry toy"), TASKS, "zh")
    yield Case("review/plain", ("review", "--as Ben review", "--as Chen review"))
    yield Case("review/json", ("review --json", "--as Chen review --json"))
    yield Case("review/zh", ("--as Chen review",), language="zh")
    waiting = "graph-astronomy-zh"
    yield Case(
        "review-take/plain",
        (f"--as Ben review take {waiting}", "--as Ann review take espresso", "--as Ben review"),
    )
    typed = "? / r / w too early / z / u / c seen / q"
    again = "k / r / p / f / no page says so / x / p / r / f bad date / p / a / e not yet / no / e / yes"
    yield Case(
        "review/lines",
        (
            f"--as Ben review --plain --task {waiting} <<< {typed}",
            f"--as Ben review --plain <<< {again}",
            "review --task espresso",
        ),
    )
    yield Case(
        "review/lines-zh",
        (f"--as Ben review --plain --task {waiting} <<< r / ? / q",),
        language="zh",
    )
    yield Case("review-take/zh", (f"--as Ben review take {waiting}",), language="zh")
    yield Case(
        "review-skip/plain",
        (
            f"--as Ben review skip {waiting} --reason 'not mine'",
            "--as Ben review",
            "--as Ben review --skipped",
            "--as Ben review skip ghost --reason x",
        ),
    )
    yield Case(
        "review-assign/plain",
        (
            f"--as Cleo review assign {waiting} Ben",
            f"--as Ben review assign {waiting} Ben",
            "--as Cleo review assign espresso Ann",
            "--as Cleo review --json",
        ),
        COORDINATED,
    )
    yield Case(
        "review-unassign/plain",
        ("--as Cleo review unassign espresso Chen --reason 'on leave'", "--as Cleo review"),
        COORDINATED,
    )
    yield Case(
        "review-priority/plain",
        (
            f"--as Cleo review priority {waiting} 2",
            "--as Cleo review",
            "review priority espresso 3",
        ),
        COORDINATED,
    )
    yield Case(
        "review-skills/plain",
        (
            "--as Ben review skills --language zh --domain ' history '",
            "--as Ben review",
            "--as Ben review skills --language xx",
            "--as Ben review skills",
        ),
    )
    yield from _forms("people/", "people", FORMS[:2], zh=True)
    yield from _forms("find/", "find patent", FORMS[:2], zh=True)
    change = (
        "tag add 'slow, odd' --run 6 --task espresso",
        "tag name 12 'asks twice'",
        "tag add odd --trial 12",
    )
    yield from _forms("tag-list/", "tag list --run 6", FORMS[:2], zh=True)
    yield Case(
        "tag-add/all", (*change, "tag add slow --run 6 --json", "tag list", "tag list --json")
    )
    yield Case(
        "tag-remove/all",
        (*change, "tag remove odd slow --run 6 --trial 12", "tag list --run 6 --trial 12"),
    )
    yield Case(
        "tag-name/wrong",
        (
            "tag name 12 ''",
            "tag name 999 x",
            "tag add x",
            f"tag add {'x' * 41} --run 6",
            "tag add x --run 99",
            "tag remove x --task nosuch",
        ),
    )
    for words in ("add Ben --role ben", "coordinator Ben --not", "remove Ben"):
        yield Case(f"people-{words.split()[0]}/file", (f"people {words}",))
    yield Case("sessions/plain", ("sessions",))
    yield Case("sessions/zh", ("sessions",), language="zh")
    yield Case("sessions/json", ("sessions --json",))
    yield Case("sessions/csv", ("sessions 1 3 --csv sessions.csv", "sessions 99", "sessions 6"))
    yield from _forms("fidelity/", "fidelity", zh=True)
    yield from _forms("fidelity/sloppy-", "fidelity 1 2 --user sloppy --worst 3", FORMS[:2])
    sections = "fidelity --section findings --section outcome --json"
    yield Case("fidelity/sections", ("fidelity --section meaning --section cues", sections))
    yield from _forms(
        "fidelity/power-", "fidelity --correlation 0.3 --correlation 0.6 --power 0.9", PLAIN
    )
    yield Case("fidelity/wrong", ("fidelity 99", "fidelity --user no", "fidelity --task no"))


def _labels() -> Iterator[Case]:
    stratified = "sample 6 --n 20 --stratify decision,family --allocation equal --overlap 0.5"
    yield Case("serve/missing", ("serve --host nowhere.invalid", "serve --port 99999"))
    yield Case(
        "label/lines",
        (
            "--as Dora label --plain --run 5 <<< ? / y / n not so / z / u / r / c unsure of it / f / m / g / s / b / x / q",
            "--as Dora label --plain --run 5 --reveal-after <<< y",
            "label",
            "label --plain --run 3 --set 1",
        ),
    )
    yield Case(
        "label/lines-zh", ("--as Ben label --plain --set 1 <<< y / ? / t / h / u",), language="zh"
    )
    yield Case(
        "sample/plain", (f"{stratified} --dry-run", f"{stratified} --people Ben,Chen --name more")
    )
    yield Case("sample/json", (f"{stratified} --seed 3 --json",))
    yield Case("sample/zh", (f"{stratified} --dry-run",), language="zh")
    yield Case("sample/trials", ("sample 6 7 --by trials --n 4 --stratify agent --json",))
    yield Case(
        "sample/cues",
        ("sample 1 2 5 --n 6 --kinds cue,leak", "sample 3 --n 3 --kinds status --json"),
    )
    yield Case(
        "sample/width",
        (
            "sample --width 0.05 --share 0.95",
            "sample --width 0.05 --share 0.95 --per-task 20 --correlation 0.05 --json",
            "sample --width 0.1 --population 300",
            "sample 6 --width 0.2 --dry-run",
        ),
    )
    yield Case(
        "sample/wrong", ("sample", "sample 6", "sample 6 --n 5 --kinds moon", "sample 99 --n 5")
    )
    yield Case(
        "sample/pays",
        (
            "sample 6 --n 20 --stratify decision --allocation variance --half-width 0.1 --order",
            "sample 6 --n 20 --allocation active --dry-run",
            "sample 6 --width 0.2 --stratify decision --allocation variance --dry-run",
            "sample 7 --width 0.5 --stratify decision --allocation variance --dry-run",
            "sample 6 --n 20 --allocation disagreement --seed 2 --json",
            "sample 6 --n 20 --allocation active --order",
        ),
    )
    yield from _forms("labels-status/", "labels status --set 1 --half-width 0.2", zh=True)
    yield Case(
        "labels-status/wrong",
        ("labels status", "labels status --set 99", "labels status --set 1 --half-width 2"),
    )
    for name in ("csv", "jsonl", "labelstudio"):
        words = f"labels export --format {name}"
        yield Case(f"labels-export/set-{name}", (f"--as Ben {words} --set 1 -o out",))
    yield Case(
        "labels-export/set-vibesearch",
        ("--as Ben labels export --format vibesearch --set 1 -o out",),
    )
    yield Case(
        "labels-export/run",
        (
            "labels export --run 5 --format csv -o all.csv --unlabelled --with-verdicts",
            "labels export --run 7 --format csv -o eve.csv --person Eve --history --json",
        ),
    )
    yield Case(
        "labels-export/zh", ("labels export --set 1 --format csv -o out.csv",), language="zh"
    )
    yield Case(
        "labels-export/wrong",
        (
            "labels export --run 5 --format csv -o x.csv",
            "labels export --run 1 --set 1 --format csv -o x",
        ),
    )
    there = "--as Ben labels export --set 1 --format jsonl -o out.jsonl --history"
    again = "--db other.db init"
    yield Case(
        "labels-import/back",
        (
            there,
            "--as Ben labels import out.jsonl --dry-run",
            "--as Ben labels import out.jsonl --json",
            "--as Flo labels import out.jsonl --person Flo",
            again,
            "--db other.db labels import out.jsonl",
        ),
    )
    yield Case(
        "labels-import/sheet",
        (
            "labels import recall.csv --run 5 --trial 7 --person Ana",
            "labels import recall.csv --run 5 --person Ana --json",
            "labels import no.csv",
        ),
        {"recall.csv": RECALL},
    )
    yield Case("labels-import/zh", (there, "--as Flo labels import out.jsonl"), language="zh")


def _agreement() -> Iterator[Case]:
    for option in FORMS:
        form = option.lstrip("-") or "plain"
        yield Case(
            f"agree/file-{form}",
            (f"agree r.csv --group task {option}".rstrip(),),
            {"r.csv": RATINGS},
        )
        scale = f"agree s.csv --level ordinal --weights quadratic {option}".rstrip()
        yield Case(f"agree/scale-{form}", (scale,), {"s.csv": SCALE})
        yield Case(
            f"agree/sheets-{form}", (f"agree recall.csv {option}".rstrip(),), {"recall.csv": RECALL}
        )
    yield Case(
        "agree/reference", ("agree r.csv --reference Ana --labels no,yes",), {"r.csv": RATINGS}
    )
    yield Case("agree/file-zh", ("agree r.csv --group task",), {"r.csv": RATINGS}, "zh")
    yield Case(
        "agree/wrong", ("agree", "agree no.csv", "agree r.csv --rater who"), {"r.csv": RATINGS}
    )
    yield from _forms("agree/set-", "agree --set 1", zh=True)
    yield from _forms("agree/run-", "agree --run 6", PLAIN)
    yield from _forms("agree/effect-", "agree --effect --run 6", FORMS[:2], zh=True)
    yield from _forms(
        "agree/calibrated-", "agree --effect --run 7 --calibrate-run 6", FORMS[:2], zh=True
    )
    yield Case(
        "agree/calibrated-wrong",
        (
            "agree --run 7 --calibrate-run 6",
            "agree --effect --run 7 --calibrate-run 7",
            "agree --effect --run 7 --calibrate-run 6 --calibrate-set 1",
            "agree --effect --run 7 --calibrate-run 1",
        ),
    )
    yield Case(
        "agree/kinds", ("agree --run 6 --kind row", "agree --run 1 --kind cue", "agree --set 99")
    )


def _rest() -> Iterator[Case]:
    yield Case("qc/known", ("qc --all --known",))
    yield Case("qc/json", ("qc --all --known --json",))
    yield Case(
        "qc/one", ("qc espresso --stage structure --stage verdict", "qc table-us-states --known")
    )
    yield Case("qc/rules", ("qc --rules", "qc --rules --json"))
    yield Case("qc/zh", ("qc facts-night-train --known", "qc --rules"), language="zh")
    yield Case("qc/wrong", ("qc", "qc ghost", "qc espresso --stage taste"))
    yield Case("qc/workers", ("qc espresso --workers",))
    yield Case("doctor/deep", ("doctor --offline --deep",), machine=True)
    yield Case("doctor/deep-zh", ("doctor --offline --deep",), language="zh", machine=True)
    yield Case("doctor/offline", ("doctor --offline",), machine=True)
    yield Case("doctor/json", ("doctor --offline --json",), COORDINATED, machine=True)
    yield Case("doctor/zh", ("doctor --offline",), language="zh", machine=True)
    bad = {"cuecard.yaml": "models: {}\nagents:\n  live: {kind: react, model: ghost}\n"}
    yield Case("doctor/bad", ("doctor --offline", "--db no.db doctor --offline"), bad, machine=True)


CASES = tuple(cases())
