"""The archive of a study: its members, reading it, and drawing from it."""
