"""Figures of judged trials, kept so that they are counted once. Derived: losing them loses nothing."""

from __future__ import annotations

from collections.abc import Iterable

from sqlmodel import col, select

from cuecard.store.engine import Database
from cuecard.store.result_records import KeptFigures
from cuecard.store.tables import TrialFiguresRow, TrialRow, metadata
from cuecard.store.upsert import insert_of


class Figures:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of_run(self, run_id: int, language: str) -> dict[int, KeptFigures]:
        """By the judgement's id, those that are kept."""
        query = (
            select(TrialFiguresRow)
            .join(TrialRow, col(TrialRow.id) == TrialFiguresRow.trial_id)
            .where(TrialRow.run_id == run_id, TrialFiguresRow.language == language)
        )
        with self._database.read() as session:
            return {
                row.judgement_id: KeptFigures(
                    judgement_id=row.judgement_id,
                    trial_id=row.trial_id,
                    stamp=row.stamp,
                    body=row.body,
                )
                for row in session.exec(query)
            }

    def keep(
        self, figures: Iterable[KeptFigures], language: str, *, patience: float | None = None
    ) -> None:
        """Keep these, in place of what was kept for the same judgements. `patience`: see `Database.write`."""
        rows = [{**each.model_dump(), "language": language} for each in figures]
        if not rows:
            return
        with self._database.write(patience=patience) as session:
            connection = session.connection()
            add = insert_of(connection.dialect.name, metadata.tables["trialfigures"])
            new = {"stamp": add.excluded.stamp, "body": add.excluded.body}
            connection.execute(
                add.on_conflict_do_update(index_elements=["judgement_id", "language"], set_=new),
                rows,
            )
