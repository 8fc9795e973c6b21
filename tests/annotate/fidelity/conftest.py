from __future__ import annotations

from typing import NamedTuple

import pytest

from cuecard.annotate.fidelity.inputs import FidelityInputs, Scope
from cuecard.annotate.fidelity.model import Fidelity
from cuecard.annotate.fidelity.report import gather, report_of
from cuecard.store.workspace import Workspace
from fidelity_planted import Planted, planted


class Reported(NamedTuple):
    planted: Planted
    inputs: FidelityInputs
    report: Fidelity


@pytest.fixture(scope="module")
def reported(shared_workspace: Workspace) -> Reported:
    sessions = planted(shared_workspace)
    inputs = gather(shared_workspace, Scope())
    return Reported(sessions, inputs, report_of(inputs, resamples=100))
