"""Where parts of a task came from, when no person typed them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.tasks.base import Frozen, Name

OriginKind = Literal["persona", "triples", "checkpoints", "facts", "translation"]


class Origin(Frozen):
    """Something a machine drafted and the author accepted. `by`: the model's name;
    `items`: how many items were accepted; `prompt`: hash of the prompt, empty without one.
    """

    kind: OriginKind
    by: Name
    items: Annotated[int, Field(ge=1)]
    prompt: str = ""
    at: datetime
