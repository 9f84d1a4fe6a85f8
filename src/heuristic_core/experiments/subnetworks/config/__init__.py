"""Configuration of a study, read and checked before anything runs."""

from heuristic_core.experiments.subnetworks.config.study import Study, load_study, parse_study

__all__ = ["Study", "load_study", "parse_study"]
