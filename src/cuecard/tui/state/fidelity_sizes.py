"""How many sessions a correlation takes, said of numbers as they are typed."""

from __future__ import annotations

from math import ceil

from cuecard.annotate.fidelity.power import detectable, sessions_needed
from cuecard.core.i18n import _


def sizes_lines(
    size: str, power: str, alpha: str, sessions: int, effect: float | None
) -> list[str]:
    """What it takes, then what the `sessions` that there are can find; or what is wrong with a number."""
    try:
        numbers = [float(text.strip().replace(",", ".")) for text in (size, power, alpha)]
        wanted, chance, alarm = numbers
        needed = [sessions_needed(wanted, chance, alarm, kind) for kind in ("spearman", "kendall")]
    except (ValueError, OverflowError):
        return [_("Each of the three lies between 0 and 1, such as 0.3.")]
    lines = [
        _("Spearman's rho of {size:g}: {n} independent sessions.").format(
            size=wanted, n=f"{needed[0]:,}"
        ),
        _("Kendall's tau of {size:g}: {n} independent sessions.").format(
            size=wanted, n=f"{needed[1]:,}"
        ),
    ]
    if effect is not None and effect > 1:
        lines.append(
            _(
                "Sessions of one task are alike here: like this, it takes {times:.2f} times as many, {n} for"
                " Spearman."
            ).format(times=effect, n=f"{ceil(needed[0] * effect):,}")
        )
    if sessions:
        least = detectable(sessions, chance, alarm)
        lines.append(
            _("The {n} scored sessions that there are find a rho of {least:.2f} or more.").format(
                n=f"{sessions:,}", least=least
            )
            if least is not None
            else _("The {n} scored sessions here are too few for any.").format(n=f"{sessions:,}")
        )
    return lines
