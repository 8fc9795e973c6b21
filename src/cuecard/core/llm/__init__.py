"""The one way to call a model."""
