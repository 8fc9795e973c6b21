"""What one key leads to: building a second gold, or comparing those that are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.second_gold.comparing import second_golds
from cuecard.annotate.second_gold.eligibility import obstacle, refusal

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace
    from cuecard.tui.base import CuecardScreen


async def open_second_gold(screen: CuecardScreen[None], task_id: str) -> None:
    """Compare where there is something that the person may see, else build. Raises `NotAllowed` where
    neither is possible.
    """
    person, config = screen.person, await screen.services.config()

    def look(ws: Workspace) -> tuple[bool, str]:
        seen = second_golds(ws, task_id, person, config.review.coordinators)
        return bool(seen), "" if seen else obstacle(ws, task_id, person)

    seen, reason = await screen.services.ask(look)
    if seen:
        from cuecard.tui.screens.second_gold.compare import CompareGoldScreen

        screen.app.push_screen(CompareGoldScreen(task_id))
    elif reason:
        raise refusal(reason)
    else:
        from cuecard.tui.screens.second_gold.build import BuildGoldScreen

        screen.app.push_screen(BuildGoldScreen(task_id))
