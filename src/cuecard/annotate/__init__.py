"""The human work, without a screen."""
