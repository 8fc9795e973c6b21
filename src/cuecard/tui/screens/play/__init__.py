"""The Play screen, where a person plays the user of a live trial."""
