"""The prompts that calls were made with, by hash."""

from __future__ import annotations

from cuecard.store.engine import Database
from cuecard.store.event_codec import hash_of
from cuecard.store.payloads import Shelf, read_payloads, write_payloads


class KeptPrompts:
    """A prompt is a payload like others: it stands under the hash of its text."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: set[str] = set()

    def keep(self, digest: str, text: str) -> None:
        """Keep a prompt's text under its hash; quick if it is there. Raises `ValueError` if the hash
        is another text's.
        """
        if digest in self._kept:
            return
        content = text.encode()
        if hash_of(content) != digest:
            raise ValueError(f"this is not the hash of the prompt: {digest}")
        ready = Shelf(self._database).ready([(0, (digest, content))])
        if ready.rows:
            with self._database.connection() as connection:
                write_payloads(connection, ready)
        self._kept.add(digest)

    def get(self, digest: str) -> str:
        """Raises `NotFound`."""
        with self._database.read() as session:
            return read_payloads(session.connection(), [digest])[digest].decode()
