"""The command line, one verb a module. Loads no screen."""
