"""Whether results are what their records say, what the configuration asks for, and what computing them again gives."""
