"""Pruning: hard-concrete gates, what learns them, and the subnetworks that are found."""
