"""Agreement statistics over columns of decisions on the same items. Pure: no store, no screen."""
