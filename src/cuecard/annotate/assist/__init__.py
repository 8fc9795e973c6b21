"""Drafts by a model: each is a proposal of which the author accepts or rejects every item."""
