"""Filters that a person keeps under a name, for each list of a workspace: its words, its order, and what else narrows it.

What a list offers beside words and order, such as one state only, is asked of the nearest screen or pane around it that
is `ExtraFilter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from cuecard.core.i18n import _
from cuecard.core.text import for_display, one_line
from cuecard.tui.app import CuecardApp, guarded
from cuecard.tui.present.keyboard import hint

if TYPE_CHECKING:
    from cuecard.tui.kit.lists import ListView

Kept = dict[str, Any]
"""`words`, `sort` (the title of a column), `down`, and `more`: what stands around the list says."""
_MAX_NAME = 40


@runtime_checkable
class ExtraFilter(Protocol):
    """What narrows a list beside the words that are typed. All values can be written as JSON; false ones narrow nothing."""

    def narrowed_by(self) -> Mapping[str, Any]:
        """Empty: nothing but words ever narrows it."""
        ...

    def narrow(self, by: Mapping[str, Any]) -> None:
        """Narrow the list by what `narrowed_by` gave once; of another version, so far as it is understood."""
        ...


def around(view: ListView[Any]) -> ExtraFilter | None:
    """What narrows this list beside its words."""
    found = next((node for node in view.ancestors if isinstance(node, ExtraFilter)), None)
    return found if found is not None and found.narrowed_by() else None


def _key(view: ListView[Any]) -> str:
    app = cast(CuecardApp, view.app)
    screen = type(view.screen).__name__
    part = f".{view.id}" if view.id not in (None, "list") else ""
    return f"filters {app.services.url} {app.person} {screen}{part}"


def kept_filters(view: ListView[Any]) -> dict[str, Kept]:
    """Those of this list, by name."""
    forms = cast(CuecardApp, view.app).preferences.forms.get(_key(view), {})
    return {name: cast(Kept, each) for name, each in forms.items() if isinstance(each, dict)}


def _write(view: ListView[Any], filters: dict[str, Kept]) -> None:
    preferences = cast(CuecardApp, view.app).preferences
    preferences.forms[_key(view)] = dict(filters)
    preferences.save()


def _now(view: ListView[Any]) -> Kept:
    host = around(view)
    return {**view.narrowing, "more": dict(host.narrowed_by()) if host is not None else {}}


def _active(kept: Kept) -> bool:
    return bool(kept["words"] or kept["sort"] or any(kept["more"].values()))


def _told(kept: Kept) -> str:
    """What it does, in a few words."""
    more = kept.get("more")
    narrowed = cast(Mapping[str, Any], more).items() if isinstance(more, dict) else ()
    said = [f"/ {kept['words']}"] if kept.get("words") else []
    said += [_word(name, value) for name, value in narrowed if isinstance(value, str) and value]
    if kept.get("sort"):
        said.append(f"{'▼' if kept.get('down') else '▲'} {_(str(kept['sort']))}")
    return for_display(one_line(" · ".join(said), 60))


def _word(name: str, value: str) -> str:
    """What a list calls this value of what narrows it."""
    from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL, TASK_STATE
    from cuecard.tui.present.run_trials import SHOW_WORDS
    from cuecard.tui.present.verdicts import MINE

    if name in ("state", "family"):
        return _((TASK_STATE if name == "state" else FAMILY).get(value, ("", "", value))[2])
    words: dict[str, Mapping[Any, str]] = {
        "language": LANGUAGE_LABEL,
        "kind": SHOW_WORDS,
        "mine": MINE,
    }
    return _(words.get(name, {}).get(value, value))


@guarded("filters")
async def choose_filter(view: ListView[Any]) -> None:
    """Let the person choose a filter that was kept, keep the one that is on, or forget one."""
    from cuecard.tui.screens.dialogs import ChoiceDialog

    app, filters, now = cast(CuecardApp, view.app), kept_filters(view), _now(view)
    if not filters:
        if _active(now):
            await _keep(view, filters, now)
        else:
            told = _(
                "Nothing is filtered. {FILTER} filters; {FILTERS} then keeps that under a name."
            )
            keys = view.screen.active_bindings.values()
            words = any(key.binding.action == "filter" for key in keys)
            app.tell(hint(told if words else told.replace("{FILTER}", "{ONLY}")))
        return
    options = _options(filters)
    if _active(now):
        options.append((" keep", "k", _("Keep the filter that is on…")))
    options += [(" rename", "e", _("Rename one…")), (" forget", "d", _("Forget one…"))]
    chosen = await app.push_screen_wait(ChoiceDialog(_("Filters"), "", options))
    if chosen == " keep":
        await _keep(view, filters, now)
    elif chosen in (" rename", " forget"):
        title = _("Forget a filter") if chosen == " forget" else _("Rename a filter")
        out = await app.push_screen_wait(ChoiceDialog(title, "", _options(filters)))
        if out is None:
            return
        name = list(filters)[int(out)]
        others = {each: kept for each, kept in filters.items() if each != name}
        if chosen == " forget":
            _write(view, others)
            app.tell(_("The filter “{name}” is forgotten.").format(name=name))
        elif new := await _ask_name(view, _told(filters[name]), name):
            _write(view, {**others, new: filters[name]})
    elif chosen is not None:
        kept = filters[list(filters)[int(chosen)]]
        if (host := around(view)) is not None and isinstance(kept.get("more"), dict):
            host.narrow(kept["more"])
        view.narrow(kept)


def _options(filters: Mapping[str, Kept]) -> list[tuple[str, str, str]]:
    return [
        (str(at), str(at + 1) if at < 9 else "", "  ·  ".join(filter(None, (name, _told(kept)))))
        for at, (name, kept) in enumerate(filters.items())
    ]


async def _keep(view: ListView[Any], filters: dict[str, Kept], now: Kept) -> None:
    if name := await _ask_name(view, _told(now), now["words"] or now["more"].get("text", "")):
        _write(view, {**filters, name: now})
        told = hint(_("{FILTERS} chooses “{name}” from now on."), name=name)
        cast(CuecardApp, view.app).tell(told)


async def _ask_name(view: ListView[Any], told: str, name: str) -> str:
    """The name of a filter that does what is `told`; "" where none was given."""
    from cuecard.tui.screens.dialogs import AskLine

    rule = _("One of this name is replaced. Filters are yours, and of this list.")
    text, value = "\n".join(filter(None, (told, rule))), one_line(name, _MAX_NAME)
    dialog = AskLine(_("Name of the filter"), text, button=_("Save"), value=value)
    given = await view.app.push_screen_wait(dialog) or ""
    return for_display(one_line(given.strip(), _MAX_NAME))
