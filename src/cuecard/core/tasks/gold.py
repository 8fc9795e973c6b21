"""What every gold answer can be asked, whatever its family, and the families that there are.

A family is known from the moment its class of gold is registered: `Task.gold` then takes data with its `family`.
What the engine, the authoring tools and the screens know of it are parts of their own; see `core.families.registry`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, TypeVar, Union, cast, overload

from pydantic import AfterValidator, BaseModel, Field, PlainValidator, SerializeAsAny, TypeAdapter
from pydantic_core import PydanticKnownError

_shipped = {
    "graph": "graph.gold:Graph",
    "table": "table.gold:Table",
    "checkpoints": "checkpoints.gold:CheckpointChain",
    "facts": "facts.gold:FactWorld",
}
"""Where the gold of our own families is, below `core.families`: loaded when it is asked for."""
_golds: dict[str, type[Gold] | None] = dict.fromkeys(_shipped)
_adapter: TypeAdapter[Gold] | None = None


def _known(name: str) -> str:
    if name not in _golds:
        *names, last = map(repr, _golds)
        expected = f"{', '.join(names)} or {last}" if names else last
        raise PydanticKnownError("literal_error", {"expected": expected})
    return name


Family = Annotated[str, AfterValidator(_known)]
"""The name of a family, as it stands in a task's file: `graph`. In a model's field, that of a known one."""


class Gold(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The gold answer of a task. A family's own class says `family: Literal["its name"] = "its name"`."""

    family: Family

    @property
    @abstractmethod
    def items(self) -> Sequence[object]:
        """What the gold is made of: triples, rows, checkpoints, facts."""

    @property
    @abstractmethod
    def field(self) -> str:
        """The field in which `items` stand: `triples`."""

    @property
    @abstractmethod
    def lines(self) -> tuple[str, ...]:
        """One line for people for each of `items`."""

    @property
    @abstractmethod
    def answers(self) -> tuple[str, ...]:
        """The final answer and its aliases; empty where all of `items` are the answer."""

    @property
    @abstractmethod
    def things(self) -> tuple[tuple[str, ...], ...]:
        """The entities and values in it, each with all its names: what the user part must not give away."""

    @property
    @abstractmethod
    def opens_with(self) -> str:
        """What the user says first instead of the task's query; empty where that is the query."""

    @abstractmethod
    def problem(self, stages: int) -> str:
        """Why it does not go with a persona of so many stages (0: no persona), as `place: reason`; empty if it does."""

    def citations(self) -> tuple[tuple[str, ...], ...]:
        """The pages that each of `items` names as its sources; of items that cannot have any, none."""
        return tuple(tuple(getattr(item, "sources", ())) for item in self.items)


G = TypeVar("G", bound=Gold)


class _Families(Sequence[Family]):
    """The names of all families, in the order in which they were registered. It grows with them."""

    @overload
    def __getitem__(self, index: int) -> Family: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Family, ...]: ...
    def __getitem__(self, index: int | slice) -> Family | tuple[Family, ...]:
        return tuple(_golds)[index]

    def __len__(self) -> int:
        return len(_golds)

    def __contains__(self, name: object) -> bool:
        return name in _golds


FAMILIES: Sequence[Family] = _Families()


def register_gold(kind: type[Gold]) -> Family:
    """Make a class of gold known, and give the name of its family. Raises `ValueError` where the class names none, or
    one that another class has.
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
    """Take a family away again. Tasks of it that are in memory stay as they are."""
    global _adapter
    del _golds[name]
    _adapter = None


def gold_class(name: Family) -> type[Gold]:
    """Raises `KeyError` where there is no such family."""
    kind = _golds[name]
    if kind is None:
        module, _colon, attribute = _shipped[name].partition(":")
        kind = cast(
            type[Gold], getattr(import_module(f"cuecard.core.families.{module}"), attribute)
        )
        _golds[name] = kind
    return kind


def narrow(gold: Gold, kind: type[G]) -> G:
    """`gold` as what it is known to be. Raises `TypeError` where it is of another family."""
    if not isinstance(gold, kind):
        raise TypeError(f"a gold answer of the family {gold.family!r} is no {kind.__name__}")
    return gold


def _read(value: object) -> Gold:
    """Gold of whichever family `value` names; as strict, and as helpful, as a union that lists them all."""
    global _adapter
    if _adapter is None:
        kinds = tuple(map(gold_class, FAMILIES))
        union: Any = Union[kinds]  # noqa: UP007
        tagged = Annotated[union, Field(discriminator="family")] if len(kinds) > 1 else union
        _adapter = TypeAdapter(cast(Any, tagged))
    return _adapter.validate_python(value)


AnyGold = Annotated[SerializeAsAny[Gold], PlainValidator(_read)]
"""The gold of any registered family, as a field of a model."""
