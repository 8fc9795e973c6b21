"""Broken JSON, such as models write it, repaired in a bounded number of steps."""

from typing import SupportsIndex, cast

MAX_LENGTH = 400_000
_STEPS = 50_000
_STEPS_A_CHARACTER = 6


def repair(text: str) -> object:
    """The value of broken JSON; None if it cannot be repaired, is longer than `MAX_LENGTH` characters, or takes more steps
    than are allowed.
    """
    if len(text) > MAX_LENGTH:
        return None
    from json_repair import repair_json

    try:
        return cast(
            object, repair_json(_Metered.of(text), return_objects=True, skip_json_loads=True)
        )
    except (
        ValueError,
        ArithmeticError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        _UsedUp,
    ):
        # json-repair fails on some texts with an exception; then nothing is repaired.
        return None


class _UsedUp(Exception):
    """Repairing took more steps than are allowed."""


class _Metered(str):
    """A text that can be indexed a limited number of times, since repairing some texts takes time quadratic in their
    length and could not be stopped otherwise.
    """

    _meter: list[int]

    @classmethod
    def of(cls, text: str, meter: list[int] | None = None) -> "_Metered":
        metered = cls(text)
        metered._meter = meter or [_STEPS + _STEPS_A_CHARACTER * len(text)]
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        self._meter[0] -= 1 + len(found) // 64
        if self._meter[0] < 0:
            raise _UsedUp
        return self.of(found, self._meter) if isinstance(key, slice) else found

    def __add__(self, other: str) -> str:
        return self.of(super().__add__(other), self._meter)
