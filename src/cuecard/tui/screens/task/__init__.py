"""The editor of one task: a tab for each part of it, over one `TaskEdit`."""
