"""Compute result tables from other tables: scores, core, ablations, effective size, claims. Does not import torch."""
