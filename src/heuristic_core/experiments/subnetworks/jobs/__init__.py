"""What scripts of this experiment share."""
