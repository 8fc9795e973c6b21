"""rdflib, which reads and writes RDF: an extra, imported when a file needs it."""

from __future__ import annotations

import logging
from typing import Any

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _


def rdflib() -> Any:
    """The library. Raises `CuecardError` where it is not installed."""
    try:
        import rdflib as library
    except ImportError as error:
        raise CuecardError(
            _("Turtle and JSON-LD need one more package"),
            "rdflib",
            _("Install it: pip install 'cuecard[rdf]'"),
        ) from error
    # It tells of odd addresses on stderr, where the app draws.
    logger = logging.getLogger("rdflib")
    if logger.propagate:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        # A number or a date is the text that stands in the file.
        library.NORMALIZE_LITERALS = False
    return library


def recording_graph() -> Any:
    """An empty graph that keeps in `said` what is added to it, in the order of the file: rdflib's own
    order changes from run to run. Raises `CuecardError`.
    """
    library = rdflib()

    class Recording(library.Graph):
        def __init__(self) -> None:
            super().__init__()
            self.said: dict[Any, None] = {}

        def add(self, triple: Any) -> Any:
            self.said.setdefault(triple)
            super().add(triple)
            return self

    graph: Any = Recording()
    return graph
