"""Why jobs would run, told to a person."""
