"""Random people label, draw sets and look at what verbs print and write; what they must not see yet is compared with rules
that are told as simply as possible.

Every label and every verdict carries words of its own, so whatever a verb tells of an item can be found in what it prints
and in the files that it writes, unpacked.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples

LABELLERS = ("Lia", "Max", "Noa")
Key = tuple[int, str]
"""A trial and an item's key."""

EXPORTS = (
    *("labels export --format csv", "labels export --format jsonl", "labels export --format vibesearch"),
    *("labels export --format labelstudio", "labels export --format csv --history"),
    *("labels export --format csv --with-verdicts", "labels export --format jsonl --with-verdicts"),
    *("labels export --format vibesearch --with-verdicts", "labels export --format labelstudio --with-verdicts"),
    *("labels export --format csv --unlabelled", "labels export --format csv --person Max"),
)  # fmt: skip
RUN_EXPORTS = (
    *("export --format jsonl", "export --format inspect", "export --format otel --content"),
    *("export --format vibesearch", "export --format otel"),
)
READING = (
    *("agree --json", "agree", "agree --effect --json", "score --json", "score", "score --by task --json"),
    *("runs --json", "report --format md", "report --format json", "table main --json", "table trials --json"),
    *("table errors --json", "compare --by run --json", "fidelity --json", "sessions --json", "board --json"),
    *("datasheet --json", "review --json", "rescore --dry-run --json", "qc --known --json makers", "pack"),
    *("sample --json", "sample", "export"),
)  # fmt: skip
ALL_VERBS = (*EXPORTS, *RUN_EXPORTS, *READING)


@dataclass(frozen=True)
class Told:
    """What a verb printed, and the files that it wrote as texts by name."""

    code: int
    printed: str
    files: dict[str, str]

    @property
    def text(self) -> str:
        return "\n".join((self.printed, *self.files.values()))


def run_verb(database: Path, person: str, words: list[str], config: str = "") -> Told:
    """`cuecard WORDS` within this process, in a folder of its own that holds this `cuecard.yaml`."""
    from cuecard.tui.commands.main import run

    folder = Path(tempfile.mkdtemp(dir=database.parent))
    if config:
        (folder / "cuecard.yaml").write_text(config)
    kept = sys.argv, sys.stdout, sys.stderr, Path.cwd()
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    try:
        os.chdir(folder)
        sys.argv = ["cuecard", "--db", str(database), "--as", person, *words]
        sys.stdout, sys.stderr = streams
        code = run()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        sys.argv, sys.stdout, sys.stderr, before = kept
        os.chdir(before)
    printed = "".join(stream.buffer.getvalue().decode() for stream in streams)  # pyright: ignore
    files = dict(_texts(folder))
    shutil.rmtree(folder)
    return Told(code, printed, files)


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if path.suffix == ".eval":
            with zipfile.ZipFile(path) as archive:
                texts = [
                    archive.read(name).decode("utf-8", "replace") for name in archive.namelist()
                ]
            yield path.name, "\n".join(texts)
        elif path.suffix == ".cuepack":
            yield path.name, gzip.decompress(path.read_bytes()).decode()
        else:
            yield str(path.relative_to(folder)), path.read_text("utf-8")


def word(kind: str, by: str, trial: int, key: str) -> str:
    """The words that only one label or verdict holds."""
    return f"{kind}-{by}-{trial}-{key.replace('/', '.')}-end"


WORD = re.compile(r"(said|why|decided)-(\w+)-(\d+)-(\w+\.\d+)-end")


@dataclass
class LabelRules:
    """Who may be told what, from what was done. Knows nothing of queries."""

    sets: list[tuple[set[Key], int, tuple[str, ...]]] = field(default_factory=list)
    labelled: dict[Key, set[str]] = field(default_factory=dict)
    seen: set[tuple[str, Key]] = field(default_factory=set)
    looked: set[str] = field(default_factory=set)

    def waits(self, person: str, key: Key) -> bool:
        """Whether somebody is still to label an item in some set."""
        by = self.labelled.get(key, set())
        return person not in by and any(
            key in items and (person in people or (not people and len(by) < raters))
            for items, raters, people in self.sets
        )


