"""Comments and flags on items that are not labelled yet, on disk like anything else that was typed."""

from __future__ import annotations

from cuecard.annotate.labelling.session_views import Draft, Target
from cuecard.tui.state.unsent import Unsent, UnsentFile

_WRONG = "gold_wrong"


class FileDrafts:
    """One small file for each item of `person` in the workspace at `url`."""

    def __init__(self, url: str, person: str) -> None:
        self._url, self._person = url, person

    def load(self, target: Target) -> Draft:
        kept = self._file(target).load()
        return Draft(comment=kept.text, gold_wrong=kept.mark == _WRONG) if kept else Draft()

    def save(self, target: Target, draft: Draft) -> None:
        mark = _WRONG if draft.gold_wrong else ""
        self._file(target).save(Unsent(turn=0, text=draft.comment, mark=mark))

    def _file(self, target: Target) -> UnsentFile:
        return UnsentFile(self._url, f"label/{self._person}/{target.trial_id}/{target.item.key}")
