"""How long somebody really works on a task: idle time left out."""

from __future__ import annotations

from dataclasses import dataclass, field

IDLE = 60.0
PORTION = 30.0


@dataclass
class WorkedTime:
    """Seconds of work between keys. `IDLE` seconds without a key end a stretch with its last key, so
    that neither the pause nor a single key counts. Moments come from any clock that only goes
    forward.
    """

    idle: float = IDLE
    portion: float = PORTION
    _last: float | None = field(default=None, init=False)
    _owed: float = field(default=0.0, init=False)

    def key(self, now: float) -> float:
        """A key was pressed. Returns the seconds that are to be recorded now, 0 until a `portion` has
        come together: what a crash loses.
        """
        if self._last is not None and 0 <= now - self._last <= self.idle:
            self._owed += now - self._last
        self._last = now
        return self._take() if self._owed >= self.portion else 0.0

    def rest(self) -> float:
        """The work is interrupted or over. Returns the seconds that are not recorded yet."""
        self._last = None
        return self._take()

    def give_back(self, seconds: float) -> None:
        """What could not be recorded; it comes with the next portion."""
        self._owed += seconds

    def _take(self) -> float:
        owed, self._owed = self._owed, 0.0
        return owed
