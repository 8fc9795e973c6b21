from __future__ import annotations

from typing import NamedTuple

import pytest

from cuecard.annotate.fidelity.gathering import gather
from cuecard.annotate.fidelity.material import Material, Scope
from cuecard.annotate.fidelity.model import Fidelity
from cuecard.annotate.fidelity.report import report_of
from cuecard.store.workspace import Workspace
from fidelity_planted import Planted, planted


class Reported(NamedTuple):
    planted: Planted
    material: Material
    report: Fidelity


@pytest.fixture(scope="module")
def reported(shared_workspace: Workspace) -> Reported:
    sessions = planted(shared_workspace)
    material = gather(shared_workspace, Scope())
    return Reported(sessions, material, report_of(material, resamples=100))
