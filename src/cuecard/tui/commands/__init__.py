"""The command line, one verb in each module. Imports no Textual."""
