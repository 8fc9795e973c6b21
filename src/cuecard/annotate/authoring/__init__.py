"""Writing a task: an edit with its history, operations on it, drafts and revisions."""
