"""A team of 12 works on 200 tasks for three rounds: in one database, and in 12 with packed files going around.

python bench/team.py [TASKS [ROUNDS [SEED]]]      200 tasks, 3 rounds, seed 5; some minutes

Every step of every task is checked against the table of transitions after each sitting. In the end the
twelve databases must hold the same entries, and states, histories, leases, what each person may see, all
figures and the datasheet must equal those of the one database. Exit code 1 where they do not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from apart import fresh, picture
from cuecard.annotate.quality.datasheet import datasheet_of
from cuecard.annotate.review.figures import DECISION, figures_of
from cuecard.core.review import standing_of
from cuecard.store.workspace import Workspace
from team_account import account, check_lawful
from team_cast import ManyDatabases, OneDatabase, Team
from team_play import Play

VIEWERS = 4


def main(tasks: int, rounds: int, seed: int) -> int:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        folder = Path(name)
        team = Team.of(3)
        with fresh(folder / "all.db") as workspace:

            def lawful(step: str) -> None:
                for log in workspace.reviews.logs().values():
                    check_lawful(standing_of(log).history)

            one = Play(OneDatabase(workspace), team, tasks, rounds, seed, after=lawful)
            seconds = timed(one)
            tell(workspace, one, seconds)
            many = ManyDatabases(folder, team.names)
            try:
                other = Play(many, team, tasks, rounds, seed)
                seconds = timed(other)
                print(
                    f"apart: {len(team.names)} databases, {len(many.posted)} packs, {other.acts} acts"
                    f" in {seconds:.0f} s",
                    flush=True,
                )
                differences = compare(workspace, one, many, other)
            finally:
                many.close()
    print("\n".join(differences) or "apart and together: identical")
    return 1 if differences else 0


def timed(play: Play) -> float:
    begun = time.monotonic()
    play.run()
    return time.monotonic() - begun


def tell(workspace: Workspace, play: Play, seconds: float) -> None:
    logs = workspace.reviews.logs()
    standings = [standing_of(log) for log in logs.values()]
    print(f"together: {len(play.team.names)} people, {play.acts} acts in {seconds:.0f} s")
    print("states:", dict(Counter(standing.state.value for standing in standings)))
    moves = Counter(move.action.value for s in standings for move in s.history)
    print("steps:", dict(moves))
    print(
        "entries:", dict(Counter(e.body.kind for log in logs.values() for e in log.contributions))
    )
    print("clashes:", sum(len(standing.clashes) for standing in standings))
    decision = figures_of(logs).overall.on(DECISION)
    for statistic in decision.statistics if decision else ():
        low, high = statistic.low or 0, statistic.high or 0
        print(f"{statistic.name}: {statistic.value:.3f} [{low:.3f}, {high:.3f}], n = {statistic.n}")


def compare(workspace: Workspace, one: Play, many: ManyDatabases, other: Play) -> list[str]:
    differences: list[str] = []
    people = one.team.names
    wanted = account(workspace, people[:VIEWERS], one.clock.now)
    sheet = datasheet_of(workspace, at=one.clock.now)
    figures = figures_of(workspace.reviews.logs())
    first = picture(many.at(people[0]))
    for person in people:
        copy = many.at(person)
        if picture(copy) != first:
            differences.append(f"{person} holds other entries than {people[0]}")
        if datasheet_of(copy, at=one.clock.now) != sheet:
            differences.append(f"{person}: another datasheet")
        if figures_of(copy.reviews.logs()) != figures:
            differences.append(f"{person}: other figures")
    found = account(many.at(people[-1]), people[:VIEWERS], other.clock.now)
    differences += [f"{key} differs" for key in wanted if wanted[key] != found.get(key)]
    if other.acts != one.acts:
        differences.append(f"{other.acts} acts apart, {one.acts} together")
    return differences


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [200, 3, 5][len(given) :])))
