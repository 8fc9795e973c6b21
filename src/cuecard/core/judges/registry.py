"""From a judge's name in the configuration to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.config_players import LexicalJudgeConfig, ModelJudgeConfig

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.parts import Judge


def build_judge(name: str, config: Config, hub: ModelHub) -> Judge:
    """The judge called `name`. Raises `ConfigError`."""
    match config.judge(name):
        case LexicalJudgeConfig():
            from cuecard.core.judges.lexical import LexicalJudge

            return LexicalJudge()
        case ModelJudgeConfig() as judge:
            from cuecard.core.judges.model import model_judge

            return model_judge(name, judge, config, hub.client(judge.model))
