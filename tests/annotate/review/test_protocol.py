"""The protocol as configuration."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

from cuecard.annotate.review.protocol import DIMENSIONS, EMBEDDED_PROTOCOL, protocol_of
from cuecard.core.config_schema import Config, DimensionConfig, ReviewConfig


def test_without_a_configuration_the_protocol_is_the_embedded_one() -> None:
    protocol = protocol_of(Config())
    assert protocol.stamp == EMBEDDED_PROTOCOL.stamp
    assert protocol.stamp.startswith("1-")
    assert all(protocol.dimensions(family) == DIMENSIONS[family] for family in DIMENSIONS)


def test_a_family_that_is_configured_replaces_its_dimensions_and_changes_the_stamp() -> None:
    own = DimensionConfig(key="clarity", label="Is it clear?")
    config = Config(
        review=ReviewConfig(
            version="2026-1", dimensions={"facts": (own,)}, lease_hours=24, coordinators=("Cleo",)
        )
    )
    protocol = protocol_of(config)
    assert [(d.key, d.label, d.help) for d in protocol.dimensions("facts")] == [
        ("clarity", "Is it clear?", "")
    ]
    assert protocol.dimensions("graph") == DIMENSIONS["graph"]
    assert protocol.lease == timedelta(hours=24)
    assert protocol.coordinators == {"Cleo"}
    version, _dash, digest = protocol.stamp.rpartition("-")
    assert version == "2026-1"
    assert digest != EMBEDDED_PROTOCOL.stamp.rpartition("-")[2]
    # The hash is over what is rated, so a list that changed under an old version shows.
    same = protocol_of(config.model_copy(update={"review": ReviewConfig()}))
    assert same.stamp == EMBEDDED_PROTOCOL.stamp


def test_the_protocol_is_known_without_loading_what_linters_and_results_know_of_families() -> None:
    asked = (
        "import sys; from cuecard.core.config_schema import Config;"
        "from cuecard.annotate.review.protocol import protocol_of; protocol_of(Config());"
        "print(*(name for name in sys.modules if '.annotate.lint' in name or '.results' in name))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert not done.stdout.strip()
