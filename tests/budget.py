"""How many examples hypothesis draws for a property."""

import os

_SHARE = float(os.environ.get("CUECARD_EXAMPLES", "0.25"))
_ENOUGH = 10
"""With 5, a carriage return that GraphML lost was found in two runs of three."""


def examples(many: int) -> int:
    """A quarter of `many`, but at least 10 where it is more: hypothesis draws others in every run, so that runs add up.
    With CUECARD_EXAMPLES=1 they are `many`, with 10 ten times as many, for who changed what a property is about.
    """
    return max(min(many, _ENOUGH), round(many * _SHARE))
