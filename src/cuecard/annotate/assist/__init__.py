"""Help from a model: what it drafts is a proposal, and an author accepts or rejects each item of it."""
