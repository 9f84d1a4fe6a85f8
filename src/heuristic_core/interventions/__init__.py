"""Evaluation: the predictions of a model and of its subnetworks, and what its heads attend to."""
