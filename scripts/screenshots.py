"""Renew docs/screenshots/*.svg from the real app on a workspace that is made and played anew.

Run through `make screenshots`. The steps are what a newcomer would press.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

OUT = Path(__file__).parent.parent / "docs" / "screenshots"
SIZE = (120, 36)
OPEN_RUN = ("3", "settle", "enter", "settle", "settle")


async def seed(path: Path) -> int:
    """Three people, the sample tasks, one judged run; returns the run's id."""
    from cuecard.annotate.review.workflow import submit
    from cuecard.annotate.samples import import_samples
    from cuecard.core.evaluation.plans import RunPlan
    from cuecard.core.evaluation.runs import start_run
    from cuecard.store.workspace import Workspace

    with Workspace.open(path) as workspace:
        for name in ("Ana", "Ben", "Chen"):
            workspace.people.add(name)
        tasks = [revision.task_id for revision in import_samples(workspace, by="Ana")]
        for task_id in ("espresso", "graph-astronomy-zh"):
            submit(workspace, task_id, "Ana")
        review_twice(workspace, "graph-astronomy-zh")
        plan = RunPlan(tasks=tuple(tasks), name="baselines")
        outcome = await start_run(workspace, plan, by="Ana")
        return outcome.run.id


def seed_sessions(path: Path) -> None:
    """Four sessions of a person with two simulators that listened: one careful, one that errs."""
    from cuecard.store.workspace import Workspace

    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from fidelity_planted import planted

    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        planted(workspace)


def seed_results(path: Path) -> None:
    """A judged run of three agents of known skill, planted."""
    from cuecard.store.workspace import Workspace

    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from planted_results import plant

    with Workspace.open(path) as workspace:
        workspace.people.add("Ana")
        plant(workspace, "three agents", copies=4, samples=3)


def review_twice(workspace: Workspace, task_id: str) -> None:
    """Ben and Chen hand in their reviews: one fails the disclosure."""
    from cuecard.annotate.review.reviewing import review
    from cuecard.annotate.review.workflow import DIMENSIONS
    from cuecard.core.contributions import PinnedComment, ReviewDecision
    from cuecard.core.records import Review

    revision = workspace.tasks.revision(task_id)
    passed = {dimension.key: "pass" for dimension in DIMENSIONS[revision.task.family]}
    told = PinnedComment(
        place="persona.stages[2].line", text="这句台词已经说出了答案。", dimension="disclosure"
    )
    for person, failed, minutes in (("Ben", {"disclosure": "fail"}, 31), ("Chen", {}, 24)):
        given = Review(
            task_id=task_id,
            revision=revision.number,
            reviewer=person,
            ratings=passed | failed,
            decision=ReviewDecision.RETURN if failed else ReviewDecision.APPROVE,
            comments=(told,) if failed else (),
            seconds=minutes * 60,
            created_at=datetime.now(UTC),
        )
        review(workspace, given)


async def shoot(
    name: str, path: Path, person: str, steps: Callable[[object], Awaitable[None]], **more: str
) -> None:
    from cuecard.core.i18n import set_language
    from cuecard.tui.app import CuecardApp
    from cuecard.tui.preferences import Preferences
    from cuecard.tui.services import Services

    set_language("zh" if more.get("language") == "zh" else "en")
    app = CuecardApp(Services(f"sqlite:///{path}"), person, Preferences(**more))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await steps(pilot)
        await settle(pilot)
        app.save_screenshot(f"{name}.svg", path=str(OUT))
    print(f"{name}.svg")


async def settle(pilot: object) -> None:
    """Wait until nothing is loaded or drawn any more: four pictures alike, a minute at most."""
    alike, before = 0, ""
    for _ in range(400):
        await pilot.pause(0.15)  # type: ignore[attr-defined]
        now = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())  # type: ignore[attr-defined]
        alike, before = (alike + 1 if now == before else 0), now
        if alike == 4:
            return


def press(*keys: str) -> Callable[[object], Awaitable[None]]:
    async def steps(pilot: object) -> None:
        for key in keys:
            if key == "settle":
                await settle(pilot)
            else:
                await pilot.press(key)  # type: ignore[attr-defined]
                await pilot.pause(0.1)  # type: ignore[attr-defined]

    return steps


async def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    wanted = set(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "XDG_CONFIG_HOME": folder}
        path = Path(folder) / "cuecard.db"
        os.chdir(folder)
        await seed(path)
        down = ("down",) * 2
        shots: list[tuple[str, str, Callable[[object], Awaitable[None]], dict[str, str]]] = [
            ("home", "Ben", press(), {}),
            ("tasks", "Ana", press("2", "settle", *down), {}),
            ("task", "Ana", press("2", "settle", *down, "enter", "settle", "f4", "f4", "settle"), {}),
            ("task-graph", "Ana", press("2", "settle", *down, "enter", "settle", "f4", "f4", "f4", "settle"), {}),
            ("play", "Ana", press("2", "settle", *down, "p", "settle", "enter", *["settle"] * 3), {}),
            ("review", "Ben", press("4", "settle", "enter", "settle", *["down"] * 8, "tab", "y", "y"), {}),
            ("board", "Ana", press("full_stop", "b", "settle"), {}),
            ("qc", "Ana", press("2", "settle", *down, "q", "settle", *["down"] * 5, "settle"), {}),
            ("label", "Chen", press("5", "settle", "enter", "settle", "y", "y", "settle", "b", "settle", "h"), {}),
            ("agreement", "Chen", press("5", "settle", "enter", "settle", *"yynyuyy", "settle", "full_stop", "a"), {}),
            ("settings", "Ana", press("6", "settle"), {"theme": "cuecard-light"}),
        ]  # fmt: skip
        for name, person, steps, more in shots:
            if not wanted or name in wanted:
                await shoot(name, path, person, steps, **more)
        results = {
            "run": press(*OPEN_RUN, *["settle"] * 2),
            "compare": press(*OPEN_RUN, "w", *["settle"] * 3),
            "errors": press(*OPEN_RUN, "full_stop", "e", *["settle"] * 3),
            "plots": press(*OPEN_RUN, "full_stop", "g", *["settle"] * 3, "n", "n", "settle"),
            "trial": press(
                *OPEN_RUN, "v", "t", *["down"] * 40, "enter", *["settle"] * 2, "v", "g", "settle"
            ),
        }
        if not wanted or wanted & results.keys():
            planted = Path(folder) / "results.db"
            await asyncio.to_thread(seed_results, planted)
            for name, steps in results.items():
                if not wanted or name in wanted:
                    await shoot(name, planted, "Ana", steps)
        if not wanted or "tour" in wanted:
            from cuecard.annotate.study import STUDY_NAME, write_study

            study = write_study(Path(folder) / STUDY_NAME)
            steps = press(
                "T", "settle", "3", "settle", *["ctrl+w"] * 2, "settle", "enter", *["settle"] * 3
            )
            await shoot("tour", study, "Ana", steps)
        if not wanted or "fidelity" in wanted:
            sessions = Path(folder) / "sessions.db"
            seed_sessions(sessions)
            steps = press("5", "settle", "full_stop", "f", *["settle"] * 4, "v", "f", "n", "settle")
            await shoot("fidelity", sessions, "Ana", steps)


if __name__ == "__main__":
    asyncio.run(main())
