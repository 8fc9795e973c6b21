"""The contents and the state of screens as plain Python without widgets, so that they can be tested without a screen."""
