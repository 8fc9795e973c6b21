"""One PostgreSQL database on which everybody is connected by a role of their own."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from sqlalchemy import make_url

from cuecard.store.workspace import Workspace
from postgres_server import Databases


@dataclass
class OwnRoles:
    """`owner`: the workspace as the superuser who made it; `roles`: the role of each person."""

    url: str
    owner: Workspace
    roles: dict[str, str]
    opened: dict[str, Workspace] = field(default_factory=dict[str, Workspace])

    def address(self, person: str) -> str:
        url = make_url(self.url).set(username=self.roles[person])
        return url.render_as_string(hide_password=False)

    def at(self, person: str) -> Workspace:
        if person not in self.opened:
            self.opened[person] = Workspace.open(self.address(person))
        return self.opened[person]

    def meet(self) -> None:
        pass

    def psql(self, person: str) -> psycopg.Connection:
        """A bare connection, each statement a transaction."""
        address = self.address(person).replace("postgresql+psycopg", "postgresql")
        return psycopg.connect(address, autocommit=True)


@contextmanager
def own_roles(
    databases: Databases, people: Sequence[str], coordinators: Collection[str] = ()
) -> Generator[OwnRoles]:
    """A fresh workspace in which each of these people has a role."""
    prefix = f"r{uuid.uuid4().hex[:12]}"
    roles = {person: f"{prefix}_{index}" for index, person in enumerate(people)}
    try:
        with databases.workspace() as url, Workspace.open(url) as owner:
            stage = OwnRoles(url, owner, roles)
            try:
                for person, role in roles.items():
                    owner.roles.add(person, role, coordinator=person in coordinators, create=True)
                yield stage
            finally:
                for each in stage.opened.values():
                    each.close()
    finally:
        for role in roles.values():
            databases.run(f'DROP ROLE IF EXISTS "{role}"')
