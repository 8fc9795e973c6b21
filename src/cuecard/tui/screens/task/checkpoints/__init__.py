"""The tab of a checkpoint chain's steps."""
