"""Quality control: eight stages over one revision, and a decision table that a person answers."""
