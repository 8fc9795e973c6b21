"""Gold built twice: building the second one from the brief, and deciding between the two."""
