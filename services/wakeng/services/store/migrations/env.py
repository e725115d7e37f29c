"""Where Alembic begins: the steps run on the connection that wakeng.services.store.schema hands it."""

from alembic import context

from wakeng.services.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite can undo tables as well as rows, once nothing commits behind our back (see database.py).
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
