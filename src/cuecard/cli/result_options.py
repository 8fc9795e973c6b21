"""What the commands about results have in common: runs, judges, and which trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.results.pool import Dimension, Pool
    from cuecard.store.workspace import Workspace


def pool_of(
    workspace: Workspace,
    runs: Sequence[int],
    judges: Sequence[str] = (),
    only: Sequence[str] = (),
    *,
    all_judges: bool = False,
) -> Pool:
    """The runs' trials, of them those that `only` names (`language=zh`; several values of a dimension: any of them).
    `all_judges`: by every judge that judged one of them, if none is named. Raises `NotFound`, `NotAllowed`.
    """
    from cuecard.results.pool import gather
    from cuecard.results.score_table import filtered

    named = tuple(judges)
    if all_judges and not named:
        heads = [head for run in runs for head in workspace.verdicts.heads(run)]
        named = tuple(sorted({head.judge.name for head in heads}))
    return filtered(gather(workspace, runs, named), wanted_of(only))


def wanted_of(only: Sequence[str]) -> dict[Dimension, list[str]]:
    """Values by dimension. Raises `NotFound` for a dimension there is not, `NotAllowed` without a value."""
    from cuecard.results.comparing import dimension_named

    wanted: dict[Dimension, list[str]] = {}
    for text in only:
        name, sign, value = text.partition("=")
        if not sign:
            raise NotAllowed(
                _("{text} names no value").format(text=text),
                hint=_("Write it like this: language=zh."),
            )
        wanted.setdefault(dimension_named(name.strip()), []).append(value.strip())
    return wanted
