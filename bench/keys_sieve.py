"""A sieve for keys: text is typed 0 to 400 ms after every key that moves the focus, on a busy machine, and what
became of each key is held against what a patient hand gets.

    python bench/keys_sieve.py [--keys 10000] [--hands 3] [--burn 2] [--only SCENE] [--json figures.json]

The real app runs in a pseudo-terminal on a workspace with tasks, judged runs, labels and a labelling set. First the
keys of every scene are tried, one app for each: those of the registry that work there, and Enter, Tab, F2 and a
letter. A key that changes the screen, the mode, the tab or the focus counts as one that moves it; the scene that it
leads to is tried too. After each such key a text is typed by a patient hand, which waits until the app is quiet
before every key. Then the same key and text are written to a fresh app at once, or with a gap of up to 400 ms, or
pasted, while other processes burn the machine's cores. A key is a stray where its text stands in another field than
for the patient hand, where another action ran, where it is lost or out of order.

`PYTHONPATH=OTHER/src` sieves another revision. Exit code 1 where there are strays.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from keys_sieve_person import Person, Place, encoded

GAPS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
LETTERS = "askynbqdemfjhgx"
ALWAYS = ("enter", "tab", "shift+tab", "f2", "a", "escape")
LEFT_OUT = {"ctrl+q", "ctrl+c"}
CURSOR = {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "space"}
EVERYWHERE = {"1", "2", "3", "4", "5", "6", "question_mark", "ctrl+p"}
"""Keys that are tried in some scenes only, since they do the same in all."""
LONG = {"QcScreen.run_all"}
FEW = 4
"""Letters that are typed where letters are commands."""


@dataclass
class Patient:
    """What a patient hand gets: whether the key moves the focus, and what becomes of the text."""

    place: Place
    moves: bool
    leads_to: tuple[str, ...] = ()
    keys_there: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    end: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass
class Sieved:
    """One text typed after one key."""

    place: Place
    gap: float
    how: str
    keys: int
    strays: int
    told: list[str]
    unstable: bool = False


def text_for(place: Place, kind: str) -> tuple[str, ...]:
    """Letters, and among them keys that go on; short where letters are commands."""
    hand = random.Random(str(place))
    letters = [hand.choice(LETTERS) for _ in range(30)]
    if kind == "keys":
        return tuple(letters[:FEW])
    if hand.random() < 0.5:
        return ("a", "s", "k", *letters)
    return ("a", "s", "k", *letters[:9], "tab", *letters[9:16], "enter", *letters[16:26])


def patiently(database: Path, place: Place, text: tuple[str, ...] | None = None) -> Patient:
    """Try a key, and where it moves the focus type a text, each key after the one before is done."""
    try:
        with Person(database) as person:
            before = person.go(place)
            if text is None and place.key not in {*before["keys"], *ALWAYS}:
                return Patient(place, moves=False)
            person.write([place.key], 1)
            after = person.ask()
            moves = before["place"] != after["place"]
            if not moves and text is None:
                return Patient(place, moves=False)
            text, end = text or text_for(place, after["kind"]), after
            for key in text:
                person.write([key], 1)
                end = person.ask()
            leads_to = tuple(reversed(after["place"][1:-2]))
            return Patient(place, moves, leads_to, tuple(after["keys"]), text, end)
    except (RuntimeError, OSError) as error:
        return Patient(place, moves=False, problem=f"{place}: {error}")


def at_once(database: Path, known: Patient, gap: float, how: str) -> Sieved:
    """The same at once. `how`: the text is written "at once", "typed" with 15 ms between its keys, or "pasted"."""
    place, text = known.place, known.text
    keys = 1 + len(text)
    pasted = "".join(key for key in text if len(key) == 1)
    try:
        with Person(database) as person:
            person.go(place)
            if how == "at once" and gap == 0:
                person.write([place.key, *text], keys)
            else:
                person.write([place.key], 1)
                person.rest(gap)
                if how == "pasted":
                    person.paste(pasted)
                elif how == "at once":
                    person.write(text, len(text))
                else:
                    for key in text:
                        person.write([key], 1)
                        person.rest(0.015)
            found = person.ask(long=1.5)
            if differing(known.end, found, most=keys)[0]:
                # What is shown beside a list follows when keys rest, on a busy machine later than the app is quiet.
                person.rest(2.0)
                found = person.ask(long=1.5)
    except (RuntimeError, OSError) as error:
        return Sieved(place, gap, how, keys, keys, [str(error)])
    strays, told = differing(known.end, found, most=keys)
    return Sieved(place, gap, how, keys, strays, told)


def differing(patient: dict[str, Any], found: dict[str, Any], most: int) -> tuple[int, list[str]]:
    """How many keys had another fate: what is missing or what is too much in fields and actions."""
    missing = extra = 0
    told: list[str] = []
    for name in sorted({*patient["fields"], *found["fields"]}):
        one, other = patient["fields"].get(name, ""), found["fields"].get(name, "")
        if one != other:
            less, more = _apart(one, other)
            missing, extra = missing + less, extra + more
            told.append(f"{name}: {other!r} for {one!r}")
    one, other = _once(patient["acts"]), _once(found["acts"])
    less, more = _apart(one, other)
    if less or more:
        missing, extra = missing + less, extra + more
        told.append(f"ran {other} for {one}")
    if patient["place"] != found["place"]:
        missing += 1
        told.append(f"is at {found['place']} for {patient['place']}")
    if lost := patient["heard"] - found["heard"]:
        told.append(f"{lost} keys heard less")
    return min(most, max(missing, extra)), told


def _once(acts: list[str]) -> list[str]:
    """Without repetitions of what is off while it runs in the background: a patient hand may begin it again."""
    return [
        act
        for act, before in zip(acts, ["", *acts], strict=False)
        if act != before or act not in LONG
    ]


def _apart(one: Any, other: Any) -> tuple[int, int]:
    same = sum(
        block.size for block in SequenceMatcher(None, one, other, False).get_matching_blocks()
    )
    return len(one) - same, len(other) - same


def burning(number: int) -> list[int]:
    """Processes that keep the cores busy."""
    pids: list[int] = []
    for _ in range(number):
        pid = os.fork()
        if pid == 0:
            while True:
                sum(range(100_000))
        pids.append(pid)
    return pids


def observe(
    pool: Any, database: Path, only: list[str], depth: int, say: Callable[[str], None]
) -> list[Patient]:
    """Every key that moves the focus, found by trying, with what a patient hand gets after it."""
    from cuecard.tui.actions import registry
    from keys_sieve_program import scenes

    known: dict[Place, Patient] = {}
    starts = [name for name in scenes() if not only or name in only]
    # One scene for each class of screens and dialogs is enough to find their own keys.
    seen: set[tuple[str, ...]] = {("TaskScreen",), ("TrialScreen",)}
    level = [(name, (), _keys_at(pool, database, name)) for name in starts]
    for deep in range(depth):
        places = [Place(name, path, key) for name, path, keys in level for key in keys]
        places = [p for p in dict.fromkeys(places) if p not in known and _worth_trying(p)]
        say(f"depth {deep}: {len(level)} scenes, {len(places)} keys to try")
        level = []
        for patient in pool.imap_unordered(_patiently, [(database, p) for p in places]):
            known[patient.place] = patient
            if patient.problem:
                say(patient.problem)
            if patient.moves and patient.leads_to[:1] not in seen:
                seen.add(patient.leads_to[:1])
                here = patient.place
                level.append((here.scene, (*here.path, here.key), (*ALWAYS, *patient.keys_there)))
    found = [patient for patient in known.values() if patient.moves]
    ids = {key.id for key in registry().values()}
    say(f"{len(known)} keys tried, {len(found)} move the focus; {len(ids)} actions in the registry")
    return found


def _worth_trying(place: Place) -> bool:
    name = place.key.rsplit("+", 1)[-1]
    if place.key in EVERYWHERE and (
        place.path or ("/" in place.scene and "graph" not in place.scene)
    ):
        return False
    return name not in CURSOR and place.key not in LEFT_OUT and encoded(place.key) is not None


def _keys_at(pool: Any, database: Path, scene: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*pool.apply(_keys, ((database, scene),)), *ALWAYS]))


def _keys(given: tuple[Path, str]) -> list[str]:
    database, scene = given
    with Person(database) as person:
        return person.ask(scene=scene)["keys"]


def _patiently(given: tuple[Path, Place]) -> Patient:
    return patiently(*given)


def _sieve(given: tuple[Path, Patient, float, str]) -> Sieved:
    """One text; where something strays, the patient hand types again, to see whether it gets the same."""
    database, known, gap, how = given
    found = at_once(database, known, gap, how)
    if found.strays:
        again = patiently(database, known.place, known.text)
        found.unstable = bool(again.problem or differing(known.end, again.end, 99)[0])
    return found


def pasted_alike(known: Patient) -> bool:
    """Whether a paste of the letters ends as typing them does: where they are no commands."""
    here = known.end["kind"] == "text" and len(known.text) > FEW
    return here and all(len(key) == 1 for key in known.text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--hands", type=int, default=3, help="apps at the same time")
    parser.add_argument("--burn", type=int, default=2, help="processes that burn the cores")
    parser.add_argument("--only", action="append", default=[], help="a scene; may be repeated")
    parser.add_argument("--depth", type=int, default=2, help="scenes within keys of the start")
    parser.add_argument("--observed", type=Path, help="keep what was observed here, or use it")
    parser.add_argument(
        "--like", type=Path, help="try only what was observed here, of another revision"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sieve-"))
    database = folder / "w.db"

    def say(text: str) -> None:
        print(text, flush=True)

    import keys_sieve_program

    keys_sieve_program.build(database)
    shutil.copy(database, folder / "warm.db")
    keys_sieve_program.warm_up(folder / "warm.db")
    begun, hand = time.monotonic(), random.Random(options.seed)
    burners: list[int] = []
    try:
        with multiprocessing.get_context("fork").Pool(options.hands) as pool:
            if options.like:
                known = pickle.loads(options.like.read_bytes())
                hand.shuffle(known)
                places = [(database, patient.place) for patient in known[: options.keys // 15]]
                tried = list(pool.imap_unordered(_patiently, places))
                patients = [patient for patient in tried if patient.moves]
            elif options.observed and options.observed.exists():
                patients = pickle.loads(options.observed.read_bytes())
            else:
                patients = observe(pool, database, options.only, options.depth, say)
                say(f"observed in {time.monotonic() - begun:.0f} s")
                if options.observed:
                    options.observed.write_bytes(pickle.dumps(patients))
            burners = burning(options.burn)
            jobs: list[tuple[Path, Patient, float, str]] = []
            typed = 0
            while patients and typed < options.keys:
                hand.shuffle(patients)
                for known in patients:
                    how = hand.choice(("at once", "at once", "typed", "pasted"))
                    if how == "pasted" and not pasted_alike(known):
                        how = "at once"
                    jobs.append((database, known, hand.choice(GAPS), how))
                    typed += 1 + len(known.text)
                    if typed >= options.keys:
                        break
            found: list[Sieved] = []
            for one in pool.imap_unordered(_sieve, jobs):
                found.append(one)
                if one.strays:
                    mark = " (unstable)" if one.unstable else ""
                    say(
                        f"{one.place} +{one.gap * 1000:.0f} ms {one.how}: {one.strays}/{one.keys}{mark}"
                    )
                    for line in one.told:
                        say(f"    {line[:300]}")
            load = os.getloadavg()[0]
    finally:
        for pid in burners:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        shutil.rmtree(folder, ignore_errors=True)
    return report(found, len(patients), load, time.monotonic() - begun, options.json)


def report(found: list[Sieved], moving: int, load: float, seconds: float, to: Path | None) -> int:
    """The table, by gap. What not even a patient hand gets twice alike is told apart."""
    stable = [one for one in found if not one.unstable]
    keys, strays = Counter[float](), Counter[float]()
    for one in stable:
        keys[one.gap] += one.keys
        strays[one.gap] += one.strays
    print(f"\n{moving} keys that move the focus; load {load:.1f}; {seconds:.0f} s")
    print(f"{'gap':>8}{'keys':>8}{'strays':>8}")
    for gap in sorted(keys):
        print(f"{gap * 1000:5.0f} ms{keys[gap]:8,}{strays[gap]:8,}")
    print(f"{'all':>8}{keys.total():8,}{strays.total():8,}")
    if unstable := len(found) - len(stable):
        print(f"left out: {unstable} texts that not even a patient hand gets twice alike")
    if to is not None:
        to.write_text(
            json.dumps(
                {
                    "keys": keys.total(), "strays": strays.total(), "moving": moving, "load": load,
                    "by_gap": {f"{g * 1000:.0f}": [keys[g], strays[g]] for g in sorted(keys)},
                    "unstable": unstable,
                }, indent=2,
            )
        )  # fmt: skip
    return 1 if strays.total() else 0


if __name__ == "__main__":
    sys.exit(main())
