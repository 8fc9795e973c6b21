"""The prompts that calls were made with, by hash; those that Cuecard brings are known by name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.core.i18n import _
from cuecard.core.prompts import load_prompt, prompt_names
from cuecard.core.tasks import TaskLanguage
from cuecard.results.pool import Pool
from cuecard.results.report.words import PAYER
from cuecard.store.result_records import PromptUse

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def prompts_sheet(workspace: Workspace, pool: Pool) -> Sheet | None:
    """Each prompt with who used it for how many calls; None where no call has one."""
    calls: Counter[tuple[str, str, str]] = Counter()
    for run in pool.runs:
        for use in workspace.prompts.used(run.id):
            calls[use.payer, _player(use), use.hash] += use.calls
    if not calls:
        return None
    names = _embedded()
    return Sheet(
        view="results",
        title=_("Prompts"),
        headings=(_("Used by"), _("for"), _("prompt"), _("calls"), _("hash (SHA-256)")),
        lines=tuple(
            (
                Cell(player),
                Cell(_(PAYER[payer]) if payer in PAYER else payer),
                Cell(names.get(digest, _("a prompt of the project's own"))),
                Cell(f"{n:,}"),
                Cell(digest),
            )
            for (payer, player, digest), n in sorted(calls.items())
        ),
        notes=(
            _("Calls of all takes. The hash is of the prompt's text before anything is put in."),
        ),
    )


def _player(use: PromptUse) -> str:
    return use.player if use.payer in ("agent", "conclusion", "judge") else "–"


def _embedded() -> dict[str, str]:
    """Name and language by hash."""
    return {
        load_prompt(name, language).hash: f"{name}.{language}"
        for name in sorted(prompt_names())
        for language in get_args(TaskLanguage)
    }
