"""From tables to tables: accuracies, effective size, the core, ablations and findings. No torch."""
