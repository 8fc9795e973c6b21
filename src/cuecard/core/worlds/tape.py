"""What a run recorded of its worlds: tool calls and their answers, to be played again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from cuecard.core.parts import ToolAnswer, ToolCall


class Tape(Protocol):
    """Recorded answers. The same call may have been made several times, with several answers."""

    def answers(self, call: ToolCall) -> Iterable[ToolAnswer]:
        """Every recorded answer to this call (same name, same arguments), oldest first."""
        ...
