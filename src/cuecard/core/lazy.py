"""Objects that are imported on first use, named by references such as "cuecard.core.formats.rdf:TURTLE"."""

from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

Thing = TypeVar("Thing")


@cache
def imported(reference: str) -> Any:
    """The object with the reference "package.module:name". Raises `ImportError`, `AttributeError`."""
    return resolve_name(reference)


class LazyTable(Mapping[str, Thing], Generic[Thing]):
    """Objects by name, each imported on first access; names, order and length are known without importing.

    >>> table = LazyTable[Format]({"turtle": "cuecard.core.formats.rdf:TURTLE"})
    >>> list(table)  # imports nothing
    ['turtle']
    """

    def __init__(self, references: Mapping[str, str]) -> None:
        self._references = dict(references)

    def __getitem__(self, name: str) -> Thing:
        return imported(self._references[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._references)

    def __len__(self) -> int:
        return len(self._references)

    def __contains__(self, name: object) -> bool:
        return name in self._references
