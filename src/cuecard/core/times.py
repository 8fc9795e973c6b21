"""Times in words."""

from __future__ import annotations

from datetime import datetime, timedelta

from cuecard.core.i18n import _

IDLE = timedelta(minutes=5)
"""Of a longer pause between two events of a session, this much counts as time spent in it."""


def age(moment: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits: "now", "5 min", "3 h", "2 d"."""
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return _("now")
    if minutes < 60:
        return _("{n} min").format(n=minutes)
    if minutes < 48 * 60:
        return _("{n} h").format(n=minutes // 60)
    return _("{n} d").format(n=minutes // (24 * 60))


def time_left(until: datetime, now: datetime) -> str:
    """How long until then, in the largest unit that fits: "5 min left", "3 h left", "2 d left"."""
    minutes = max(int((until - now).total_seconds() // 60), 0)
    if minutes < 60:
        return _("{n} min left").format(n=minutes)
    if minutes < 48 * 60:
        return _("{n} h left").format(n=minutes // 60)
    return _("{n} d left").format(n=minutes // (24 * 60))


def stopwatch(seconds: float) -> str:
    """How long something took, as a clock would show it: "7 s", "3:05", "1:02:09"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return _("{n} s").format(n=whole)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def active(pause: timedelta) -> timedelta:
    """What of a pause between two events counts: people leave their sessions open overnight."""
    return min(max(pause, timedelta()), IDLE)