@dataclass
class LabelGame:
    ws: Workspace
    rules: LabelRules
    keys: list[Key]
    uids: dict[str, int]
    runs: tuple[int, ...]

    @classmethod
    def begin(cls, ws: Workspace, dice: random.Random) -> LabelGame:
        for person in (*LABELLERS, "Cleo"):
            ws.people.add(person)
        runs = tuple(
            ended_run(ws, graph_task(), [triples(*GOLD[:3]), triples(*GOLD[2:5])]) for _ in range(2)
        )
        keys: list[Key] = []
        uids: dict[str, int] = {}
        for run in runs:
            for trial in ws.runs.trials(run):
                uids[trial.uid] = trial.id
                verdicts: list[Verdict] = []
                for index in range(len(GOLD)):
                    item = Item(kind=ItemKind.TRIPLE, index=index)
                    keys.append((trial.id, item.key))
                    verdicts.append(
                        Verdict(
                            item=item,
                            decision=dice.choice((Decision.YES, Decision.NO)),
                            rationale=word("why", "judge", trial.id, item.key),
                        )
                    )
                judge = PlayerRef(name="strict", kind="model", model="m")
                ws.verdicts.add(trial.id, Judgement(judge=judge, verdicts=tuple(verdicts)))
        return cls(ws, LabelRules(), keys, uids, runs)

    @property
    def database(self) -> Path:
        return Path(self.ws.public_url)

    def step(self, dice: random.Random) -> str:
        """Something random; what it was."""
        action = dice.choice(
            ("draw", "label", "label", "label", "adjudicate", "look", "look", "look")
        )
        person = dice.choice(LABELLERS)
        match action:
            case "draw" if len(self.rules.sets) < 4:
                self._draw(dice)
            case "label":
                self.label(person, dice.choice(self.keys), dice)
            case "adjudicate":
                self._adjudicate(dice)
            case _:
                return self.look(person, dice)
        return action

    def _draw(self, dice: random.Random) -> None:
        drawn = dice.sample(self.keys, dice.randrange(1, 9))
        raters, people = dice.choice(((1, ()), (2, ()), (2, ("Lia", "Max")), (1, ("Noa",))))
        items = [
            SetItem(trial_id=trial, item=Item.of_key(key), raters=raters, people=people)
            for trial, key in drawn
        ]
        self.ws.label_sets.create(name="set", created_by="Cleo", items=items)
        self.rules.sets.append((set(drawn), raters, people))

    def label(self, person: str, key: Key, dice: random.Random) -> None:
        """A label is blind unless something was told of the item before; then it never is."""
        trial, item = key
        value = dice.choice((LabelValue.YES, LabelValue.NO))
        comment = word("said", person, trial, item)
        given = self.ws.verdicts.label_item(trial, Item.of_key(item), person, value, comment)
        if (person, key) in self.rules.seen:
            assert given.phase == "revealed", (person, key)
        elif person not in self.rules.looked:
            assert given.phase == "blind", (person, key)
        self.rules.labelled.setdefault(key, set()).add(person)

    def _adjudicate(self, dice: random.Random) -> None:
        from cuecard.annotate.labelling.adjudication import adjudicate

        trial, item = dice.choice(self.keys)
        comment = word("decided", "Cleo", trial, item)
        adjudicate(self.ws, trial, Item.of_key(item), "Cleo", LabelValue.YES, "human_slip", comment)

    def look(self, person: str, dice: random.Random, verb: str = "") -> str:
        """Somebody uses a verb, and is told no more than they may be."""
        words = (verb or dice.choice(ALL_VERBS)).split()
        told = run_verb(self.database, person, self._complete(words, dice))
        self.check(person, told, words)
        return " ".join(words)

    def _complete(self, words: list[str], dice: random.Random) -> list[str]:
        """The verb with a run, a set or a file to write."""
        runs = [str(run) for run in self.runs]
        sets = [str(number) for number in range(1, len(self.rules.sets) + 1)]
        match words:
            case ["labels", *_]:
                where = dice.choice(
                    ([], ["--run", dice.choice(runs)], ["--set", dice.choice(sets or ["1"])])
                )
                return [*words, "-o", "out.csv" if "vibesearch" not in words else "out", *where]
            case ["export", *more]:
                return [*words, "-o", "out", *(["--run", dice.choice(runs)] if more else [])]
            case ["agree", *_]:
                with_set = sets and "--effect" not in words and dice.random() < 0.5
                return (
                    [*words, "--set", dice.choice(sets)]
                    if with_set
                    else [*words, "--run", dice.choice(runs)]
                )
            case ["sample", *_]:
                return ["sample", runs[0], "--n", "3", "--dry-run", *words[1:]]
            case ["table", name, *more]:
                return ["table", name, *runs, *more]
            case ["score" | "rescore" as verb, *more]:
                return [verb, dice.choice(runs), *more]
            case ["report" | "compare" as verb, *more]:
                return [verb, *runs, *more]
            case _:
                return words

    def check(self, person: str, told: Told, words: list[str]) -> None:
        rules = self.rules
        rules.looked.add(person)
        for _kind, by, trial, key in set(WORD.findall(told.text)):
            at = (int(trial), key.replace(".", "/"))
            if by == person:
                continue
            assert not rules.waits(person, at), (person, words, at, by, "is told of what waits")
            rules.seen.add((person, at))
        for at, by, value in self._values(told):
            if by == person or not value:
                continue
            assert not rules.waits(person, at), (person, words, at, by, value, "is told a value")
            rules.seen.add((person, at))
        for text in told.files.values():
            for uid, trial in self.uids.items():
                waits = any(rules.waits(person, (trial, key)) for t, key in self.keys if t == trial)
                whole = words[0] == "export" and uid in text
                assert not (whole and waits), (
                    person,
                    words,
                    trial,
                    "a trial that waits is exported",
                )

    def _values(self, told: Told) -> Iterator[tuple[Key, str, str]]:
        """Decisions that tables hold: the item, whose they are, and what they say."""
        for name, text in told.files.items():
            if name.endswith(".csv") and text.lstrip("\ufeff").startswith("id,"):
                for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff"))):
                    yield from self._row(row)
            elif name.endswith(("_recall.csv", "_precision.csv")):
                uid = next(u for u in self.uids if u[:8] in name)
                for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff"))):
                    index = row.get("gt_index")
                    if index is not None:
                        at = (self.uids[uid], f"triple/{index}")
                        yield at, "judge", row["model_covered"]
            elif text.startswith('{"id"'):
                for line in filter(None, text.splitlines()):
                    yield from self._row(json.loads(line))

    def _row(self, row: Any) -> Iterator[tuple[Key, str, str]]:
        if not isinstance(row, dict) or not row.get("item") or row.get("trial") not in self.uids:
            return
        at = (self.uids[row["trial"]], row["item"])
        yield at, row.get("person") or "", row.get("label") or ""
        judged = [value for name, value in row.items() if "judge" in name or "decision" in name]
        yield at, "judge", "".join(filter(None, judged))


@contextmanager
def quick_verbs() -> Iterator[None]:
    """Typer reads the signature of every verb at every start: here once, as the verbs are the same."""
    import functools

    import typer.main

    read = typer.main.get_params_from_function
    setattr(typer.main, "get_params_from_function", functools.cache(read))  # noqa: B010
    try:
        yield
    finally:
        setattr(typer.main, "get_params_from_function", read)  # noqa: B010
