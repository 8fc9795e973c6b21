"""Everything that is saved and loaded goes through here."""
