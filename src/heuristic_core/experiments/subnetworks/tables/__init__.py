"""The schemas of the experiment's tables."""
