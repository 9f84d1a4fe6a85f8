"""Check results against their records and the configuration, and recompute a sample of them."""
