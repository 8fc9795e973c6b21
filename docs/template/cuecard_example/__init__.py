"""Parts for Cuecard; `pyproject.toml` says under which names it finds them."""
