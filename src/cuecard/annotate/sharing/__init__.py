"""Exchange between workspaces: bundle files of what one person did, and merging them."""
