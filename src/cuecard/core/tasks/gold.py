"""The interface of gold answers of every family, and the registry of families.

A family is known from the moment its class of gold is registered: `Task.gold` then accepts data with its `family`.
How it is played, judged, scored and shown is registered separately; see `core.families.registry`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar, Union, cast, overload

from pydantic import AfterValidator, BaseModel, Field, PlainValidator, SerializeAsAny, TypeAdapter
from pydantic_core import PydanticKnownError

from cuecard.core.i18n import _
from cuecard.core.plugins import imported, load, registered
from cuecard.core.tasks import SHIPPED

GROUP = "cuecard.families"
"""The entry points of other packages' families, each a `core.families.registry.CoreFamily`."""
_golds: dict[str, type[Gold] | None] = dict.fromkeys(SHIPPED)
_adapter: TypeAdapter[Gold] | None = None


def _all() -> dict[str, type[Gold] | None]:
    """The classes of gold by family, None for those that are not imported yet; those of other packages come last."""
    for name in registered(GROUP):
        _golds.setdefault(name, None)
    return _golds


def _known(name: str) -> str:
    if name not in _golds and name not in _all():
        *names, last = map(repr, _golds)
        expected = f"{', '.join(names)} or {last}" if names else last
        raise PydanticKnownError("literal_error", {"expected": expected})
    return name


Family = Annotated[str, AfterValidator(_known)]
"""The name of a family as in a task's file, such as `graph`. As a field of a model it must be a registered one."""


class Gold(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The gold answer of a task. A family's own class says `family: Literal["its name"] = "its name"`."""

    family: Family

    @property
    @abstractmethod
    def items(self) -> Sequence[object]:
        """The elements of the gold: triples, rows, checkpoints or facts."""

    @property
    @abstractmethod
    def field(self) -> str:
        """The name of the field that holds `items`, such as `triples`."""

    @property
    @abstractmethod
    def lines(self) -> tuple[str, ...]:
        """Each of `items` as one line of text."""

    @property
    @abstractmethod
    def answers(self) -> tuple[str, ...]:
        """The final answer and its aliases; empty for families whose answer is all of `items`."""

    @property
    @abstractmethod
    def things(self) -> tuple[tuple[str, ...], ...]:
        """The entities and values in it, each with all its names, which the user part must not give away."""

    @property
    @abstractmethod
    def opens_with(self) -> str:
        """What the user says first instead of the task's query; empty where that is the query."""

    @abstractmethod
    def problem(self, stages: int) -> str:
        """Why it does not fit a persona with `stages` stages (0: no persona), as `place: reason`; empty if it does."""

    def citations(self) -> tuple[tuple[str, ...], ...]:
        """For each of `items` the pages that it names as its sources, if its kind can name any."""
        return tuple(tuple(getattr(item, "sources", ())) for item in self.items)


G = TypeVar("G", bound=Gold)


class _Families(Sequence[Family]):
    """The names of all registered families, in the order of registration; a live view."""

    @overload
    def __getitem__(self, index: int) -> Family: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Family, ...]: ...
    def __getitem__(self, index: int | slice) -> Family | tuple[Family, ...]:
        return tuple(_all())[index]

    def __len__(self) -> int:
        return len(_all())

    def __contains__(self, name: object) -> bool:
        return name in _golds or name in _all()


FAMILIES: Sequence[Family] = _Families()


def register_gold(kind: type[Gold]) -> Family:
    """Register a class of gold; returns the name of its family. Raises `ValueError` if the class names none, or one that
    another class has.
    """
    global _adapter
    name = kind.model_fields["family"].default
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{kind.__name__}.family must have the family's name as its default")
    if name in _golds and gold_class(name) is not kind:
        raise ValueError(f"there is a family {name!r} already")
    _golds[name] = kind
    _adapter = None
    return name


def forget_gold(name: Family) -> None:
    """Unregister a family. Its tasks in memory stay as they are."""
    global _adapter
    del _golds[name]
    _adapter = None


def _problem(found: object) -> str:
    fits = isinstance(getattr(found, "gold", None), type)
    wanted = "cuecard.core.families.registry:CoreFamily"
    return "" if fits else _("it must be of the class {name}").format(name=wanted)


def gold_class(name: Family) -> type[Gold]:
    """The class of a family's gold. Raises `KeyError` for an unknown family, `PluginError` for one of another package that
    cannot be loaded.
    """
    global _adapter
    kind = (_golds if name in _golds else _all())[name]
    if kind is None:
        if name in SHIPPED:
            found = imported(f"cuecard.core.families.{SHIPPED[name]}")
        else:
            found = load(registered(GROUP)[name], _problem).gold
        kind = _golds[name] = cast(type[Gold], found)
        _adapter = None
    return kind


def narrow(gold: Gold, kind: type[G]) -> G:
    """`gold`, typed as `kind`. Raises `TypeError` if it is of another family."""
    if not isinstance(gold, kind):
        raise TypeError(f"a gold answer of the family {gold.family!r} is no {kind.__name__}")
    return gold


def _read(value: object) -> Gold:
    """Gold of the family that `value` names, validated with the errors of a discriminated union."""
    global _adapter
    name = cast(dict[str, object], value).get("family") if isinstance(value, dict) else None
    if isinstance(name, str) and name in FAMILIES:
        gold_class(name)
    if _adapter is None:
        # Without those of other packages that no task needed yet: one that cannot be loaded harms its own tasks only.
        kinds = tuple(gold_class(name) for name, kind in _golds.items() if kind or name in SHIPPED)
        union: Any = Union[kinds]  # noqa: UP007
        tagged = Annotated[union, Field(discriminator="family")] if len(kinds) > 1 else union
        _adapter = TypeAdapter(cast(Any, tagged))
    return _adapter.validate_python(value)


AnyGold = Annotated[SerializeAsAny[Gold], PlainValidator(_read)]
"""The gold of any registered family, as a field of a model."""
