"""Parcels put into a workspace: the union of what was there and what came, by uid."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import batched
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, func, select

from cuecard.core.review import Clash, Contribution, Standing, TaskState, standing_of
from cuecard.store.codec import pack
from cuecard.store.origins import origins_text
from cuecard.store.people import ensure_person
from cuecard.store.shared import (
    Arrived,
    LeftOut,
    MergeReport,
    Moved,
    Parcel,
    SharedEffort,
    SharedLabel,
    SharedRevision,
    Signature,
)
from cuecard.store.standing import contribution_values, load_logs, refold
from cuecard.store.tables import (
    ContentRow,
    ContributionRow,
    CosignRow,
    EffortRow,
    LabelRow,
    PersonRow,
    RevisionRow,
    TaskRow,
    TrialRow,
    VerdictRow,
)
