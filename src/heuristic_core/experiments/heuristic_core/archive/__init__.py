"""What of a study goes into its archive, and drawing from an archive again."""
