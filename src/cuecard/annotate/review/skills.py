"""What people say that they review: languages and domains, none meaning any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, get_args

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.review import SkillsSet
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import for_display, one_line, storable

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

LANGUAGES: tuple[str, ...] = get_args(TaskLanguage)
_MOST, _LONGEST = 40, 80


def set_skills(
    workspace: Workspace, person: str, languages: Sequence[str], domains: Sequence[str]
) -> SkillsSet:
    """Keep what `person` reviews from now on; all languages are kept as none. Nothing is added where
    they said so already. Raises `CuecardError` for what cannot be a language or domain.
    """
    spoken = tuple(language for language in LANGUAGES if language in languages)
    if unknown := sorted(set(languages) - set(LANGUAGES)):
        raise CuecardError(
            _("There is no such language"),
            ", ".join(unknown),
            _("Tasks are in one of {names}.").format(names=", ".join(LANGUAGES)),
        )
    wanted = SkillsSet(
        languages=() if len(spoken) == len(LANGUAGES) else spoken, domains=_named(domains)
    )
    before = workspace.reviews.skills().get(person, SkillsSet())
    if wanted != before:
        workspace.reviews.set_skills(person, wanted.languages, wanted.domains)
    return wanted


def parse_domains(text: str) -> tuple[str, ...]:
    """Domains from a line in which commas stand between them."""
    for comma in "，、;；":
        text = text.replace(comma, ",")
    return _named(text.split(","))


def domains_in(workspace: Workspace) -> tuple[str, ...]:
    """The domains of the tasks in use, sorted."""
    return tuple(sorted({task.domain for task in workspace.tasks.summaries() if task.domain}))


def _named(domains: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for domain in domains:
        name = one_line(for_display(storable(domain)), _LONGEST)
        if name:
            found.setdefault(name.casefold(), name)
    if len(found) > _MOST:
        raise CuecardError(
            _("Too many domains"), hint=_("Name at most {n}, or none for any.").format(n=_MOST)
        )
    return tuple(found.values())
