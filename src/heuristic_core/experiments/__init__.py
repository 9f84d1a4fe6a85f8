"""Experiments, one package each."""
