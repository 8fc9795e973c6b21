"""What a good task of a family is, as Markdown: the embedded guidelines, or a team's own file."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from cuecard.core.config_models import Config
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import Language, _
from cuecard.core.tasks import Family
from cuecard.core.text import for_display

_MAX_BYTES = 1024 * 1024


def guidelines(family: Family, language: Language, config: Config | None = None) -> str:
    """The guidelines for authors who read `language`. A file that the configuration names stands in
    their place, whatever the family. Raises `CuecardError`.
    """
    if config is not None and config.guidelines:
        return _own(Path(config.guidelines))
    folder = resources.files("cuecard") / "guidelines"
    parts = [
        (folder / f"{name}.{language}.md").read_text(encoding="utf-8")
        for name in (family, "general")
    ]
    return "\n".join(parts)


def _own(path: Path) -> str:
    title = _("The guidelines cannot be read")
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CuecardError(title, _("{file} is larger than 1 MB").format(file=path))
        return for_display(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CuecardError(title, _("{file} is not UTF-8 text").format(file=path)) from error
    except OSError as error:
        raise CuecardError(title, f"{path}: {error.strerror or error}") from error
