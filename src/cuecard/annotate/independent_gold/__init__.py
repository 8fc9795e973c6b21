"""Gold built twice: a second annotator builds it from the brief alone, both are compared, and people decide."""
