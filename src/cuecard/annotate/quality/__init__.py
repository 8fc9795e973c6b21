"""Quality control of single revisions, and the datasheet of a whole workspace."""
