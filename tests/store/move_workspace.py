"""Moves a workspace, and tells on a line each how far it is: `python move_workspace.py SOURCE TARGET`."""

import sys

from cuecard.store.workspace import Workspace, database_at


def told(what: str, done: int, of: int) -> None:
    print(what, done, of, flush=True)


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with Workspace.open(source, create=False) as workspace:
        database = database_at(target, create=True)
        workspace.copies.move(database, told)
        database.close()
