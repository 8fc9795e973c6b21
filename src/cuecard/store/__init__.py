"""The database of a workspace: tables, migrations, and the `Workspace` through which everything is saved."""
