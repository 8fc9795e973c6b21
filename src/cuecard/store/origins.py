"""What a machine drafted, as a column: JSON text of a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from cuecard.core.tasks import Origin
from cuecard.store.codec import from_json, to_json


def origins_text(origins: Iterable[Origin]) -> str:
    return to_json([origin.model_dump(mode="json") for origin in origins]).decode()


def origins_in(text: str) -> tuple[Origin, ...]:
    """What `origins_text` was given."""
    if text == "[]":
        return ()
    return tuple(Origin.model_validate(item) for item in cast(list[object], from_json(text)))
