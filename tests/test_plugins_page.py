"""What docs/plugins.md shows is written beside a configuration and played."""

from __future__ import annotations

import re
from pathlib import Path

from cuecard.core.config import load_config
from cuecard.core.engine.events import ModelReplied, Termination, ToolAnswered
from cuecard.core.engine.players import PlayerNames, build_judge, build_players
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.engine.trial import TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.llm.hub import ModelHub
from cuecard.core.verdicts import Decision
from offline_trials import sample_tasks

PAGE = (Path(__file__).parent.parent / "docs" / "plugins.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.S | re.M)


async def test_the_examples_play_and_judge(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    (tmp_path / "cuecard.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    config = load_config(tmp_path / "cuecard.yaml")
    task = next(task for task in sample_tasks() if task.id == "facts-night-train")
    hub = ModelHub(config)
    players = build_players(
        task, PlayerNames(agent="mine", user="calm", world="shelf"), config, hub
    )
    assert [tool.name for tool in players.world.tools] == ["search", "python"]
    setup = TrialSetup(task=task, agent=players.agent, user=players.user, world=players.world)
    sink = MemorySink()
    result = await play(setup, TrialLog(sink))
    assert result.termination is Termination.USER_DONE, result.detail
    kinds = [type(event.body) for event in sink.events]
    assert kinds.count(ModelReplied) == 3
    assert kinds.count(ToolAnswered) == 6
    judged = await build_judge("strict", config, hub).judge(task, result.prediction, FreshCalls())
    assert [one.decision for one in judged.verdicts] == [Decision.YES]
    assert not players.agent.ref.baseline
    assert players.user.ref.baseline
