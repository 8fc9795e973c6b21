"""The domain and the engine: knows no database and no screen."""
