"""The review protocol: the dimensions rated in each family, their version, and how long a claim holds."""

from __future__ import annotations

import hashlib
import json
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from cuecard.annotate.families.registry import ANNOTATE, Dimension
from cuecard.core.contributions import OnSplit
from cuecard.core.tasks.models import FAMILIES, Family

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config


DIMENSIONS = ANNOTATE.each(lambda family: family.dimensions)


_STAMP_DIGITS = 8


@dataclass(frozen=True)
class Protocol:
    """How tasks are reviewed. `by_family`: the dimensions; `spot_check`: how many gold items each reviewer must check;
    `lease`: how long a claim holds; `coordinators` assign, and therefore do not review.
    """

    version: str = "1"
    by_family: Mapping[Family, tuple[Dimension, ...]] = field(
        default_factory=lambda: MappingProxyType(DIMENSIONS)
    )
    spot_check: int = 5
    on_split: OnSplit = "return"
    lease: timedelta = timedelta(hours=72)
    coordinators: frozenset[str] = frozenset()

    def dimensions(self, family: Family) -> tuple[Dimension, ...]:
        return self.by_family[family]

    @cached_property
    def stamp(self) -> str:
        """An identifier of the protocol in records, such as `1-9f2c01ab`: the version, and a hash over the dimensions
        of all families, which shows changes without a new version.
        """
        asked = [
            [family, [[d.key, d.label, d.help] for d in self.by_family[family]]]
            for family in FAMILIES
        ]
        canonical = json.dumps(asked, separators=(",", ":"))
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        return f"{self.version}-{digest[:_STAMP_DIGITS]}"


EMBEDDED_PROTOCOL = Protocol()


def protocol_of(config: Config) -> Protocol:
    """The protocol of a configuration; families it does not mention have the embedded dimensions."""
    chosen = config.review
    own = {
        family: tuple(Dimension(d.key, d.label, d.help) for d in dimensions)
        for family, dimensions in chosen.dimensions.items()
    }
    # Those that are embedded stay unread until they are asked for: Home asks for none.
    families = ChainMap(own, cast("MutableMapping[Family, tuple[Dimension, ...]]", DIMENSIONS))
    return Protocol(
        version=chosen.version,
        by_family=MappingProxyType(families),
        spot_check=chosen.spot_check,
        on_split=chosen.on_split,
        lease=timedelta(hours=chosen.lease_hours),
        coordinators=frozenset(chosen.coordinators),
    )
