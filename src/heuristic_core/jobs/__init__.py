"""Jobs of the workflow: command lines, unfinished work, environment, and messages on failures."""
