"""Packs brought together in a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.annotate.sharing.reading import Pack, read_packs

if TYPE_CHECKING:
    from cuecard.store.shared import MergeReport
    from cuecard.store.workspace import Workspace


def merge_files(
    workspace: Workspace, paths: Sequence[Path], by: str, *, dry: bool = False
) -> MergeReport:
    """Take what these packs hold, all of it or none; with `dry` only say what that would do. Merging is
    a union by uid: again, in another order, one by one or together, it comes to the same.

    Raises `FileProblems` with everything that is wrong with any of the files.
    """
    return merge_packs(workspace, read_packs(paths), by, dry=dry)


def speaks_for_others(pack: Pack) -> bool:
    """Whether it holds revisions that somebody else than who packed it is said to have saved."""
    return any(
        signature.author != pack.header.person
        for revision in pack.parcel.revisions
        for signature in revision.signatures
    )


def merge_packs(
    workspace: Workspace, packs: Sequence[Pack], by: str, *, dry: bool = False
) -> MergeReport:
    """As `merge_files`, for packs that were read and checked."""
    return workspace.exchange.take([pack.parcel for pack in packs], by=by, dry=dry)
