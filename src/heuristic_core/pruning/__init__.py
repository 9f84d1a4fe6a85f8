"""Pruning: hard-concrete gates, how they are learned, and the resulting subnetworks."""
