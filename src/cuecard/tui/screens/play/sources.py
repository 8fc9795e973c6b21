"""The pages behind a dialogue, to be searched, read and opened."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.sources import Source


class SourcesDialog(CuecardDialog[None]):
    """Takes what `sources_of(events)` gives. Typing filters, Enter shows the text that was seen, ^o opens
    the page in the browser.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        super().__init__()
        self._sources = list(sources)
