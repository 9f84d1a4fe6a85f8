"""From tables to tables: scores, core, ablations, effective size, claims. No torch."""
