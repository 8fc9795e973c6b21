"""The tab of stages."""

from __future__ import annotations

from cuecard.tui.screens.task.stages.pane import StagesPane

__all__ = ["StagesPane"]
