"""Alembic's entry: runs migrations on the connection that `store.schema.upgrade` hands over."""

from alembic import context

from cuecard.store.task_tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite cannot alter most things in place; Alembic then rebuilds the table.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
