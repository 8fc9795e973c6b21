"""The domain: tasks, personas and the four kinds of gold."""
