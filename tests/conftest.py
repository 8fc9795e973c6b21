"""What every test begins with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cuecard.core import scrubbing


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests() -> Iterator[None]:
    """Secrets are this process's: those of one test would be looked for, and held back in streams, in the next."""
    yield
    scrubbing._guarded.clear()
    scrubbing._current = scrubbing.Scrubber()
