"""What an author has looked at and means to leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuecard.annotate.lint.codes import may_silence
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import Silenced


def silence(
    findings: Iterable[Finding], silences: Iterable[Silenced], *, complete: bool = True
) -> Iterator[Finding]:
    """The findings, those that a silence names with its reason. With `complete`, a silence that names
    none is a finding of its own (L044); in a draft what it names may only be unfinished.
    """
    reasons = {(silenced.code, silenced.about): silenced.reason for silenced in silences}
    used: set[tuple[str, str]] = set()
    for finding in findings:
        key = (finding.code, finding.about)
        if key in reasons and may_silence(finding.code, finding.severity):
            used.add(key)
            yield finding.model_copy(update={"silenced": reasons[key] or _("no reason given")})
        else:
            yield finding
    if not complete:
        return
    for index, silenced in enumerate(silences):
        if (silenced.code, silenced.about) not in used:
            yield warning(
                "L044",
                f"silenced[{index}]",
                _("nothing is found that {code} about “{about}” would silence").format(
                    code=silenced.code, about=silenced.about
                ),
                _("Remove the silence."),
                f"{silenced.code}: {silenced.about}",
            )
