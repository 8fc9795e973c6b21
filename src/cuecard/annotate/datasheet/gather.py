"""All sections of a datasheet together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard import __version__
from cuecard.annotate.datasheet import agreement, counts, removals, rounds
from cuecard.annotate.datasheet.material import Material, read_material
from cuecard.annotate.datasheet.model import Datasheet
from cuecard.annotate.datasheet.people import Masks
from cuecard.annotate.review.figures import figures_of
from cuecard.annotate.review.protocol import EMBEDDED_PROTOCOL, Protocol
from cuecard.core.tasks import FAMILIES

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def datasheet_of(
    workspace: Workspace,
    *,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    named: bool = False,
    at: datetime | None = None,
) -> Datasheet:
    """The workspace as it stands. `named`: with people's real names instead of P1, P2, …"""
    return describe(
        read_material(workspace), protocol=protocol, named=named, at=at or datetime.now(UTC)
    )


def describe(
    material: Material,
    *,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    named: bool = False,
    at: datetime,
) -> Datasheet:
    """Rounds that wait for a review add no more than their number, whoever asks."""
    decided = list(material.rounds())
    did = rounds.active_people(material, decided)
    masks = Masks(did, material.people, named=named)
    keys = dict.fromkeys(d.key for f in FAMILIES for d in protocol.dimensions(f))
    report = figures_of(material.logs, dimensions=list(keys))
    retired = removals.retired_tasks(material, masks)
    return Datasheet(
        program=__version__,
        made_at=at,
        named=named,
        tasks=counts.task_figures(material),
        release=counts.release_of(material),
        people=rounds.person_lines(did, masks),
        protocols=rounds.protocol_lines(decided, protocol),
        dimensions=rounds.dimension_lines(material, protocol),
        rounds=rounds.round_figures(material, decided, report),
        ratings=rounds.rating_lines(decided),
        agreement=report.overall.agreement,
        pairs=agreement.pair_lines(report, masks),
        golds=agreement.gold_figures(material),
        retired=retired,
        removal_reasons=removals.removal_reasons(retired),
        effort=counts.effort_lines(material),
        sources=counts.source_figures(material),
        qc=removals.qc_figures(material),
    )
